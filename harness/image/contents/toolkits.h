// The CUDA toolkits of an image, and the CUDA runtimes that come without one, by files alone: whether a
// loader finds them or not.
#ifndef CUDNN_CI_IMAGE_CONTENTS_TOOLKITS_H_
#define CUDNN_CI_IMAGE_CONTENTS_TOOLKITS_H_

#include <string>
#include <vector>

#include "base/variables.h"
#include "image/contents/python_environment.h"

namespace cudnn_ci {

// A CUDA toolkit, or its runtime alone, that lies in the image, whether it is used or not. Texts that are not
// known are empty.
struct FoundToolkit {
  std::string version;                 // "13.0.2", or of its runtime library: "13.0.96"
  std::string folder;                  // "/usr/local/cuda-13.0"
  std::string origin;                  // "toolkit", "Python package nvidia-cuda-runtime-cu12", ... in words
  std::vector<std::string> libraries;  // folders of its runtime, links resolved
  std::vector<std::string> taken_by;   // the subjects that take their CUDA runtime from it
};

// Looks, below `root` ("" for an image), at /usr/local/cuda*, /opt/cuda* and the loader's default
// directories, and at what these environments have installed: the wheels of the CUDA runtime, a conda
// environment's lib. A toolkit counts if it has a CUDA runtime or says its version; each once, by the folders
// of its runtime.
std::vector<FoundToolkit> FindToolkits(const std::vector<PythonEnvironment>& environments,
                                       const Variables& variables, const std::string& root = "");

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_TOOLKITS_H_
