# The environment plugins, against fake drivers, the real toolkit of this machine, and damaged copies of
# its cuDNN.
if(NOT TARGET fake_libcuda)
  add_subdirectory(${PROJECT_SOURCE_DIR}/tests/fakes ${PROJECT_BINARY_DIR}/tests/fakes)
endif()

# For every test of a plugin: runs a check in the test's own process.
add_library(cudnn_ci_plugin_host STATIC plugin_host.cc)
target_include_directories(cudnn_ci_plugin_host PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(cudnn_ci_plugin_host PUBLIC CudnnCi::sdk ${CMAKE_DL_LIBS})
cudnn_ci_configure(cudnn_ci_plugin_host)

add_executable(plugin_runner plugin_runner.cc)
target_link_libraries(plugin_runner PRIVATE cudnn_ci_plugin_host)
cudnn_ci_configure(plugin_runner)

cudnn_ci_unit_test(plugin_common_test SOURCES plugin_common_test.cc LINK cudnn_ci_plugin_common)
cudnn_ci_unit_test(plugins_test SOURCES plugins_test.cc plugins_image_test.cc LINK cudnn_ci_plugin_host)
add_dependencies(plugins_test plugin_runner driver_plugin toolkit_plugin cudnn_plugin fake_libcuda fake_nvml)
target_compile_definitions(plugins_test PRIVATE
  PLUGIN_DIR="${CUDNN_CI_STAGE}/plugins"
  PLUGIN_RUNNER="$<TARGET_FILE:plugin_runner>"
  FAKES_DIR="${PROJECT_BINARY_DIR}/fakes"
  CUDA_LIBRARY_DIR="${CUDNN_CI_CUDA_INCLUDE_DIR}/../lib64")
