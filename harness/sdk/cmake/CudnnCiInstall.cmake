# The installed tree, relocatable as a whole:
#   bin/cudnn-ci  libexec/cudnn-ci-worker  plugins/*.cci.so  matrices/  include/cudnn_ci/  lib/cmake/CudnnCi/  share/doc/
# Included last by the root file, when every target exists.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

# The MODULE libraries made in a directory and below it.
function(cudnn_ci_modules_below directory result)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(children DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  set(modules)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL MODULE_LIBRARY)
      list(APPEND modules ${target})
    endif()
  endforeach()
  foreach(child IN LISTS children)
    cudnn_ci_modules_below(${child} more)
    list(APPEND modules ${more})
  endforeach()
  set(${result} ${modules} PARENT_SCOPE)
endfunction()

if(TARGET cudnn-ci)
  install(TARGETS cudnn-ci RUNTIME DESTINATION bin)
endif()
if(TARGET cudnn-ci-worker)
  install(TARGETS cudnn-ci-worker RUNTIME DESTINATION libexec)
endif()
cudnn_ci_modules_below(${PROJECT_SOURCE_DIR}/plugins modules)
if(modules)
  install(TARGETS ${modules} LIBRARY DESTINATION plugins)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/matrices/ DESTINATION matrices OPTIONAL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/harness/DESIGN.md
  DESTINATION share/doc/cudnn-ci OPTIONAL)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/harness/sdk/include/cudnn_ci DESTINATION include)
configure_package_config_file(${PROJECT_SOURCE_DIR}/harness/sdk/cmake/CudnnCiConfig.cmake.in
  ${PROJECT_BINARY_DIR}/CudnnCiConfig.cmake INSTALL_DESTINATION lib/cmake/CudnnCi)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/CudnnCiConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/CudnnCiConfig.cmake ${PROJECT_BINARY_DIR}/CudnnCiConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/harness/sdk/cmake/CudnnCiPlugin.cmake ${PROJECT_SOURCE_DIR}/harness/sdk/cmake/plugin.map
  DESTINATION lib/cmake/CudnnCi)
