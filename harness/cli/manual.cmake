# cmake -DPROGRAM=cudnn-ci -DFORMAT=man|bash -DFILE=... -P: what the program makes of its options, in a file.
execute_process(COMMAND ${PROGRAM} manual ${FORMAT} OUTPUT_FILE ${FILE}.new RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} manual ${FORMAT} ended with ${status}")
endif()
file(RENAME ${FILE}.new ${FILE})
