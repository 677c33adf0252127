# The convolution plugin's oracle. The check is tested through the real program (tests/integration/shipped_*).
cudnn_ci_unit_test(conv_test SOURCES conv_test.cc conv_oracle_test.cc conv_numeric_test.cc LINK cudnn_ci_conv_oracle)
