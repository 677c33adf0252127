// How often the memory that is left has to be looked at. In a container the kernel may kill the whole of it,
// report and all: the harness must act first. RLIMIT_AS is no way out, since CUDA reserves far more address
// space than memory.
#ifndef CUDNN_CI_EXEC_SYSTEM_MEMORY_WATCH_H_
#define CUDNN_CI_EXEC_SYSTEM_MEMORY_WATCH_H_

#include <cstdint>

#include "base/memory_room.h"

namespace cudnn_ci {

// Below Reserve() a worker must go.
class MemoryWatch : public MemoryRoom {
 public:
  using MemoryRoom::MemoryRoom;

  // How long Room may go unlooked at: memory can fill at about 4 GB/s a core.
  int64_t IntervalNs(int64_t room) const;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SYSTEM_MEMORY_WATCH_H_
