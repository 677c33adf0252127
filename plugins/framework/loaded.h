// The cuDNN that a framework's process has in its memory, held to what the framework was built with and
// brings.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_LOADED_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_LOADED_H_

#include <cudnn_ci/check.hpp>

#include <string>

#include "framework/answer.h"
#include "framework/frameworks.h"

namespace cudnn_ci {

// "PyTorch 2.11.0+cu130".
std::string NameOf(const Framework& framework, const Answer& answer);

// The folder in which the framework looks for the libraries of its own Python package of cuDNN; empty: it has
// none.
std::string OwnCudnnFolder(const Framework& framework, const Answer& answer);

// "/usr/lib/libcudnn.so.9 (LD_LIBRARY_PATH entry /usr/lib)".
std::string FileAndEntry(const std::string& file);

// Reports versions, CUDA majors and folders that do not go together. Says nothing of what is not known: a
// process that died early has told less.
void JudgeLoadedCudnn(Context& ctx, const Framework& framework, const Answer& answer);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_LOADED_H_
