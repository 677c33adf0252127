// What is left of the host's memory. Knows no check.
#ifndef CUDNN_CI_PLUGINS_COMMON_HOST_MEMORY_H_
#define CUDNN_CI_PLUGINS_COMMON_HOST_MEMORY_H_

#include <optional>
#include <string>

namespace cudnn_ci {

struct HostRoom {
  double bytes =
      0;  // that a check may take: less than is free, since a process that leaves hardly any is ended
  std::string limit;  // "cgroup limit 512 MiB", "no cgroup limit"
};

// By this process's cgroup, every one above it, and what the kernel reckons can be used without swapping;
// none if nothing is known. `root`: "", or in tests a directory as of MemoryRoom (base/memory_room.h).
std::optional<HostRoom> LookAtHostMemory(const std::string& root = "");

// From now on no check of this process takes more than `most` bytes: others do, at the same time. 0: it is
// alone.
void LimitHostMemory(double most);

// Gives the kernel what this process has freed and kept for later.
void GiveFreedMemoryBack();

// "201 MiB": rounded up.
std::string MebiBytes(double bytes);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_HOST_MEMORY_H_
