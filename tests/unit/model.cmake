cudnn_ci_unit_test(base_test SOURCES base_test.cc base_file_test.cc secrets_test.cc word_finder_test.cc LINK cci_base)
cudnn_ci_unit_test(model_test SOURCES
  matrix_test.cc matrix_subjects_test.cc matrix_extends_test.cc matrix_builtin_test.cc image_identity_test.cc
  compatibility_test.cc cards_test.cc table_test.cc inventory_test.cc auto_matrix_test.cc kernel_packages_test.cc
  notice_test.cc crash_test.cc catalog_rules_test.cc covering_array_test.cc plan_cover_test.cc plan_test.cc
  plan_promises_test.cc plan_selection_test.cc plan_validate_test.cc
  LINK cci_model)
target_compile_definitions(model_test PRIVATE CUDNN_CI_MATRICES="${PROJECT_SOURCE_DIR}/matrices")
cudnn_ci_compile_apart(compatibility_test.cc kernel_packages_test.cc matrix_subjects_test.cc matrix_test.cc plan_promises_test.cc)
cudnn_ci_unit_test(knowledge_test SOURCES knowledge_test.cc LINK CudnnCi::sdk cci_model cudnn_ci_shipped_knowledge)
target_compile_definitions(knowledge_test PRIVATE CUDNN_CI_FUZZ_SEEDS="${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/knowledge")
