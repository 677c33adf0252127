cudnn_ci_unit_test(cli_test SOURCES
  manual_test.cc image_look_test.cc worker_obstacle_test.cc self_test_report_test.cc
  LINK cci_cli CLI11::CLI11)

# What self-test preloads, on a program that binds as plugins do.
add_executable(plant_probe plant_probe.c)
target_compile_definitions(plant_probe PRIVATE _GNU_SOURCE)
target_link_libraries(plant_probe PRIVATE ${CMAKE_DL_LIBS})
cudnn_ci_configure(plant_probe)
# A driver, and a cuDNN whose main library binds its own part by name.
add_library(plant_driver SHARED plant_driver.c)
set_target_properties(plant_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fakes/plant)
foreach(part inner outer)
  add_library(plant_${part} SHARED plant_forward.c)
  target_link_libraries(plant_${part} PRIVATE ${CMAKE_DL_LIBS})
  cudnn_ci_configure(plant_${part})
endforeach()
target_compile_definitions(plant_outer PRIVATE PLANT_INNER="$<TARGET_FILE:plant_inner>")
cudnn_ci_configure(plant_driver)
cudnn_ci_unit_test(plant_test SOURCES plant_test.cc)
string(COMPARE NOTEQUAL "${CUDNN_CI_SANITIZE}" "" sanitized)
target_compile_definitions(plant_test PRIVATE CUDNN_CI_SANITIZED=${sanitized}
  CUDNN_CI_PLANT="${CUDNN_CI_STAGE}/libexec/cudnn-ci-plant.so" CUDNN_CI_PROBE="$<TARGET_FILE:plant_probe>"
  CUDNN_CI_PLANT_DRIVER="$<TARGET_FILE:plant_driver>" CUDNN_CI_PLANT_FORWARD="$<TARGET_FILE:plant_outer>")
add_dependencies(plant_test cudnn-ci-plant plant_probe plant_driver plant_inner plant_outer)
