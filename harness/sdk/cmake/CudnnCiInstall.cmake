# The installed tree, relocatable as a whole:
#   bin/cudnn-ci  bin/cudnn-ci-run  libexec/cudnn-ci-worker  libexec/cudnn-ci-plant.so  plugins/*.cci.so  matrices/  knowledge/
#   include/cudnn_ci/  lib/cmake/CudnnCi/  share/doc/  share/man/
# Executables and plugins are installed by the folders that build them; this is the rest.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/matrices/ DESTINATION matrices OPTIONAL PATTERN README.md EXCLUDE)
install(DIRECTORY knowledge/ DESTINATION knowledge PATTERN README.md EXCLUDE)
install(PROGRAMS ci/cudnn-ci-run DESTINATION bin)
install(PROGRAMS ci/present.py DESTINATION libexec RENAME cudnn-ci-present)
install(DIRECTORY ci/kubernetes ci/github ci/gitlab ci/slurm ci/examples DESTINATION share/doc/cudnn-ci/ci)
install(DIRECTORY plugins/examples DESTINATION share/doc/cudnn-ci)
# Documents keep the places that they have in the source, so that their links hold.
install(DIRECTORY harness/docs DESTINATION share/doc/cudnn-ci/harness PATTERN installed.md EXCLUDE)
# To which harness/docs/algorithms.md links.
install(DIRECTORY tests/gpu/choices DESTINATION share/doc/cudnn-ci/tests/gpu)
install(FILES harness/DESIGN.md DESTINATION share/doc/cudnn-ci/harness)
install(FILES matrices/README.md matrices/matrix.schema.json DESTINATION share/doc/cudnn-ci/matrices)
install(FILES knowledge/README.md DESTINATION share/doc/cudnn-ci/knowledge)
install(DIRECTORY harness/sdk/include DESTINATION share/doc/cudnn-ci/harness/sdk)
install(FILES LICENSE THIRD_PARTY_NOTICES README.md CHANGELOG.md SECURITY.md CONTRIBUTING.md DESTINATION share/doc/cudnn-ci)
install(FILES harness/docs/installed.md DESTINATION . RENAME README.md)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/harness/sdk/include/cudnn_ci DESTINATION include)
configure_package_config_file(${PROJECT_SOURCE_DIR}/harness/sdk/cmake/CudnnCiConfig.cmake.in
  ${PROJECT_BINARY_DIR}/CudnnCiConfig.cmake INSTALL_DESTINATION lib/cmake/CudnnCi)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/CudnnCiConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/CudnnCiConfig.cmake ${PROJECT_BINARY_DIR}/CudnnCiConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/harness/sdk/cmake/CudnnCiPlugin.cmake ${PROJECT_SOURCE_DIR}/harness/sdk/cmake/CudnnCiTest.cmake
  ${PROJECT_SOURCE_DIR}/harness/sdk/cmake/plugin.map
  DESTINATION lib/cmake/CudnnCi)
