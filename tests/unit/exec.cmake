cudnn_ci_unit_test(exec_worker_test SOURCES exec_worker_test.cc LINK cci_exec)
cudnn_ci_unit_test(exec_rules_test SOURCES exec_rules_test.cc LINK cci_exec)
cudnn_ci_unit_test(exec_wire_test SOURCES exec_wire_test.cc LINK cci_wire)
cudnn_ci_unit_test(exec_memory_test SOURCES exec_memory_test.cc LINK cci_exec)
cudnn_ci_unit_test(exec_runner_test SOURCES exec_runner_test.cc LINK cci_exec)
target_compile_definitions(exec_runner_test PRIVATE
  FIXTURE_PLUGIN="${PROJECT_BINARY_DIR}/fixtures/fixture/fixture.cci.so" WORKER="${CUDNN_CI_STAGE}/libexec/cudnn-ci-worker")
add_dependencies(exec_runner_test cudnn-ci-worker fixture_plugins)
