cudnn_ci_unit_test(manual_test SOURCES manual_test.cc LINK cci_cli CLI11::CLI11)
