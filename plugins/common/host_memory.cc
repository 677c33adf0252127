// A reader of /proc/meminfo.
#include "common/host_memory.h"

#include <cstdint>
#include <fstream>

namespace cudnn_ci {

std::optional<double> AvailableHostBytes() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  double kib = 0;
  while (file >> key >> kib && std::getline(file, unit))
    if (key == "MemAvailable:") return kib * 1024;
  return std::nullopt;
}

std::string MebiBytes(double bytes) {
  return std::to_string(static_cast<std::int64_t>(bytes / (1 << 20)) + 1) + " MiB";
}

}  // namespace cudnn_ci
