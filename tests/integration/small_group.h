// A cgroup with a limit, below the root of its hierarchy, of version 1 or 2.
#ifndef CUDNN_CI_TESTS_INTEGRATION_SMALL_GROUP_H_
#define CUDNN_CI_TESTS_INTEGRATION_SMALL_GROUP_H_

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace cudnn_ci {

class SmallGroup {
 public:
  static SmallGroup OfMemory(long bytes) { return {"memory", "memory.limit_in_bytes", "memory.max", bytes}; }
  static SmallGroup OfProcesses(long count) { return {"pids", "pids.max", "pids.max", count}; }

  ~SmallGroup() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }
  SmallGroup(const SmallGroup&) = delete;
  SmallGroup& operator=(const SmallGroup&) = delete;

  // Why none can be had; empty: it is there.
  const std::string& why() const { return why_; }
  // For GateRun::Before.
  std::vector<std::string> Words() const {
    return {"sh", "-c", "echo $$ > '" + (path_ / "cgroup.procs").string() + "' && exec \"$@\"", "sh"};
  }

 private:
  SmallGroup(const std::string& controller, const char* limit_v1, const char* limit_v2, long limit) {
    const std::filesystem::path all = "/sys/fs/cgroup", own = all / controller;
    const bool first = std::filesystem::is_directory(own) && std::filesystem::exists(own / "cgroup.procs");
    if (geteuid() != 0) {
      why_ = "needs root to create a cgroup";
      return;
    }
    const std::filesystem::path group = (first ? own : all) / ("cudnn-ci-test-" + std::to_string(getpid()));
    std::error_code error;
    std::filesystem::create_directory(group, error);
    if (error) {
      why_ = "cannot create " + group.string() + ": " + error.message();
      return;
    }
    path_ = group;
    std::ofstream file(group / (first ? limit_v1 : limit_v2));
    file << limit << std::flush;
    if (!file) why_ = "cannot limit " + group.string();
  }

  std::filesystem::path path_;
  std::string why_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_SMALL_GROUP_H_
