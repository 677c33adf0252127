// The CUDA toolkits of an image, and the CUDA runtimes that come without one, by files alone: whether a
// loader finds them or not.
#ifndef CUDNN_CI_IMAGE_CONTENTS_TOOLKITS_H_
#define CUDNN_CI_IMAGE_CONTENTS_TOOLKITS_H_

#include <string>
#include <vector>

#include "model/inventory/inventory.h"
#include "model/matrix/image_identity.h"

namespace cudnn_ci {

// Looks, below `root` ("" for an image), at /usr/local/cuda*, /opt/cuda* and the loader's default
// directories, and at what these environments have installed: the wheels of the CUDA runtime, a conda
// environment's lib. A toolkit counts if it has a CUDA runtime or says its version; each once, by the folders
// of its runtime.
std::vector<FoundToolkit> FindToolkits(const std::vector<PythonEnvironment>& environments,
                                       const Variables& variables, const std::string& root = "");

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_TOOLKITS_H_
