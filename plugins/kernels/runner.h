// The runner, which an interpreter of the image runs: cudnn_ci_runner.py and what adapters may import beside
// it, made part of the plugin when it is built.
#ifndef CUDNN_CI_PLUGINS_KERNELS_RUNNER_H_
#define CUDNN_CI_PLUGINS_KERNELS_RUNNER_H_

#include <vector>

#include "common/interpreter.h"

namespace cudnn_ci {

// cudnn_ci_runner.py first.
const std::vector<ScriptFile>& RunnerFiles();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_RUNNER_H_
