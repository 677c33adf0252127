cudnn_ci_unit_test(exec_worker_test SOURCES exec_worker_test.cc LINK cci_exec)
cudnn_ci_unit_test(exec_rules_test SOURCES exec_rules_test.cc LINK cci_exec)
cudnn_ci_unit_test(exec_wire_test SOURCES exec_wire_test.cc LINK cci_wire)
