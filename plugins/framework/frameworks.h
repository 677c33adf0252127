// Frameworks: what is known of each, as rows of data, and those that are asked to compute.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_FRAMEWORKS_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_FRAMEWORKS_H_

#include <string>
#include <vector>

#include "base/package_names.h"
#include "common/known_regressions.h"

namespace cudnn_ci {

// A row of "frameworks" of knowledge/packages.json. What else it says is for the script (cudnn_ci_probe/).
struct Framework {
  std::string name;   // in the script's words: "torch"
  std::string title;  // as people write it
  // It looks for cuDNN where a Python package nvidia-cudnn-cuNN puts it, by its run path or by loading it
  // first.
  bool takes_package = false;
  // It links none of CUDA's libraries and opens them by name when it first needs them.
  bool opens_by_name = false;
};

// Those that are known, in order.
std::vector<Framework> KnownFrameworks(const TableEntry& entry);
// CUDA's libraries that frameworks compute with: rows of "gpu_libraries".
CudaLibraries LibrariesOfFrameworks(const TableEntry& entry);
// Their rows as a list in JSON, which the script gets.
std::string FrameworkRows(const TableEntry& entry);

// What a framework is asked to compute, which cudnn_ci_probe/ does.
struct Probe {
  const char* name;       // of the framework, and of its check
  const char* title;      // as people write it
  const char* arrays[4];  // the results that it must give, up to a null pointer
  // Laid over the environment; null: nothing. A framework that takes the device's memory as a whole would
  // leave none to other processes on it.
  const char* environment;
};

inline constexpr Probe kTorch = {"torch", "PyTorch", {"y", "dx", "dw", nullptr}, nullptr};
inline constexpr Probe kTensorflow = {
    "tensorflow", "TensorFlow", {"y", "dx", "dw", nullptr}, "TF_FORCE_GPU_ALLOW_GROWTH=true"};
inline constexpr Probe kJax = {
    "jax", "JAX", {"y", "dx", "dw", nullptr}, "XLA_PYTHON_CLIENT_PREALLOCATE=false"};
inline constexpr Probe kOnnxruntime = {"onnxruntime", "ONNX Runtime", {"y", nullptr}, nullptr};
inline constexpr Probe kCtranslate2 = {"ctranslate2", "CTranslate2", {"copy", nullptr}, nullptr};
inline constexpr Probe kCupy = {"cupy", "CuPy", {"elementwise", "matmul", nullptr}, nullptr};

// The framework of a probe. One that no row describes has its names alone.
Framework FrameworkOf(const Probe& probe, const TableEntry& entry);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_FRAMEWORKS_H_
