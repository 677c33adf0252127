#include "common/host_memory.h"

#include <malloc.h>

#include <algorithm>
#include <cstdint>

#include "base/memory_room.h"

namespace cudnn_ci {
namespace {

double g_most_host_bytes = 0;  // 0: all there is

}  // namespace

void LimitHostMemory(double most) { g_most_host_bytes = most; }

std::optional<HostRoom> LookAtHostMemory(const std::string& root) {
  const MemoryRoom memory(root);
  const std::int64_t room = memory.Room();
  if (room == INT64_MAX) return std::nullopt;
  const HostRoom left{static_cast<double>(std::max<std::int64_t>(0, room - memory.Reserve())),
                      memory.Describe()};
  if (g_most_host_bytes <= 0 || left.bytes <= g_most_host_bytes) return left;
  return HostRoom{g_most_host_bytes, "a share of the host's; " + left.limit};
}

void GiveFreedMemoryBack() { malloc_trim(0); }

std::string MebiBytes(double bytes) {
  return std::to_string(static_cast<std::int64_t>(bytes / (1 << 20)) + 1) + " MiB";
}

}  // namespace cudnn_ci
