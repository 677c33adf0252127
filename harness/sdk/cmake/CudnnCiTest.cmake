# cudnn_ci_add_test(NAME name MATRIX file-or-name [ARGS ...] [LABELS ...] [TIMEOUT seconds] [OUTPUT_DIR dir]) gates against a
# matrix as a test of ctest.
#   NAME        the test's name; default: cudnn-ci.MATRIX, without folder and ".json"
#   MATRIX      a file, seen from the current source folder, or the name of a matrix that comes with cudnn-ci (cu13)
#   ARGS        more arguments of cudnn-ci: --filter, --stage, --subject-image, ...
#   LABELS      more labels beside "cudnn-ci", by which `ctest -L cudnn-ci` finds the test
#   TIMEOUT     seconds until the run ends itself and says how far it came (default: 900)
#   OUTPUT_DIR  where the reports go (default: cudnn-ci-report/NAME in the current binary folder)
# The test passes only where cudnn-ci exits with 0; ctest shows the run's summary with --output-on-failure. Tests of cudnn-ci run
# one after another, because each may use every GPU (RESOURCE_LOCK cudnn-ci-gpus; give it to your own tests that use one).
# CUDNN_CI_EXECUTABLE is the program: that of this package, if nothing is set.
include_guard(GLOBAL)
get_filename_component(cudnn_ci_prefix ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
set(CUDNN_CI_EXECUTABLE ${cudnn_ci_prefix}/bin/cudnn-ci CACHE FILEPATH "the program that cudnn_ci_add_test() runs")
unset(cudnn_ci_prefix)

function(cudnn_ci_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;MATRIX;TIMEOUT;OUTPUT_DIR" "ARGS;LABELS")
  if(ARG_UNPARSED_ARGUMENTS OR ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "cudnn_ci_add_test: not expected, or without a value: ${ARG_UNPARSED_ARGUMENTS} ${ARG_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT ARG_MATRIX)
    message(FATAL_ERROR "cudnn_ci_add_test: MATRIX is missing: a file, or the name of a matrix that comes with cudnn-ci")
  endif()
  get_filename_component(stem "${ARG_MATRIX}" NAME_WLE)
  get_filename_component(file "${ARG_MATRIX}" ABSOLUTE)
  # A name has neither a folder nor an ending; everything else is a file, and must be there.
  if(EXISTS ${file})
    set(ARG_MATRIX ${file})
  elseif(ARG_MATRIX MATCHES "[/.]")
    message(FATAL_ERROR "cudnn_ci_add_test: no file ${file}")
  endif()
  if(NOT ARG_NAME)
    set(ARG_NAME cudnn-ci.${stem})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 900)
  endif()
  if(NOT ARG_OUTPUT_DIR)
    set(ARG_OUTPUT_DIR ${CMAKE_CURRENT_BINARY_DIR}/cudnn-ci-report/${ARG_NAME})
  endif()
  # The folder of the reports is made by the run, its parents are not.
  get_filename_component(parent ${ARG_OUTPUT_DIR} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  add_test(NAME ${ARG_NAME} COMMAND ${CUDNN_CI_EXECUTABLE} --matrix ${ARG_MATRIX} --output-dir ${ARG_OUTPUT_DIR}
    --time-limit ${ARG_TIMEOUT} ${ARG_ARGS})
  # ctest's own limit is behind the run's, which leaves complete reports.
  math(EXPR limit "${ARG_TIMEOUT} + 60")
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS "cudnn-ci;${ARG_LABELS}" TIMEOUT ${limit} RESOURCE_LOCK cudnn-ci-gpus)
endfunction()
