# The worker alone, spoken to over its socket.
cudnn_ci_unit_test(worker_test SOURCES worker_test.cc worker_client.cc LINK cci_wire)
string(COMPARE NOTEQUAL "${CUDNN_CI_SANITIZE}" "" sanitized)
target_compile_definitions(worker_test PRIVATE CUDNN_CI_SANITIZED=${sanitized}
  CUDNN_CI_WORKER="${CUDNN_CI_STAGE}/libexec/cudnn-ci-worker" CUDNN_CI_FIXTURES="${PROJECT_BINARY_DIR}/fixtures")
add_dependencies(worker_test cudnn-ci-worker fixture_plugins)
