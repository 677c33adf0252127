# From a subject's name to folders of libraries, on made-up trees.
cudnn_ci_unit_test(subject_test SOURCES subject_python_test.cc subject_libraries_test.cc subject_environments_test.cc
  subject_inventory_test.cc subject_sbom_test.cc subject_blocking_library_test.cc odd_files_test.cc
  LINK cci_subject)

# ELF files with run paths of both kinds. Frameworks say where their libraries lie from site-packages/NAME/lib, the
# interpreter of a conda environment from its bin, and the program from its bin, through a library that it needs.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/subject_nothing.c "int cudnn_ci_subject_nothing;\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/subject_main.c "int main(void) { return 0; }\n")
set(subject_files ${CMAKE_CURRENT_BINARY_DIR}/subject)
foreach(kind runpath rpath)
  set(tags -Wl,--enable-new-dtags)
  if(kind STREQUAL rpath)
    set(tags -Wl,--disable-new-dtags)
  endif()
  foreach(name framework interpreter inner)
    add_library(subject_${name}_${kind} SHARED EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/subject_nothing.c)
  endforeach()
  add_executable(subject_program_${kind} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/subject_main.c)
  set_target_properties(subject_framework_${kind} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../../nvidia/cudnn/lib;$ORIGIN/../../nvidia/cublas/lib;$ORIGIN")
  set_target_properties(subject_interpreter_${kind} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  set_target_properties(subject_inner_${kind} PROPERTIES OUTPUT_NAME inner INSTALL_RPATH "$ORIGIN/../vendor")
  set_target_properties(subject_program_${kind} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  target_link_libraries(subject_program_${kind} PRIVATE -Wl,--no-as-needed subject_inner_${kind})
  foreach(name framework interpreter inner program)
    set_target_properties(subject_${name}_${kind} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
      LIBRARY_OUTPUT_DIRECTORY ${subject_files}/${kind} RUNTIME_OUTPUT_DIRECTORY ${subject_files}/${kind})
    target_link_options(subject_${name}_${kind} PRIVATE ${tags})
    add_dependencies(subject_test subject_${name}_${kind})
    string(TOUPPER "CUDNN_CI_${name}_${kind}" variable)
    target_compile_definitions(subject_test PRIVATE ${variable}="$<TARGET_FILE:subject_${name}_${kind}>")
  endforeach()
endforeach()
