cudnn_ci_unit_test(manual_test SOURCES manual_test.cc LINK cci_cli CLI11::CLI11)
cudnn_ci_unit_test(self_test_report_test SOURCES self_test_report_test.cc LINK cci_cli)

# What self-test preloads, on a program that binds as plugins do.
add_executable(plant_probe plant_probe.c)
target_compile_definitions(plant_probe PRIVATE _GNU_SOURCE)
target_link_libraries(plant_probe PRIVATE ${CMAKE_DL_LIBS})
cudnn_ci_configure(plant_probe)
cudnn_ci_unit_test(plant_test SOURCES plant_test.cc)
string(COMPARE NOTEQUAL "${CUDNN_CI_SANITIZE}" "" sanitized)
target_compile_definitions(plant_test PRIVATE CUDNN_CI_SANITIZED=${sanitized}
  CUDNN_CI_PLANT="${CUDNN_CI_STAGE}/libexec/cudnn-ci-plant.so" CUDNN_CI_PROBE="$<TARGET_FILE:plant_probe>")
add_dependencies(plant_test cudnn-ci-plant plant_probe)
