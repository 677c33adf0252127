#include "base/time.h"

#include <ctime>

namespace cudnn_ci {

namespace {

constexpr std::time_t kDay = 86400;

std::string FormatUtcNow(const char* format, int days_from_now = 0) {
  const std::time_t now = std::time(nullptr) + days_from_now * kDay;
  std::tm parts{};
  gmtime_r(&now, &parts);
  char buffer[32];
  return std::string(buffer, std::strftime(buffer, sizeof buffer, format, &parts));
}

}  // namespace

int64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string UtcTimestamp() { return FormatUtcNow("%Y-%m-%dT%H:%M:%SZ"); }

std::string UtcDate(int days_from_now) { return FormatUtcNow("%Y-%m-%d", days_from_now); }

}  // namespace cudnn_ci
