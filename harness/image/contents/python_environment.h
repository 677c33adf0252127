// A Python environment of an image, as its files tell it (DescribeEnvironment).
#ifndef CUDNN_CI_IMAGE_CONTENTS_PYTHON_ENVIRONMENT_H_
#define CUDNN_CI_IMAGE_CONTENTS_PYTHON_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "image/contents/gpu_use.h"

namespace cudnn_ci {

// A package that is installed, by the name of its metadata.
struct PythonPackage {
  std::string title;         // as people write it: "PyTorch"
  std::string distribution;  // as it is installed: "torch", "onnxruntime-gpu"
  std::string version;       // "2.11.0+cu128"

  bool operator==(const PythonPackage&) const = default;
};

struct PythonEnvironment {
  std::string name;                 // of the subject that it can be: "opt_venv"; empty: it is none
  std::string interpreter, prefix;  // "/opt/venv/bin/python", "/opt/venv"
  // The first of its folders of libraries that holds a cuDNN, links followed; empty: it brings none and lives
  // from the loader's.
  std::string cudnn;
  // The CUDA major or version that its packages of cuDNN are for, by their names: "12", "12.8" of a conda
  // environment; of one without such packages what its libraries tell (GpuUse). Empty: they do not tell, or
  // contradict each other.
  std::string cuda;
  std::vector<PythonPackage> frameworks;
  bool compiles = false;  // a package of it compiles device code in ordinary use, as numba-cuda does
  // What its packages use of a GPU. Frameworks open cuDNN and NVRTC by name, so that with one whose own files
  // use a GPU they are asked for.
  GpuUse gpu = {};
  std::vector<PythonPackage> adapted = {};  // those whose kernels an adapter asks, by the adapter's title
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_PYTHON_ENVIRONMENT_H_
