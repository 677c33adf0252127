# The convolution plugin: its oracle alone, and all of it against a driver and a cuDNN made for the test.
cudnn_ci_unit_test(conv_test SOURCES conv_test.cc conv_numeric_test.cc LINK cudnn_ci_conv_oracle)

# Linked by soname, so that what the plugin opens by name is already there.
function(cudnn_ci_conv_fake name soname source)
  add_library(${name} SHARED ${source})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${soname} PREFIX lib SOVERSION ${ARGV3}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/conv_fakes)
  target_link_libraries(${name} PRIVATE cudnn_ci_cuda_headers)
  target_compile_options(${name} PRIVATE -Wno-deprecated-declarations)
endfunction()
cudnn_ci_conv_fake(conv_fake_driver cuda conv_fake_driver.cc 1)
cudnn_ci_conv_fake(conv_fake_cudnn cudnn conv_fake_cudnn.cc 9)

if(NOT TARGET cudnn_ci_plugin_host)
  return()
endif()
cudnn_ci_unit_test(conv_forward_test SOURCES conv_forward_test.cc
  LINK cudnn_ci_plugin_host -Wl,--no-as-needed conv_fake_driver conv_fake_cudnn)
add_dependencies(conv_forward_test conv_plugin)
target_compile_definitions(conv_forward_test PRIVATE CONV_PLUGIN="$<TARGET_FILE:conv_plugin>")
