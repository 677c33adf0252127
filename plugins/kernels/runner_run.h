// Runs the runner by an interpreter of the image.
#ifndef CUDNN_CI_PLUGINS_KERNELS_RUNNER_RUN_H_
#define CUDNN_CI_PLUGINS_KERNELS_RUNNER_RUN_H_

#include <cudnn_ci/check.hpp>

#include <string>

#include "common/interpreter.h"
#include "kernels/adapter.h"
#include "kernels/answer.h"

namespace cudnn_ci {

struct RunnerRun : ScriptRun {
  RunnerAnswer answer;
};

// InterpreterOfCase, once a run: skips the case where the first python3 of PATH is that of another subject.
std::string RunnersPython(Context& ctx, const std::string& parameter);

// Runs the runner of the folder with a job. Whatever compiles does so into a folder below it. Skips and ends
// the case as RunScript and RequireAnswer do.
RunnerRun RunRunner(Context& ctx, const std::string& python, const std::string& folder,
                    const std::string& job, double timeout_s);

// The packages of the interpreter: those of these distributions that it has, and where wanted `others` that
// bring kernels. Ends the case with a finding where they cannot be listed.
RunnerAnswer ListPackages(Context& ctx, const std::string& python,
                          const std::vector<std::string>& distributions, bool others, double timeout_s);

// What is known of adapters, as the harness tells it.
std::vector<Adapter> AdaptersOf(const Context& ctx);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_RUNNER_RUN_H_
