// What the name of a kernel says of its arithmetic: a table, and what follows from it. Must not know CUDA or
// cuDNN.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_KERNEL_CLASS_H_
#define CUDNN_CI_PLUGINS_COMPUTE_KERNEL_CLASS_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// From the most exact on: of several kernels that run one after the other the last one says what the result
// is.
enum class KernelClass {
  kHelper,      // moves or counts; computes no sums
  kFma,         // float32 by fused multiply-adds
  kUnknown,     // no rule has it
  kTensorCore,  // products of short types, sums in float32
  kTf32,        // float32 whose inputs are cut to TF32
  kHalfSums,    // sums in float16
  kFft,
  kWinograd,
};

KernelClass ClassOfKernel(const std::string& name);
// Of all kernels of one run. kUnknown of none.
KernelClass ClassOfKernels(const std::vector<std::string>& names);

// "kernels a, b: Winograd" of a report, with `before` in front of it; empty of none. At most four are named.
std::string KernelsText(const std::vector<std::string>& names, const std::string& before = "");

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_KERNEL_CLASS_H_
