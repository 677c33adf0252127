// Clocks. Durations come from the monotonic clock; the wall clock is for time stamps alone.
#ifndef CUDNN_CI_BASE_TIME_H_
#define CUDNN_CI_BASE_TIME_H_

#include <cstdint>
#include <string>

namespace cudnn_ci {

// Nanoseconds of CLOCK_MONOTONIC.
int64_t MonotonicNs();

// Now in UTC, "2026-01-31T10:00:00Z".
std::string UtcTimestamp();

// Today in UTC, "2026-01-31"; or the day so many days from now.
std::string UtcDate(int days_from_now = 0);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_TIME_H_
