// The files in which the kernel says what a cgroup and the machine have. Streams alone: it is compiled for
// plugins as well.
#include "base/memory_room.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

namespace cudnn_ci {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kNoLimit = int64_t{1} << 60;  // v1 writes 2^63 rounded down to pages

// The number that a file begins with; 0 for "max" and for a file that cannot be read.
int64_t Number(const std::string& path) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : 0;
}

// The value behind `key` in lines of "key value", with or without a unit.
std::optional<int64_t> Keyed(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string k, rest;
  for (int64_t value = 0; file >> k >> value; std::getline(file, rest))
    if (k == key) return value;
  return std::nullopt;
}

bool Readable(const std::string& path) {
  std::ifstream file(path);
  return file.peek() != std::ifstream::traits_type::eof();
}

// Of a line "4:memory,cpu:/job" the group, if it is this controller's. Version 2 has a line without one.
std::optional<std::string> GroupOf(const std::string& line, const std::string& controller) {
  const size_t first = line.find(':'), second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return std::nullopt;
  std::istringstream names(line.substr(first + 1, second - first - 1));
  std::string name;
  bool its_own = controller.empty() && second == first + 1;
  while (std::getline(names, name, ',')) its_own = its_own || name == controller;
  return its_own ? std::optional(line.substr(second + 1)) : std::nullopt;
}

}  // namespace

MemoryRoom::MemoryRoom(std::string root) : root_(std::move(root)) {
  const std::string base = root_ + "/sys/fs/cgroup";
  std::string own_v1, own_v2;
  std::ifstream groups(root_ + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    own_v2 = GroupOf(line, "").value_or(own_v2);
    own_v1 = GroupOf(line, "memory").value_or(own_v1);
  }
  // Our own group by its path, or the root of what is mounted: in a container that is our own.
  for (const std::string& g : {base + own_v2, base, base + "/unified" + own_v2})
    if (group_.empty() && Readable(g + "/memory.current")) {
      group_ = g;
      v2_ = true;
    }
  for (const std::string& g : {base + "/memory" + own_v1, base + "/memory"})
    if (group_.empty() && Readable(g + "/memory.usage_in_bytes")) group_ = g;
  while (!group_.empty() && group_.back() == '/') group_.pop_back();
  // A limit holds for all groups below.
  for (std::string g = group_; g.size() >= base.size(); g.resize(g.rfind('/'))) {
    const int64_t limit = Number(g + (v2_ ? "/memory.max" : "/memory.limit_in_bytes"));  // "max" reads as 0
    if (limit <= 0 || limit >= kNoLimit) continue;
    limited_.push_back({g, limit});
    limit_ = limit_ == 0 ? limit : std::min(limit_, limit);
  }
}

int64_t MemoryRoom::RoomOf(const Limited& limited) const {
  const std::string stat = limited.group + "/memory.stat";
  const int64_t used = Number(limited.group + (v2_ ? "/memory.current" : "/memory.usage_in_bytes"));
  const int64_t reclaimable = Keyed(stat, v2_ ? "inactive_file" : "total_inactive_file").value_or(0) +
                              Keyed(stat, v2_ ? "active_file" : "total_active_file").value_or(0);
  return limited.limit - (used - reclaimable);
}

int64_t MemoryRoom::Room() const {
  const std::optional<int64_t> available = Keyed(root_ + "/proc/meminfo", "MemAvailable:");  // in KiB
  int64_t room = available ? *available * 1024 : INT64_MAX;
  for (const Limited& limited : limited_) room = std::min(room, RoomOf(limited));
  return room;
}

int64_t MemoryRoom::Reserve() const { return std::clamp<int64_t>(limit_ / 16, 16 * kMiB, 256 * kMiB); }

int64_t MemoryRoom::OomKills() const {
  if (group_.empty()) return 0;
  return Keyed(group_ + (v2_ ? "/memory.events" : "/memory.oom_control"), "oom_kill").value_or(0);
}

std::string MemoryRoom::Describe() const {
  return limit_ > 0 ? "cgroup limit " + std::to_string(limit_ / kMiB) + " MiB" : "no cgroup limit";
}

}  // namespace cudnn_ci
