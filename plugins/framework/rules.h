// What versions of a framework, cuDNN and CUDA go together, by the frameworks' own rules; and what the
// metadata of Python packages says of them. Pure functions over text.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_RULES_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_RULES_H_

#include <optional>
#include <string>
#include <vector>

#include "framework/answer.h"
#include "framework/frameworks.h"

namespace cudnn_ci {

// Why a framework that was built with one cuDNN cannot use another; empty: it can, or one of the two is
// unknown. PyTorch, TensorFlow and XLA ask for the same major and a minor that is not lower:
// https://github.com/pytorch/pytorch/blob/main/torch/backends/cudnn/__init__.py (_init),
// https://github.com/openxla/xla/blob/main/xla/stream_executor/cuda/cuda_dnn.cc (the loaded runtime library).
// JAX refuses 9.10.0 as well unless it was built with it, since that release renumbered values:
// https://github.com/jax-ml/jax/blob/main/jax_plugins/cuda/__init__.py.
std::string WhyCudnnUnfit(const Framework& framework, const std::string& built, const std::string& loaded);

// "12" of "12.8" and "12080" is 12; 0 where there is no such number.
int CudaMajor(const std::string& version);

// That a Python package asks for a package nvidia-cudnn-cuNN.
struct CudnnRequirement {
  int cuda_major = 0;     // NN
  std::string version;    // the one it is pinned to, else the lowest that will do: "9.19.0.56"; empty: any
  bool pinned = false;    // to that one
  bool optional = false;  // it holds for an extra only: "tensorflow[and-cuda]"
};

// The requirement on cuDNN among those of a package.
std::optional<CudnnRequirement> RequirementOnCudnn(const FrameworkPackage& package);

// The CUDA major that a package was built for, as far as its metadata says: by torch/version.py, by the local
// part of the version ("+cu130"), by its name ("jax-cuda13-plugin") or by what it requires. 0: it does not
// say.
int CudaMajorOf(const FrameworkPackage& package);

// Why the Python packages of cuDNN do not serve a framework for this CUDA major: they are all for others, or
// one for another has replaced the files of the right one. Empty: they do, or there are none.
std::string WhyPackagesUnfit(int cuda_major, const std::vector<CudnnPackageInfo>& packages);

// What of an output says why a library was not loaded, in the loader's words or a framework's; empty:
// nothing.
std::string LoaderWords(const std::string& output);

// How computed numbers differ from the expected ones: "dx[3] is 5, expected 4; 2 of 576 elements differ".
// Empty: in nothing. Names of arrays that are not expected differ, too.
std::string Difference(const Computed& computed, const std::map<std::string, std::vector<double>>& expected);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_RULES_H_
