// The monotonic clock less the pauses in which this process could not run: SIGSTOP, a frozen cgroup, a
// suspended virtual machine, no processor time, a disk that did not answer. Deadlines of other processes
// follow it, because whatever stopped this process has most likely stopped them too.
#ifndef CUDNN_CI_BASE_RUNNING_CLOCK_H_
#define CUDNN_CI_BASE_RUNNING_CLOCK_H_

#include <cstdint>
#include <functional>

namespace cudnn_ci {

// Of one thread, which asks often. A gap between two questions is a pause as far as it is longer than
//   the wait that was announced + the processor time of this thread in it + kTolerance,
// so that the clock goes on by that much even if every gap has a pause in it: nothing lasts for ever.
class RunningClock {
 public:
  static constexpr int64_t kToleranceNs = 100'000'000;  // of timers and schedulers on a busy machine

  // Nanoseconds, from any beginning.
  struct Sources {
    std::function<int64_t()> wall, processor;
  };
  RunningClock();  // CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID
  explicit RunningClock(Sources sources);

  // Now: CLOCK_MONOTONIC less all pauses so far.
  int64_t NowNs();
  // The thread is about to wait, for so long at most.
  void Waiting(int64_t ns);
  // All pauses so far.
  int64_t PausedNs() const { return paused_ns_; }

 private:
  const Sources sources_;
  int64_t last_ns_, processor_ns_, announced_ns_ = 0, paused_ns_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_RUNNING_CLOCK_H_
