// The files in which the kernel says what a cgroup and the machine have. Streams alone: it is compiled for
// plugins as well.
#include "base/memory_room.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace cudnn_ci {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kNoLimit = int64_t{1} << 60;  // v1 writes 2^63 rounded down to pages

}  // namespace

MemoryRoom::MemoryRoom(std::string root)
    : root_(std::move(root)), group_(FindCgroup(root_, "memory", "memory.current", "memory.usage_in_bytes")) {
  // A limit holds for all groups below.
  for (const std::string& g : group_.folders) {
    const int64_t limit =
        NumberIn(g + (group_.v2 ? "/memory.max" : "/memory.limit_in_bytes"));  // "max" reads as 0
    if (limit <= 0 || limit >= kNoLimit) continue;
    limited_.push_back({g, limit});
    limit_ = limit_ == 0 ? limit : std::min(limit_, limit);
  }
}

int64_t MemoryRoom::RoomOf(const Limited& limited) const {
  const std::string stat = limited.group + "/memory.stat";
  const int64_t used = NumberIn(limited.group + (group_.v2 ? "/memory.current" : "/memory.usage_in_bytes"));
  const int64_t reclaimable =
      KeyedNumberIn(stat, group_.v2 ? "inactive_file" : "total_inactive_file").value_or(0) +
      KeyedNumberIn(stat, group_.v2 ? "active_file" : "total_active_file").value_or(0);
  return limited.limit - (used - reclaimable);
}

int64_t MemoryRoom::Room() const {
  const std::optional<int64_t> available = KeyedNumberIn(root_ + "/proc/meminfo", "MemAvailable:");  // in KiB
  int64_t room = available ? *available * 1024 : INT64_MAX;
  for (const Limited& limited : limited_) room = std::min(room, RoomOf(limited));
  return room;
}

int64_t MemoryRoom::Reserve() const { return std::clamp<int64_t>(limit_ / 16, 16 * kMiB, 256 * kMiB); }

int64_t MemoryRoom::OomKills() const {
  if (group_.folders.empty()) return 0;
  return KeyedNumberIn(group_.folders.front() + (group_.v2 ? "/memory.events" : "/memory.oom_control"),
                       "oom_kill")
      .value_or(0);
}

std::string MemoryRoom::Describe() const {
  return limit_ > 0 ? "cgroup limit " + std::to_string(limit_ / kMiB) + " MiB" : "no cgroup limit";
}

}  // namespace cudnn_ci
