#include "common/host_memory.h"

#include <algorithm>
#include <cstdint>

#include "base/memory_room.h"

namespace cudnn_ci {

std::optional<HostRoom> LookAtHostMemory(const std::string& root) {
  const MemoryRoom memory(root);
  const std::int64_t room = memory.Room();
  if (room == INT64_MAX) return std::nullopt;
  return HostRoom{static_cast<double>(std::max<std::int64_t>(0, room - memory.Reserve())), memory.Describe()};
}

std::string MebiBytes(double bytes) {
  return std::to_string(static_cast<std::int64_t>(bytes / (1 << 20)) + 1) + " MiB";
}

}  // namespace cudnn_ci
