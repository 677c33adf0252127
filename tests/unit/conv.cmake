# The library for plugins that compute numbers, and the convolution plugin's oracle. The checks are tested through the
# real program (tests/integration/shipped_*).
cudnn_ci_unit_test(numeric_test SOURCES numeric_data_type_test.cc numeric_parallel_test.cc numeric_repeat_test.cc
  LINK cudnn_ci_plugin_numeric)
cudnn_ci_unit_test(conv_test SOURCES conv_reference_test.cc conv_recipe_test.cc conv_oracle_test.cc
  conv_fault_test.cc conv_shortness_test.cc
  conv_known_shapes_test.cc conv_refusals_test.cc conv_random_draw_test.cc compute_kernel_class_test.cc conv_normal_test.cc conv_epilogue_test.cc
  conv_covering_test.cc
  LINK cudnn_ci_conv_oracle nlohmann_json::nlohmann_json COMPUTES)
target_compile_definitions(conv_test PRIVATE CUDNN_CI_MATRICES="${PROJECT_SOURCE_DIR}/matrices")
cudnn_ci_unit_test(conv_engines_test SOURCES conv_engines_test.cc ${PROJECT_SOURCE_DIR}/plugins/conv/graph/engines.cc
  LINK cudnn_ci_conv_oracle cudnn_ci_compute)
cudnn_ci_unit_test(compute_test SOURCES compute_judge_elements_test.cc compute_second_opinion_test.cc compute_refusal_summary_test.cc
  LINK cudnn_ci_compute)
cudnn_ci_unit_test(gemm_test SOURCES gemm_census_test.cc gemm_fault_test.cc gemm_grouped_test.cc
  LINK cudnn_ci_gemm_oracle nlohmann_json::nlohmann_json COMPUTES)
target_compile_definitions(gemm_test PRIVATE CUDNN_CI_MATRICES="${PROJECT_SOURCE_DIR}/matrices")
cudnn_ci_unit_test(nccl_test SOURCES nccl_fault_test.cc nccl_nodes_test.cc
  ${PROJECT_SOURCE_DIR}/tests/fakes/fake_nccl_faults.cc
  LINK cudnn_ci_nccl_oracle COMPUTES)
target_include_directories(nccl_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/fakes)
set(fake_driver LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/fakes/libcuda)
foreach(test compute_case_test device_buffers_test launch_capture_test)
  add_executable(${test} ${test}.cc)
  target_link_libraries(${test} PRIVATE cudnn_ci_compute GTest::gmock GTest::gtest_main)
  cudnn_ci_test_program(${test})
  add_dependencies(${test} fake_libcuda)
  gtest_discover_tests(${test} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS unit TIMEOUT ${CUDNN_CI_TEST_SECONDS} ENVIRONMENT ${fake_driver})
endforeach()
# Every fault of the oracle's tests at 1,000 random places, and the table of them: ctest -C positions -L positions -V
add_test(NAME every_position CONFIGURATIONS positions COMMAND conv_test --gtest_filter=*Anywhere*)
add_test(NAME every_product_position CONFIGURATIONS positions COMMAND gemm_test --gtest_filter=*Anywhere*:*Census*)
add_test(NAME every_collective_position CONFIGURATIONS positions COMMAND nccl_test --gtest_filter=*Anywhere*)
add_test(NAME every_guard_position CONFIGURATIONS positions COMMAND device_buffers_test --gtest_filter=*Anywhere*)
set_tests_properties(every_position every_product_position every_collective_position every_guard_position PROPERTIES LABELS positions TIMEOUT 3600
  ENVIRONMENT "CUDNN_CI_POSITIONS=1000;${fake_driver}")

# The reference against oneDNN, which ci/deps installs: a sample here, 1,000 shapes by ctest -C positions -L positions
# By its files: Debian's CMake package of it asks for OpenCL, too.
find_path(CUDNN_CI_DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(CUDNN_CI_DNNL_LIBRARY dnnl)
if(NOT CUDNN_CI_DNNL_INCLUDE_DIR OR NOT CUDNN_CI_DNNL_LIBRARY)
  message(FATAL_ERROR "The tests compare the convolutions' reference with oneDNN's (dnnl.hpp: ${CUDNN_CI_DNNL_INCLUDE_DIR}, "
    "libdnnl: ${CUDNN_CI_DNNL_LIBRARY}). Run `ci/deps test`, which installs libdnnl-dev, or build without tests: "
    "-DCUDNN_CI_BUILD_TESTS=OFF.")
endif()
cudnn_ci_unit_test(conv_onednn_test SOURCES conv_onednn_test.cc LINK cudnn_ci_conv_oracle ${CUDNN_CI_DNNL_LIBRARY})
target_include_directories(conv_onednn_test SYSTEM PRIVATE ${CUDNN_CI_DNNL_INCLUDE_DIR})
add_test(NAME every_shape CONFIGURATIONS positions COMMAND conv_onednn_test)
set_tests_properties(every_shape PROPERTIES LABELS positions TIMEOUT 3600 ENVIRONMENT CUDNN_CI_SHAPES=1000)
cudnn_ci_unit_test(attention_test SOURCES attention_data_test.cc attention_bias_test.cc attention_census_test.cc attention_fault_test.cc attention_known_test.cc attention_layout_test.cc attention_normal_test.cc attention_pages_test.cc attention_scaled_test.cc
  precomputed_reference_test.cc
  LINK cudnn_ci_attention_oracle cudnn_ci_plugin_common nlohmann_json::nlohmann_json COMPUTES)
target_compile_definitions(attention_test PRIVATE CUDNN_CI_MATRICES="${PROJECT_SOURCE_DIR}/matrices")
add_test(NAME every_attention_position CONFIGURATIONS positions COMMAND attention_test --gtest_filter=*Anywhere*:*Census*)
set_tests_properties(every_attention_position PROPERTIES LABELS positions TIMEOUT 3600 ENVIRONMENT CUDNN_CI_POSITIONS=1000)
