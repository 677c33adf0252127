# The worker alone, spoken to over its socket.
cudnn_ci_unit_test(worker_test SOURCES worker_test.cc worker_client.cc LINK cci_wire)
string(COMPARE NOTEQUAL "${CUDNN_CI_SANITIZE}" "" sanitized)
target_compile_definitions(worker_test PRIVATE CUDNN_CI_SANITIZED=${sanitized}
  CUDNN_CI_WORKER="${CUDNN_CI_STAGE}/libexec/cudnn-ci-worker" CUDNN_CI_FIXTURES="${PROJECT_BINARY_DIR}/fixtures")
add_dependencies(worker_test cudnn-ci-worker fixture_plugins)

cudnn_ci_unit_test(shipped_checks_test SOURCES shipped_checks_test.cc worker_client.cc LINK cci_wire)
target_compile_definitions(shipped_checks_test PRIVATE CUDNN_CI_STAGE_PLUGINS="${CUDNN_CI_STAGE}/plugins"
  CUDNN_CI_WORKER="${CUDNN_CI_STAGE}/libexec/cudnn-ci-worker")
add_dependencies(shipped_checks_test cudnn-ci-worker conv_plugin framework_plugin)

cudnn_ci_unit_test(crash_maps_test SOURCES crash_maps_test.cc LINK cci_worker)
cudnn_ci_unit_test(skip_words_test SOURCES skip_words_test.cc LINK cci_worker)

# One source as driver and as runtime: which it is, the name it is loaded by decides.
foreach(library "cuda 1" "cudart 14")
  separate_arguments(library)
  list(GET library 0 name)
  list(GET library 1 version)
  add_library(fake_contexts_${name} SHARED fake_contexts.c)
  set_target_properties(fake_contexts_${name} PROPERTIES OUTPUT_NAME ${name} SOVERSION ${version}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fakes/contexts)
endforeach()
cudnn_ci_unit_test(worker_context_test SOURCES worker_context_test.cc worker_client.cc LINK cci_wire)
target_compile_definitions(worker_context_test PRIVATE CUDNN_CI_FAKE_CONTEXTS="${PROJECT_BINARY_DIR}/fakes/contexts"
  CUDNN_CI_WORKER="${CUDNN_CI_STAGE}/libexec/cudnn-ci-worker" CUDNN_CI_FIXTURES="${PROJECT_BINARY_DIR}/fixtures")
add_dependencies(worker_context_test cudnn-ci-worker fixture_plugins fake_contexts_cuda fake_contexts_cudart)
