// The kernels plugin: exact problems through whatever computes in the image, each package asked by the
// image's interpreter in a process of its own.
#include <cudnn_ci/check.hpp>

CCI_PLUGIN("kernels", "0.1.0", "exact problems for the kernels of the image's packages")
