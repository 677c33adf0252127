// The convolution plugin: its name.
#include <cudnn_ci/check.hpp>

CCI_PLUGIN("conv", "0.1.0", "convolutions; every output is compared with an exact reference")
