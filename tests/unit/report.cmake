cudnn_ci_unit_test(summary_test SOURCES summary_test.cc verdict_test.cc LINK cci_model)
