cudnn_ci_unit_test(base_test SOURCES base_test.cc LINK cci_base)
cudnn_ci_unit_test(matrix_test SOURCES matrix_test.cc matrix_extends_test.cc LINK cci_model)
cudnn_ci_unit_test(plan_test SOURCES plan_test.cc plan_selection_test.cc LINK cci_model)
target_compile_definitions(matrix_test PRIVATE CUDNN_CI_MATRICES="${PROJECT_SOURCE_DIR}/matrices")
