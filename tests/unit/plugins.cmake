# What the plugins share. The plugins themselves are tested through the real program (tests/integration/shipped_*).
cudnn_ci_unit_test(plugin_common_test SOURCES plugin_common_test.cc install_line_test.cc known_regressions_test.cc refusal_cause_test.cc shortage_test.cc LINK cudnn_ci_plugin_common)

# Two libraries that say where what they need lies, in both ways.
foreach(kind runpath rpath)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/nothing.c "int cudnn_ci_nothing;\n")
  add_library(cudnn_ci_${kind} SHARED EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/nothing.c)
  set_target_properties(cudnn_ci_${kind} PROPERTIES BUILD_RPATH "$ORIGIN/../near;\${ORIGIN};/far/away")
  add_dependencies(plugin_common_test cudnn_ci_${kind})
endforeach()
target_link_options(cudnn_ci_runpath PRIVATE -Wl,--enable-new-dtags)
target_link_options(cudnn_ci_rpath PRIVATE -Wl,--disable-new-dtags)
target_compile_definitions(plugin_common_test PRIVATE CUDNN_CI_RUNPATH_FILE="$<TARGET_FILE:cudnn_ci_runpath>"
  CUDNN_CI_RPATH_FILE="$<TARGET_FILE:cudnn_ci_rpath>" CUDNN_CI_FAKE_CUBLASLT="$<TARGET_FILE:fake_cublaslt13>")
add_dependencies(plugin_common_test fake_cublaslt13)
cudnn_ci_unit_test(driver_plugin_test SOURCES driver_plugin_test.cc ${PROJECT_SOURCE_DIR}/plugins/driver/init.cc
  ${PROJECT_SOURCE_DIR}/plugins/driver/requirements.cc ${PROJECT_SOURCE_DIR}/plugins/driver/variables.cc LINK cudnn_ci_plugin_common)

# The cuDNN plugin's readers of folders.
cudnn_ci_unit_test(cudnn_copies_test SOURCES cudnn_copies_test.cc
  ${PROJECT_SOURCE_DIR}/plugins/cudnn/install.cc ${PROJECT_SOURCE_DIR}/plugins/cudnn/metadata.cc
  LINK cudnn_ci_plugin_common)

cudnn_ci_unit_test(cudnn_packages_test SOURCES cudnn_packages_test.cc ${PROJECT_SOURCE_DIR}/plugins/cudnn/metadata.cc
  ${PROJECT_SOURCE_DIR}/plugins/cudnn/install.cc ${PROJECT_SOURCE_DIR}/plugins/cudnn/repair.cc LINK cudnn_ci_plugin_common)
add_dependencies(cudnn_packages_test fake_cudnn fake_cudnn_graph fake_cudnn_ops_old fake_cudnn_graph_opens fake_cudnn8_ops_infer)
target_compile_definitions(cudnn_packages_test PRIVATE CUDNN_CI_FAKES="${PROJECT_BINARY_DIR}/fakes")

# The framework plugin's problem, answers and rules, and what it reads of libraries.
cudnn_ci_unit_test(framework_test SOURCES framework_test.cc framework_decoy_test.cc framework_needs_test.cc
  LINK cudnn_ci_framework_rules nlohmann_json::nlohmann_json)
target_compile_definitions(framework_test PRIVATE CUDNN_CI_FAKES="${PROJECT_BINARY_DIR}/fakes")
add_dependencies(framework_test fake_cublas99 fake_cudnn99 fake_provider_plain fake_provider_runpath fake_provider_rpath
  fake_ctranslate2)

# What the files of an image say of it.
cudnn_ci_unit_test(image_files_test SOURCES image_files_test.cc LINK cudnn_ci_image_files)
cudnn_ci_unit_test(device_code_test SOURCES device_code_test.cc device_code_judgement_test.cc LINK cudnn_ci_device_code nlohmann_json::nlohmann_json)
cudnn_ci_unit_test(image_known_faults_test SOURCES image_known_faults_test.cc LINK cudnn_ci_image_files cudnn_ci_shipped_knowledge)
cudnn_ci_unit_test(image_jit_tools_test SOURCES image_jit_tools_test.cc LINK cudnn_ci_image_files cudnn_ci_shipped_knowledge)
cudnn_ci_unit_test(symbols_unit_test SOURCES device_code_uses_test.cc package_files_test.cc symbols_cures_test.cc symbols_judge_test.cc symbols_later_test.cc symbols_openers_test.cc symbols_remedies_test.cc
  LINK cudnn_ci_device_code cudnn_ci_shipped_knowledge)
cudnn_ci_unit_test(knowledge_rules_test SOURCES knowledge_rules_test.cc LINK cudnn_ci_image_files cudnn_ci_shipped_knowledge)

# The kernels plugin's problems and their judge.
cudnn_ci_unit_test(kernels_test SOURCES kernels_test.cc kernel_processes_test.cc LINK cudnn_ci_kernels_rules nlohmann_json::nlohmann_json)
target_compile_definitions(kernels_test PRIVATE CUDNN_CI_BOOKS="${PROJECT_SOURCE_DIR}/harness/docs")
