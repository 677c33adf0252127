# What lies in an image: its readers, on made-up trees and files.
cudnn_ci_unit_test(image_test SOURCES driver_witness_test.cc dynamic_table_test.cc elf_bounds_test.cc elf_file_test.cc elf_interpreter_test.cc elf_symbol_test.cc image_blocking_library_test.cc image_environments_test.cc image_gpu_use_test.cc
  image_inventory_test.cc image_libraries_test.cc image_programs_test.cc image_python_test.cc image_sbom_test.cc installed_packages_test.cc loader_scope_test.cc odd_files_test.cc record_conflicts_test.cc
  LINK cci_image cudnn_ci_shipped_knowledge)
# They name the same parts of ELF files.
set_target_properties(image_test PROPERTIES UNITY_BUILD OFF)

file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/image_nothing.c "int cudnn_ci_image_nothing;\n")
# Libraries that use a GPU, by what they need and by what nvcc puts into them.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/image_device_code.c
  "__attribute__((section(\".nv_fatbin\"))) const int cudnn_ci_image_device_code = 1;\n")
add_library(image_device_code SHARED EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/image_device_code.c)
foreach(soname libcudart.so.12 libcudnn.so.9 libcuda.so.1 libtorch.so)
  string(REGEX REPLACE "\\..*" "" stem ${soname})
  add_library(image_stub_${stem} SHARED EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/image_nothing.c)
  set_target_properties(image_stub_${stem} PROPERTIES NO_SONAME ON)
  target_link_options(image_stub_${stem} PRIVATE -Wl,-soname,${soname})
endforeach()
foreach(needs libcudart libcudnn libcuda libtorch)
  add_library(image_needs_${needs} SHARED EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/image_nothing.c)
  target_link_libraries(image_needs_${needs} PRIVATE -Wl,--no-as-needed image_stub_${needs})
endforeach()
target_link_libraries(image_needs_libtorch PRIVATE image_stub_libcudart)
foreach(library device_code needs_libcudart needs_libcudnn needs_libcuda needs_libtorch)
  add_dependencies(image_test image_${library})
  string(TOUPPER "CUDNN_CI_${library}" variable)
  target_compile_definitions(image_test PRIVATE ${variable}="$<TARGET_FILE:image_${library}>")
endforeach()

# ELF files with run paths of both kinds. Frameworks say where their libraries lie from site-packages/NAME/lib, the
# interpreter of a conda environment from its bin, and the program from its bin, through a library that it needs.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/image_main.c "int main(void) { return 0; }\n")
set(image_files ${CMAKE_CURRENT_BINARY_DIR}/image)
foreach(kind runpath rpath)
  set(tags -Wl,--enable-new-dtags)
  if(kind STREQUAL rpath)
    set(tags -Wl,--disable-new-dtags)
  endif()
  foreach(name framework interpreter inner)
    add_library(image_${name}_${kind} SHARED EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/image_nothing.c)
  endforeach()
  add_executable(image_program_${kind} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/image_main.c)
  set_target_properties(image_framework_${kind} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../../nvidia/cudnn/lib;$ORIGIN/../../nvidia/cublas/lib;$ORIGIN")
  set_target_properties(image_interpreter_${kind} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  set_target_properties(image_inner_${kind} PROPERTIES OUTPUT_NAME inner INSTALL_RPATH "$ORIGIN/../vendor")
  set_target_properties(image_program_${kind} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  target_link_libraries(image_program_${kind} PRIVATE -Wl,--no-as-needed image_inner_${kind})
  foreach(name framework interpreter inner program)
    set_target_properties(image_${name}_${kind} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
      LIBRARY_OUTPUT_DIRECTORY ${image_files}/${kind} RUNTIME_OUTPUT_DIRECTORY ${image_files}/${kind})
    target_link_options(image_${name}_${kind} PRIVATE ${tags})
    add_dependencies(image_test image_${name}_${kind})
    string(TOUPPER "CUDNN_CI_${name}_${kind}" variable)
    target_compile_definitions(image_test PRIVATE ${variable}="$<TARGET_FILE:image_${name}_${kind}>")
  endforeach()
endforeach()
