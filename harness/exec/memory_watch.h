// How much memory is left before the kernel starts killing. In a container the kernel may kill the whole of
// it, report and all: the harness must act first. RLIMIT_AS is no way out, since CUDA reserves far more
// address space than memory.
#ifndef CUDNN_CI_EXEC_MEMORY_WATCH_H_
#define CUDNN_CI_EXEC_MEMORY_WATCH_H_

#include <cstdint>
#include <string>

namespace cudnn_ci {

class MemoryWatch {
 public:
  // `root`: "" or, in tests, a directory holding its own proc/self/cgroup, sys/fs/cgroup and proc/meminfo.
  explicit MemoryWatch(std::string root = "");

  // Bytes that can still be used, reclaimable page cache included: the cgroup's room, or the host's.
  int64_t Room() const;
  // Below this a worker must go.
  int64_t Reserve() const;
  // How long Room may go unlooked at: memory can fill at about 4 GB/s a core.
  int64_t IntervalNs(int64_t room) const;
  // Processes of the group the kernel has killed for memory so far; 0 if unknown.
  int64_t OomKills() const;
  std::string Describe() const;  // "cgroup limit 512 MiB", "no cgroup limit"

 private:
  std::string root_, group_;  // directory of the memory cgroup; empty: none
  bool v2_ = false;
  int64_t limit_ = 0;  // 0: none
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_MEMORY_WATCH_H_
