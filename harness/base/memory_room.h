// How much memory is left before the kernel starts killing. Harness and plugins look at the same places: what
// a check takes for free must not be what the harness ends it for. Reads files, allocates nothing of size.
#ifndef CUDNN_CI_BASE_MEMORY_ROOM_H_
#define CUDNN_CI_BASE_MEMORY_ROOM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/cgroup.h"

namespace cudnn_ci {

// The memory cgroup of this process, version 1 or 2, with every one above it that can be seen, and the
// machine. Which groups have a limit is found out once.
class MemoryRoom {
 public:
  // `root`: "" or, in tests, a directory holding its own proc/self/cgroup, sys/fs/cgroup and proc/meminfo.
  explicit MemoryRoom(std::string root = "");

  // Bytes that can still be used, reclaimable page cache included: the least of what a group or the machine
  // leaves. INT64_MAX: neither says.
  int64_t Room() const;
  // What has to stay free: of a process that leaves less the harness rids itself.
  int64_t Reserve() const;
  // Processes of the group the kernel has killed for memory so far; 0 if unknown.
  int64_t OomKills() const;
  // Of the lowest limit: "cgroup limit 512 MiB", "no cgroup limit".
  std::string Describe() const;

 private:
  struct Limited {
    std::string group;  // its directory
    int64_t limit;
  };
  int64_t RoomOf(const Limited& limited) const;

  std::string root_;
  Cgroup group_;
  std::vector<Limited> limited_;  // the groups with a limit, this process's own first
  int64_t limit_ = 0;             // the lowest of them; 0: none
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_MEMORY_ROOM_H_
