#include "exec/memory_watch.h"

#include <stdlib.h>

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kNoLimit = int64_t{1} << 60;  // v1 writes 2^63 rounded down to pages

int64_t Number(const std::string& path) { return strtoll(ReadSmallFile(path, 64).c_str(), nullptr, 10); }

// The value after `key` in lines of "key value".
int64_t Keyed(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  std::string k;
  for (int64_t v = 0; lines >> k >> v;)
    if (k == key) return v;
  return 0;
}

bool Readable(const std::string& path) { return !ReadSmallFile(path, 64).empty(); }

}  // namespace

MemoryWatch::MemoryWatch(std::string root) : root_(std::move(root)) {
  const std::string base = root_ + "/sys/fs/cgroup";
  std::string own_v1, own_v2;
  for (const std::string& line : Split(ReadSmallFile(root_ + "/proc/self/cgroup"), '\n')) {
    const std::vector<std::string> f = Split(line, ':');
    if (f.size() < 3) continue;
    if (f[1].empty()) own_v2 = f[2];
    const std::vector<std::string> controllers = Split(f[1], ',');
    if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) own_v1 = f[2];
  }
  // Our own group by its path, or the root of what is mounted: in a container that is our own.
  for (const std::string& g : {base + own_v2, base, base + "/unified" + own_v2})
    if (group_.empty() && Readable(g + "/memory.current")) {
      group_ = g;
      v2_ = true;
    }
  for (const std::string& g : {base + "/memory" + own_v1, base + "/memory"})
    if (group_.empty() && Readable(g + "/memory.usage_in_bytes")) group_ = g;
  if (group_.empty()) return;
  limit_ = Number(group_ + (v2_ ? "/memory.max" : "/memory.limit_in_bytes"));  // "max" reads as 0
  if (limit_ >= kNoLimit) limit_ = 0;
}

int64_t MemoryWatch::Room() const {
  // "MemAvailable:    12345 kB"
  std::istringstream info(ReadSmallFile(root_ + "/proc/meminfo", 4096));
  std::string key, unit;
  int64_t host = INT64_MAX;
  for (int64_t v = 0; info >> key >> v >> unit;)
    if (key == "MemAvailable:") {
      host = v * 1024;
      break;
    }
  if (limit_ <= 0) return host;
  const std::string stat = ReadSmallFile(group_ + "/memory.stat");
  const int64_t used = Number(group_ + (v2_ ? "/memory.current" : "/memory.usage_in_bytes"));
  const int64_t reclaimable = Keyed(stat, v2_ ? "inactive_file" : "total_inactive_file") +
                              Keyed(stat, v2_ ? "active_file" : "total_active_file");
  return std::min(host, limit_ - (used - reclaimable));
}

int64_t MemoryWatch::Reserve() const {
  const int64_t share = limit_ > 0 ? limit_ / 16 : 0;
  return std::clamp<int64_t>(share, 16 * kMiB, 256 * kMiB);
}

int64_t MemoryWatch::IntervalNs(int64_t room) const {
  const int64_t spare = std::max<int64_t>(0, room - Reserve());
  return std::clamp<int64_t>(spare / 4, 2'000'000, 200'000'000);  // bytes / 4 = ns at 4 GB/s
}

int64_t MemoryWatch::OomKills() const {
  if (group_.empty()) return 0;
  return Keyed(ReadSmallFile(group_ + (v2_ ? "/memory.events" : "/memory.oom_control")), "oom_kill");
}

std::string MemoryWatch::Describe() const {
  return limit_ > 0 ? "cgroup limit " + std::to_string(limit_ / kMiB) + " MiB" : "no cgroup limit";
}

}  // namespace cudnn_ci
