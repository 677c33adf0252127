#include "kernels/processes.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/cgroup.h"

namespace cudnn_ci {
namespace {

constexpr double kGiB = 1 << 30;
constexpr double kProcessorsEach = 2, kHostBytesEach = 4 * kGiB, kDeviceBytesEach = 5 * kGiB;

int Affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails on machines with more processors than the set holds.
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : CPU_SETSIZE;
}

// Of one group: "200000 100000" and "max 100000" in version 2, two files in version 1. 0: it has none.
double QuotaOf(const Cgroup& group, const std::string& folder) {
  double quota = 0, period = 0;
  if (group.v2) {
    std::ifstream file(folder + "/cpu.max");
    file >> quota >> period;
  } else {
    quota = static_cast<double>(NumberIn(folder + "/cpu.cfs_quota_us"));
    period = static_cast<double>(NumberIn(folder + "/cpu.cfs_period_us"));
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

bool IsOf(const std::string& line, const std::string& name) {
  return !name.empty() && line.rfind("[" + name + "] ", 0) == 0;
}

}  // namespace

int MostKernelProcesses(const KernelRoom& room) {
  if (!room.compute_mode.empty() && room.compute_mode != "default") return 1;
  if (room.asked > 0) return room.asked;
  if (!room.host_bytes || !room.device_bytes) return 1;
  const double most = std::min({room.processors / kProcessorsEach / std::max(1, room.gpus),
                                *room.host_bytes / kHostBytesEach / std::max(1, room.gpus),
                                *room.device_bytes / kDeviceBytesEach, 64.0});
  return std::max(1, static_cast<int>(most));
}

int ProcessorsOfThisProcess(const std::string& root) {
  int processors = Affinity();
  const Cgroup group = FindCgroup(root, "cpu", "cpu.max", "cpu.cfs_quota_us");
  for (const std::string& folder : group.folders)
    if (const double quota = QuotaOf(group, folder); quota > 0)
      processors = std::min(processors, static_cast<int>(std::ceil(quota)));
  return std::max(1, processors);
}

std::string OutputOfProcess(const std::string& output, const std::vector<std::string>& names,
                            std::size_t which) {
  std::string text;
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = std::min(output.find('\n', begin), output.size() - 1) + 1;
    const std::string line = output.substr(begin, end - begin);
    begin = end;
    const bool is_its = names[which].empty()
                            ? std::none_of(names.begin(), names.end(),
                                           [&](const std::string& name) { return IsOf(line, name); })
                            : IsOf(line, names[which]);
    if (is_its) text += line.substr(names[which].empty() ? 0 : names[which].size() + 3);
  }
  return text;
}

}  // namespace cudnn_ci
