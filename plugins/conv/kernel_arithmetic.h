// What the names of its kernels say of a convolution's arithmetic, beside notes and tables. Must not know
// CUDA or cuDNN.
#ifndef CUDNN_CI_PLUGINS_CONV_KERNEL_ARITHMETIC_H_
#define CUDNN_CI_PLUGINS_CONV_KERNEL_ARITHMETIC_H_

#include <string>
#include <vector>

#include "compute/kernel_class.h"
#include "conv/recipe.h"

namespace cudnn_ci {

// What the oracle has to know of an algorithm, of which it was told `said` by notes and tables. A kernel that
// transforms is a transform, whatever was said. Nothing makes a transform exact: that no name says so proves
// nothing.
Arithmetic ArithmeticByKernels(Arithmetic said, const std::vector<std::string>& names);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_KERNEL_ARITHMETIC_H_
