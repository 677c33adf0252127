# cmake -DPROGRAM=cudnn-ci -DFILE=... -P: the manual page that the program makes of its options, in a file.
execute_process(COMMAND ${PROGRAM} manual man OUTPUT_FILE ${FILE}.new RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} manual man ended with ${status}")
endif()
file(RENAME ${FILE}.new ${FILE})
