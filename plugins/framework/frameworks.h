// The frameworks that are known here. What is asked of each stands in cudnn_ci_probe/.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_FRAMEWORKS_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_FRAMEWORKS_H_

namespace cudnn_ci {

struct Framework {
  const char* name;       // of its check, and in the script's words
  const char* title;      // as people write it
  const char* arrays[4];  // the results that it must give, up to a null pointer
  // It looks for cuDNN where a Python package nvidia-cudnn-cuNN puts it, by its run path or by loading it
  // first.
  bool takes_package;
  // It links none of CUDA's libraries and opens them by name when it first needs them.
  bool opens_by_name;
  // Laid over the environment; null: nothing. A framework that takes the device's memory as a whole would
  // leave none to other processes on it.
  const char* environment;
};

inline constexpr Framework kTorch = {"torch", "PyTorch", {"y", "dx", "dw", nullptr}, true, false, nullptr};
inline constexpr Framework kTensorflow = {"tensorflow", "TensorFlow", {"y", "dx", "dw", nullptr},
                                          true,         false,        "TF_FORCE_GPU_ALLOW_GROWTH=true"};
inline constexpr Framework kJax = {"jax", "JAX", {"y", "dx", "dw", nullptr},
                                   true,  false, "XLA_PYTHON_CLIENT_PREALLOCATE=false"};
inline constexpr Framework kOnnxruntime = {"onnxruntime", "ONNX Runtime", {"y", nullptr},
                                           false,         false,          nullptr};
inline constexpr Framework kCtranslate2 = {"ctranslate2", "CTranslate2", {"copy", nullptr},
                                           false,         true,          nullptr};
inline constexpr Framework kCupy = {"cupy", "CuPy", {"elementwise", "matmul", nullptr},
                                    false,  false,  nullptr};

inline constexpr const Framework* kFrameworks[] = {&kTorch,       &kTensorflow,  &kJax,
                                                   &kOnnxruntime, &kCtranslate2, &kCupy};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_FRAMEWORKS_H_
