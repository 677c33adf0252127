// How many processes may be started here, and how often the kernel has refused one. Harness and plugins look
// at the same places. Reads files, starts nothing.
#ifndef CUDNN_CI_BASE_PROCESS_ROOM_H_
#define CUDNN_CI_BASE_PROCESS_ROOM_H_

#include <cstdint>
#include <string>

#include "base/cgroup.h"

namespace cudnn_ci {

// The pids cgroup of this process, version 1 or 2, with every one above it that can be seen, and
// RLIMIT_NPROC.
class ProcessRoom {
 public:
  // `root`: as of FindCgroup.
  explicit ProcessRoom(const std::string& root = "");

  // How often a limit of these groups has kept a process or a thread from being started; 0 if unknown.
  int64_t Refusals() const;
  // "the cgroup allows 64 processes and threads; 63 are running; ulimit -u is 1000", as far as there are
  // limits; "no limit of processes is known".
  std::string Describe() const;

 private:
  const Cgroup group_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_PROCESS_ROOM_H_
