// How many processes compute the calls of an adapter at the same time. What an implementation is computed by
// is knowledge (Implementation::processes); whether there is room for it is decided here.
#ifndef CUDNN_CI_PLUGINS_KERNELS_PROCESSES_H_
#define CUDNN_CI_PLUGINS_KERNELS_PROCESSES_H_

#include <optional>
#include <string>
#include <vector>

namespace cudnn_ci {

// What processes of one GPU may use.
struct KernelRoom {
  std::string compute_mode;                        // as CCI_FACT_GPU_COMPUTE_MODE has it; empty: unknown
  int processors = 1;                              // that this process may use
  std::optional<double> host_bytes, device_bytes;  // free; none: unknown
  int gpus = 1;                                    // whose processes share processors and host memory
  int asked = 0;                                   // processes, by the user; 0: as many as there is room for
};

// At least 1. Each takes two processors, 4 GiB of host memory and 5 GiB of device memory: a framework with
// its context and its compiler. What is not known is no room, and a compute mode other than "default" is for
// one process, whatever the user asks for.
int MostKernelProcesses(const KernelRoom& room);

// Processors that this process may use: its affinity, within the quota of its cgroup and of each one above;
// at least 1. `root`: "", or in tests a directory as of FindCgroup (base/cgroup.h).
int ProcessorsOfThisProcess(const std::string& root = "");

// What the process `which` of several has written, of the output of all: its lines are marked "[NAME] ",
// those of one without a name are not. `names` are those of all.
std::string OutputOfProcess(const std::string& output, const std::vector<std::string>& names,
                            std::size_t which);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_PROCESSES_H_
