#include "base/process_room.h"

#include <sys/resource.h>

namespace cudnn_ci {

ProcessRoom::ProcessRoom(const std::string& root)
    : group_(FindCgroup(root, "pids", "pids.current", "pids.current")) {}

int64_t ProcessRoom::Refusals() const {
  int64_t refusals = 0;
  for (const std::string& folder : group_.folders)
    refusals += KeyedNumberIn(folder + "/pids.events", "max").value_or(0);
  return refusals;
}

std::string ProcessRoom::Describe() const {
  std::string lowest, user;
  int64_t least = 0;
  for (const std::string& folder : group_.folders) {
    const int64_t limit = NumberIn(folder + "/pids.max");  // "max" reads as 0
    if (limit <= 0 || (least > 0 && limit >= least)) continue;
    least = limit;
    lowest = "the cgroup allows " + std::to_string(limit) + " processes and threads; " +
             std::to_string(NumberIn(folder + "/pids.current")) + " are running";
  }
  rlimit own{};
  if (getrlimit(RLIMIT_NPROC, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
    user = "ulimit -u is " + std::to_string(own.rlim_cur);
  if (lowest.empty() && user.empty()) return "no limit of processes is known";
  return lowest + (lowest.empty() || user.empty() ? "" : "; ") + user;
}

}  // namespace cudnn_ci
