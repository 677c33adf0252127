// Runs the runner by an interpreter of the image.
#ifndef CUDNN_CI_PLUGINS_KERNELS_RUNNER_RUN_H_
#define CUDNN_CI_PLUGINS_KERNELS_RUNNER_RUN_H_

#include <cudnn_ci/check.hpp>

#include <string>

#include "kernels/adapter.h"
#include "kernels/answer.h"

namespace cudnn_ci {

struct RunnerRun {
  std::string python;  // the interpreter that was started
  ChildResult end;
  RunnerAnswer answer;
};

// The interpreter that a parameter "python" means for the subject of the case. Skips the case where none was
// named and there is none; ends it with a finding where it is not to be found.
std::string RunnersPython(Context& ctx, const std::string& parameter);

// Runs the runner of the folder with a job. Whatever compiles does so into a folder below it. Skips the case
// where Python is older than 3.8; ends it with a finding where the interpreter cannot be used at all.
RunnerRun RunRunner(Context& ctx, const std::string& python, const std::string& folder,
                    const std::string& job, double timeout_s);

// What is known of adapters, as the harness tells it.
std::vector<Adapter> AdaptersOf(const Context& ctx);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_RUNNER_RUN_H_
