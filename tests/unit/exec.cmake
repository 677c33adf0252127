cudnn_ci_unit_test(exec_test SOURCES
  exec_worker_test.cc exec_worker_termination_test.cc exec_pool_test.cc running_clock_test.cc
  exec_bounded_call_test.cc exec_query_test.cc exec_scratch_test.cc exec_proc_test.cc exec_facts_test.cc
  exec_rules_test.cc exec_co_scheduled_test.cc exec_sharing_test.cc exec_second_opinions_test.cc
  exec_slowness_test.cc exec_wire_test.cc exec_memory_test.cc exec_runner_test.cc exec_validate_test.cc
  LINK cci_exec)
target_compile_definitions(exec_test PRIVATE CUDNN_CI_CORPUS="${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/message"
  FIXTURE_PLUGIN="${PROJECT_BINARY_DIR}/fixtures/fixture/fixture.cci.so" WORKER="${CUDNN_CI_STAGE}/libexec/cudnn-ci-worker")
add_dependencies(exec_test cudnn-ci-worker fixture_plugins)
cudnn_ci_compile_apart(exec_slowness_test.cc)
