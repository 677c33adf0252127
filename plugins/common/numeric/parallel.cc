// Threads that wait from call to call: to start sixteen of them takes longer than most of what they do. They
// hold nothing between calls, and end with the process, which never waits for them.
#include "common/numeric/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace cudnn_ci {
namespace {

constexpr int kMaxThreads = 16;

std::atomic<int> g_most = kMaxThreads;

// What the threads of one ParallelFor share. `body` is used for claimed ranges alone, and the caller waits
// for those: a thread that comes late finds none and touches nothing of the caller's.
class Work {
 public:
  using Body = std::function<void(std::int64_t, std::int64_t)>;
  Work(std::int64_t count, std::int64_t grain, const Body& body)
      : count_(count), grain_(grain), body_(body) {}

  // Until no range is left.
  void Run() {
    std::int64_t begin = 0, end = 0;
    while (Claim(&begin, &end)) {
      std::exception_ptr failure;
      try {
        body_(begin, end);
      } catch (...) {
        failure = std::current_exception();
      }
      Finish(failure);
    }
  }

  // Until no range runs and none is left. Throws the first exception of a body.
  void Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return IsDone(); });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  bool IsDone() const { return running_ == 0 && next_ >= count_; }

  bool Claim(std::int64_t* begin, std::int64_t* end) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (next_ >= count_) return false;
    *begin = next_;
    *end = next_ = std::min(next_ + grain_, count_);
    ++running_;
    return true;
  }

  void Finish(const std::exception_ptr& failure) {
    const std::lock_guard<std::mutex> lock(mutex_);
    --running_;
    if (failure) next_ = count_;
    if (failure && !failure_) failure_ = failure;
    if (IsDone()) done_.notify_all();
  }

  const std::int64_t count_, grain_;
  const Body& body_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::int64_t next_ = 0, running_ = 0;
  std::exception_ptr failure_;
};

// The waiting threads of this process.
class Helpers {
 public:
  // Never destroyed: at exit its threads still wait in it.
  static Helpers& Get() {
    static Helpers* const kHelpers = new Helpers;
    return *kHelpers;
  }

  // Has up to `wanted` threads join the work, now or when they are free. Where no more can be made, those
  // that exist do it, and be it the caller alone.
  void Join(const std::shared_ptr<Work>& work, std::int64_t wanted) {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (threads_ < wanted && MakeThread()) ++threads_;
    for (std::int64_t i = 0; i < std::min(wanted, threads_); ++i) {
      queue_.push_back(work);
      came_.notify_one();
    }
  }

 private:
  bool MakeThread() {
    try {
      std::thread([this] { Serve(); }).detach();
      return true;
    } catch (const std::system_error&) {
      return false;  // a limit on threads
    }
  }

  [[noreturn]] void Serve() {
    for (;;) {
      std::shared_ptr<Work> work;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        came_.wait(lock, [this] { return !queue_.empty(); });
        work = std::move(queue_.front());
        queue_.pop_front();
      }
      work->Run();
    }
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::shared_ptr<Work>> queue_;
  std::int64_t threads_ = 0;
};

}  // namespace

int UsableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails on machines with more CPUs than the set holds; such a machine has enough of them.
  if (sched_getaffinity(0, sizeof set, &set) != 0) return g_most;
  return std::clamp<int>(CPU_COUNT(&set), 1, g_most);
}

void LimitCpus(int most) { g_most = most > 0 ? std::min(most, kMaxThreads) : kMaxThreads; }

void ParallelFor(std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t, std::int64_t)>& body, int threads) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t ranges = (count + grain - 1) / grain;
  const std::int64_t wanted = std::min<std::int64_t>(threads > 0 ? threads : UsableCpus(), ranges);
  // Shared, because a helper may look for a range after the caller has gone.
  const auto work = std::make_shared<Work>(count, grain, body);
  if (wanted > 1) Helpers::Get().Join(work, wanted - 1);
  work->Run();
  work->Await();
}

}  // namespace cudnn_ci
