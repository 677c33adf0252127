// The runner, which an interpreter of the image runs: cudnn_ci_runner.py, made part of the plugin when it is
// built.
#ifndef CUDNN_CI_PLUGINS_KERNELS_RUNNER_H_
#define CUDNN_CI_PLUGINS_KERNELS_RUNNER_H_

namespace cudnn_ci {

const char* RunnerText();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_RUNNER_H_
