// The exec plugin: a check that is a command of the image, written in a matrix instead of C++.
#include <cudnn_ci/check.hpp>

CCI_PLUGIN("exec", "0.1.0", "checks that are commands of the image")
