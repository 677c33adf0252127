// The attention plugin: its name.
#include <cudnn_ci/check.hpp>

CCI_PLUGIN("attention", "0.1.0",
           "scaled dot product attention; every output is compared with an exact reference")
