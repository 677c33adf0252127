// The control groups of this process, as their files tell. Streams alone: it is compiled for plugins as well.
#ifndef CUDNN_CI_BASE_CGROUP_H_
#define CUDNN_CI_BASE_CGROUP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudnn_ci {

// The number that a file begins with; 0 for "max" and for a file that cannot be read.
int64_t NumberIn(const std::string& path);
// The value behind `key` in lines of "key value", with or without a unit.
std::optional<int64_t> KeyedNumberIn(const std::string& path, const std::string& key);

struct Cgroup {
  bool v2 = false;
  std::vector<std::string> folders;  // this process's own first, then each one above that can be seen
};

// The group of one controller ("memory"): the one that has the file `v2`, else the one that has `v1`. None
// can be seen: no folders. `root`: "" or, in tests, a directory with its own proc/self/cgroup and
// sys/fs/cgroup.
Cgroup FindCgroup(const std::string& root, const std::string& controller, const std::string& v2,
                  const std::string& v1);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_CGROUP_H_
