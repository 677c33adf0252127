// Threads live for one call only: a worker process is watched for what its checks leave behind.
#include "common/numeric/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace cudnn_ci {
namespace {

constexpr int kMaxThreads = 16;

// What the threads of one ParallelFor share.
class Work {
 public:
  Work(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body)
      : count_(count), grain_(grain), body_(body) {}

  void Run() {
    try {
      for (;;) {
        const std::int64_t begin = next_.fetch_add(grain_);
        if (begin >= count_) return;
        body_(begin, std::min(begin + grain_, count_));
      }
    } catch (...) {
      next_ = count_;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void RethrowFailure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::int64_t count_, grain_;
  const std::function<void(std::int64_t, std::int64_t)>& body_;
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

int UsableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails on machines with more CPUs than the set holds; such a machine has enough of them.
  if (sched_getaffinity(0, sizeof set, &set) != 0) return kMaxThreads;
  return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
}

void ParallelFor(std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t, std::int64_t)>& body, int threads) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  Work work(count, grain, body);
  const std::int64_t ranges = (count + grain - 1) / grain;
  const std::int64_t wanted = std::min<std::int64_t>(threads > 0 ? threads : UsableCpus(), ranges);
  std::vector<std::thread> others;
  others.reserve(static_cast<std::size_t>(wanted));
  for (std::int64_t i = 1; i < wanted; ++i) {
    try {
      others.emplace_back([&work] { work.Run(); });
    } catch (const std::system_error&) {
      break;  // a limit on threads: those that exist do the work
    }
  }
  work.Run();
  for (std::thread& t : others) t.join();
  work.RethrowFailure();
}

}  // namespace cudnn_ci
