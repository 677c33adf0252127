# What the plugins share. The plugins themselves are tested through the real program (tests/integration/shipped_*).
cudnn_ci_unit_test(plugin_common_test SOURCES plugin_common_test.cc LINK cudnn_ci_plugin_common)
