// The framework plugin: what the image's own PyTorch, TensorFlow, JAX, ONNX Runtime, CTranslate2 and CuPy see
// and compute, each asked by the image's interpreter in a process of its own.
#include <cudnn_ci/check.hpp>

CCI_PLUGIN("framework", "0.1.0", "what the image's own frameworks see and compute")
