#include "base/running_clock.h"

#include <ctime>
#include <utility>

#include "base/time.h"

namespace cudnn_ci {
namespace {

int64_t ThreadProcessorNs() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace

RunningClock::RunningClock() : RunningClock({MonotonicNs, ThreadProcessorNs}) {}

RunningClock::RunningClock(Sources sources)
    : sources_(std::move(sources)), last_ns_(sources_.wall()), processor_ns_(sources_.processor()) {}

int64_t RunningClock::NowNs() {
  const int64_t now = sources_.wall();
  const int64_t late = now - last_ns_ - announced_ns_ - kToleranceNs;
  if (late > 0) {
    const int64_t processor = sources_.processor();
    const int64_t paused = late - (processor - processor_ns_);
    if (paused > 0) paused_ns_ += paused;
    processor_ns_ = processor;
  }
  last_ns_ = now;
  announced_ns_ = 0;
  return now - paused_ns_;
}

void RunningClock::Waiting(int64_t ns) {
  NowNs();
  // Read here alone, once a turn: it is a system call.
  processor_ns_ = sources_.processor();
  announced_ns_ = ns;
}

}  // namespace cudnn_ci
