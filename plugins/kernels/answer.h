// What the runner said, as values. Lines of JSON, one for each thing as it became known: what a process that
// died had said before is whole. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_KERNELS_ANSWER_H_
#define CUDNN_CI_PLUGINS_KERNELS_ANSWER_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_ci {

struct RunnerPackage {
  std::string name, version;
  bool kernels = false;  // its metadata says that it computes on a GPU
};

struct RunnerResult {
  double seconds = 0;
  std::vector<std::string> launches;  // names of kernels, each once
  struct Output {
    std::string dtype, device;
    std::vector<std::int64_t> shape;
  };
  std::map<std::string, Output> outputs;
};

struct RunnerRefusal {
  std::string why;
  bool by_itself = false;  // it was said to be one; else an exception
};

// What one process said that computed calls.
struct RunnerProcess {
  using Call = std::pair<int, int>;  // which one, and whether it is its first or its second run

  bool ended = false;   // it said that it had come to its end
  Call step = {-1, 0};  // where it was last; -1: at its import
  bool described = false;
  int devices = 0;
  std::string device, built, capability;  // "NVIDIA H200"; of CUDA: "13.0", empty for none; "9.0"
  std::string untraced;                   // why nobody says which kernels ran; empty: it is known
  std::string error;                      // of its import
  std::string cudnn_version, cudnn_file;  // of the cuDNN in its memory: "9.19.0"; empty: there is none
  std::string lacks;                      // a package that the adapter needs beside its own; empty: none
  std::map<Call, std::string> broken;     // the GPU could not be used any more behind it
  // Of one of several: how it ended, as the process that waited for it said; `left`: it did.
  bool left = false;
  int exit_status = -1, signal = 0;  // as of ChildResult
};

struct RunnerAnswer {
  using Call = RunnerProcess::Call;

  std::string problem;  // why a line is no answer; empty: all are
  std::string python;   // "3.11.7"; empty: it did not get that far
  std::vector<RunnerPackage> packages;
  std::int64_t cut = 0;  // packages that nobody asked for and that were not looked at, there were too many
  std::vector<RunnerProcess> processes = std::vector<RunnerProcess>(1);
  std::map<Call, RunnerResult> results;
  std::map<Call, RunnerRefusal> refused;
};

// Of the file; one that is not there is an empty answer. Bounded; what is no regular file is a problem, and
// so is what a process says of a call that is not its own. `processes_of_calls`: of each call the process, of
// which there are as many as are named there, one at least.
RunnerAnswer ReadRunnerAnswer(const std::string& path, const std::vector<int>& processes_of_calls = {});

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_ANSWER_H_
