// A job for the runner: problems and the adapter as files, and what came back of them.
#ifndef CUDNN_CI_PLUGINS_KERNELS_JOB_H_
#define CUDNN_CI_PLUGINS_KERNELS_JOB_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/adapter.h"
#include "kernels/answer.h"
#include "kernels/problem.h"

namespace cudnn_ci {

// An implementation that is asked for a problem, each of them twice.
struct KernelCall {
  const Implementation* implementation = nullptr;
  const KernelProblem* problem = nullptr;
  int process = 0;  // that computes it: an index of KernelJob::processes

  // "sdpa flash, attention/bfloat16_long, run 1"; without a run: up to it.
  std::string Text(int run = 0) const;
};

inline constexpr int kRunsOfACall = 2;  // what is compiled is compiled in the first

// The calls of an adapter: each implementation that `takes` it with each problem that it promises or offers.
struct KernelJob {
  std::map<std::string, KernelProblem> problems;
  std::vector<KernelCall> calls;
  std::vector<std::string> processes = {""};  // their names: each has a call, unless there is none at all
};
// Its calls are spread over at most so many processes, at least one. Names share one where there are more.
KernelJob MakeKernelJob(const Adapter& adapter, const std::function<bool(const Implementation&)>& takes,
                        int most_processes = 1);
// The process of each call.
std::vector<int> ProcessesOfCalls(const KernelJob& job);

// Writes the runner, the adapter, the inputs and the job into a folder, which is made anew. Returns the path
// of the job. Throws std::runtime_error where a file cannot be written.
std::string WriteKernelJob(const std::string& folder, const Adapter& adapter, const KernelJob& job);
// The same of a job that asks for packages; `others`: and for all others that bring kernels.
std::string WriteLookJob(const std::string& folder, const std::vector<std::string>& distributions,
                         bool others);
// The path of the runner in such a folder.
std::string RunnerIn(const std::string& folder);

// What is wrong with the result of a run of a call, by its type, its shape and its file.
struct WrongOutput {
  std::string output;  // the first that is wrong: "dq"
  std::string why;     // empty: all are right
};
WrongOutput WrongWith(const std::string& folder, const KernelJob& job, RunnerAnswer::Call call,
                      const RunnerResult& result);
// Whether what is right is so only by the bound of the implementation's arithmetic.
bool IsWithinBound(const std::string& folder, const KernelJob& job, RunnerAnswer::Call call);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_JOB_H_
