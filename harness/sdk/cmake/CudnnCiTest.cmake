# cudnn_ci_add_test(NAME name MATRIX file-or-name [ARGS ...] [LABELS ...] [TIMEOUT seconds] [OUTPUT_DIR dir]) gates against a
# matrix as a test of ctest.
#   NAME        the test's name; default: cudnn-ci.MATRIX, without folder and ".json"
#   MATRIX      a file, seen from the current source folder, or the name of a matrix that comes with cudnn-ci (cu13)
#   ARGS        more arguments of cudnn-ci: --filter, --stage, --subject-image, ...
#   LABELS      more labels beside "cudnn-ci", by which `ctest -L cudnn-ci` finds the test
#   TIMEOUT     whole seconds until the run ends itself and says how far it came (default: 900)
#   OUTPUT_DIR  where the reports go, seen from the current binary folder (default: cudnn-ci-report/NAME)
# The test passes only where cudnn-ci exits with 0; ctest shows the run's summary with --output-on-failure. Tests of cudnn-ci run
# one after another, because each may use every GPU (RESOURCE_LOCK cudnn-ci-gpus; give it to your own tests that use one).
# --gating has the program itself refuse what would exit with 0 without a verdict, however it is written.
# CUDNN_CI_EXECUTABLE is the program, if it is set; else that of the package that was found.
include_guard(GLOBAL)
get_filename_component(cudnn_ci_prefix ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
# Afresh with each configuring: another version of the package may be found than before.
if(EXISTS ${cudnn_ci_prefix}/bin/cudnn-ci)
  set(cudnn_ci_program ${cudnn_ci_prefix}/bin/cudnn-ci)
else()
  # The wheel's lies among the scripts of its environment.
  find_program(cudnn_ci_program cudnn-ci NO_CACHE HINTS ${cudnn_ci_prefix}/../../../../../bin)
endif()
set(CUDNN_CI_PACKAGE_EXECUTABLE ${cudnn_ci_program} CACHE INTERNAL "the program of the package that was found")
unset(cudnn_ci_prefix)
unset(cudnn_ci_program)

# Sets ${variable} to what --matrix is given. A name has neither a folder nor an ending; all else is a file, and must be there.
function(cudnn_ci_matrix_of matrix variable)
  get_filename_component(file "${matrix}" ABSOLUTE)
  if(EXISTS "${file}" AND NOT IS_DIRECTORY "${file}")
    set(matrix "${file}")
  elseif(matrix MATCHES "[/.]")
    message(FATAL_ERROR "cudnn_ci_add_test: no file ${file}")
  endif()
  set(${variable} "${matrix}" PARENT_SCOPE)
endfunction()

function(cudnn_ci_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;MATRIX;TIMEOUT;OUTPUT_DIR" "ARGS;LABELS")
  if(ARG_UNPARSED_ARGUMENTS OR ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "cudnn_ci_add_test: not expected, or without a value: ${ARG_UNPARSED_ARGUMENTS} ${ARG_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT ARG_MATRIX)
    message(FATAL_ERROR "cudnn_ci_add_test: MATRIX is missing: a file, or the name of a matrix that comes with cudnn-ci")
  endif()
  get_filename_component(stem "${ARG_MATRIX}" NAME_WLE)
  cudnn_ci_matrix_of("${ARG_MATRIX}" ARG_MATRIX)
  foreach(argument IN LISTS ARG_ARGS)
    if(argument MATCHES "^(--help|-h|--version|--dry-run|--report-only)(=.*)?$")
      message(FATAL_ERROR "cudnn_ci_add_test: ${argument} runs no gate, and its 0 would look like a pass")
    endif()
  endforeach()
  if(NOT ARG_NAME)
    set(ARG_NAME cudnn-ci.${stem})
  endif()
  if(NOT DEFINED ARG_TIMEOUT)
    set(ARG_TIMEOUT 900)
  elseif(NOT ARG_TIMEOUT MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "cudnn_ci_add_test: TIMEOUT ${ARG_TIMEOUT} is no whole number of seconds")
  endif()
  if(NOT ARG_OUTPUT_DIR)
    set(ARG_OUTPUT_DIR cudnn-ci-report/${ARG_NAME})
  endif()
  get_filename_component(output "${ARG_OUTPUT_DIR}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  # The folder of the reports is made by the run, its parents are not.
  get_filename_component(parent "${output}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  set(program "${CUDNN_CI_EXECUTABLE}")
  if(NOT program)
    set(program "${CUDNN_CI_PACKAGE_EXECUTABLE}")
  endif()
  add_test(NAME "${ARG_NAME}" COMMAND "${program}" --gating --matrix "${ARG_MATRIX}" --output-dir "${output}" --time-limit ${ARG_TIMEOUT} ${ARG_ARGS})
  # ctest's own limit is behind the run's, which leaves complete reports.
  math(EXPR limit "${ARG_TIMEOUT} + 60")
  set_tests_properties("${ARG_NAME}" PROPERTIES LABELS "cudnn-ci;${ARG_LABELS}" TIMEOUT ${limit} RESOURCE_LOCK cudnn-ci-gpus)
endfunction()
