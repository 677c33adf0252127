# The convolution plugin's oracle and device memory. The check is tested through the real program.
cudnn_ci_unit_test(conv_test SOURCES conv_test.cc conv_numeric_test.cc LINK cudnn_ci_conv_oracle)
