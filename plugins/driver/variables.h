// Variables that change how all of CUDA works, and are easily left behind.
#ifndef CUDNN_CI_PLUGINS_DRIVER_VARIABLES_H_
#define CUDNN_CI_PLUGINS_DRIVER_VARIABLES_H_

#include <functional>
#include <string>

namespace cudnn_ci {

// A variable's value; empty: it is not set.
using Lookup = std::function<std::string(const char* name)>;

// "CUDA_LAUNCH_BLOCKING, CUDNN_LOGLEVEL_DBG": those that are set to something that has an effect.
std::string DebuggingVariables(const Lookup& value);

// Why the driver's cache of compiled kernels cannot be written, with the variable or the folder; empty: it
// can, or where it would be is not known. Writes nothing.
std::string ComputeCacheProblem(const Lookup& value);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_DRIVER_VARIABLES_H_
