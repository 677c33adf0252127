// Runs the runner by an interpreter of the image.
#ifndef CUDNN_CI_PLUGINS_KERNELS_RUNNER_RUN_H_
#define CUDNN_CI_PLUGINS_KERNELS_RUNNER_RUN_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "common/interpreter.h"
#include "kernels/adapter.h"
#include "kernels/answer.h"
#include "kernels/processes.h"

namespace cudnn_ci {

struct RunnerRun : ScriptRun {
  RunnerAnswer answer;
  double wall_s = 0;  // from its start to its end
};

// InterpreterOfCase, once a run: skips the case where the first python3 of PATH is that of another subject.
std::string RunnersPython(Context& ctx, const std::string& parameter);

// Runs the runner of the folder with a job, whose calls are those of these processes. Whatever compiles does
// so into a folder below it. Skips and ends the case as RunScript and RequireAnswer do.
RunnerRun RunRunner(Context& ctx, const std::string& python, const std::string& folder,
                    const std::string& job, double timeout_s,
                    const std::vector<int>& processes_of_calls = {});

// The packages of the interpreter: those of these distributions that it has, and where wanted `others` that
// bring kernels. Ends the case with a finding where they cannot be listed.
RunnerAnswer ListPackages(Context& ctx, const std::string& python,
                          const std::vector<std::string>& distributions, bool others, double timeout_s);

// What the case's GPU and this process leave for processes of an adapter.
KernelRoom RoomForProcesses(const Context& ctx);

// What is known of adapters, as the harness tells it.
std::vector<Adapter> AdaptersOf(const Context& ctx);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_RUNNER_RUN_H_
