// The pool with a process that the test plays: through the seam that starts processes.
#include <gtest/gtest.h>
#include <limits.h>
#include <unistd.h>

#include "base/time.h"
#include "exec/workers/pool.h"
#include "scratch.h"
#include "wire/message.h"
#include "wire/socket.h"

namespace cudnn_ci {
namespace {

constexpr int kPackets = 150;  // more than the pool reads of one process at a time

// Sends all it has to say and ends with 0 before anybody looks.
class QuickProcess : public ProcessControl {
 public:
  Result<pid_t> Spawn(const SpawnRequest& request) override {
    for (int i = 0; i < kPackets; ++i)
      if (wire::Send(request.control_fd, wire::Encode(wire::FromWorker(wire::Fact{"key", "value"}))) !=
          wire::Io::kOk)
        return Error{"the socket holds no more"};
    return INT_MAX;  // nobody's
  }
  bool HasExited(pid_t) override { return true; }
  void Signal(pid_t, int) override {}
  ExitStatus Reap(pid_t) override { return {}; }
  bool SweepStrays(const std::set<pid_t>&) override { return false; }
  std::vector<std::string> EndStrays(double) override { return {}; }
};

class CountingWorker : public Worker {
 public:
  explicit CountingWorker(int* messages) : Worker(WorkerLimits{}), messages_(messages) {}
  bool idle() const override { return false; }

 protected:
  void OnMessage(const wire::FromWorker&, int64_t, Effects*) override { ++*messages_; }
  void CheckTask(int64_t, Effects*) override {}
  int64_t TaskDeadlineNs() const override { return INT64_MAX; }
  void OnEnded(const ExitStatus&, bool, bool, int64_t, Effects*) override {}
  void OnAbandoned(int64_t, Effects*) override {}

 private:
  int* const messages_;
};

class Client : public PoolClient {
 public:
  void OnEffect(Worker*, Effect) override {}
  void OnEnded(Worker*, const ExitStatus&) override { ended = true; }
  void OnSignal(int) override {}
  void OnPaused(double seconds) override { paused_s += seconds; }
  bool ended = false;
  double paused_s = 0;
};

TEST(Pool, WhatAProcessHadSentBeforeItEndedIsReadToTheLast) {
  const Scratch scratch;
  QuickProcess control;
  Client client;
  int messages = 0;
  Pool pool(&control, -1, scratch.path(), &client);
  const auto started = pool.Start({}, std::make_unique<CountingWorker>(&messages));
  ASSERT_TRUE(started.ok()) << started.error();
  const int64_t give_up = MonotonicNs() + 30'000'000'000;
  while (!client.ended && MonotonicNs() < give_up) pool.Turn(give_up);
  EXPECT_TRUE(client.ended);
  EXPECT_EQ(messages, kPackets);
}

// Lives until it was asked for four times; the first question keeps the pool itself from running.
class StallingProcess : public ProcessControl {
 public:
  Result<pid_t> Spawn(const SpawnRequest& request) override {
    socket_ = Fd(dup(request.control_fd));
    return INT_MAX;
  }
  bool HasExited(pid_t) override {
    if (asked_ == 0) usleep(2'500'000);
    return ++asked_ >= 4;
  }
  void Signal(pid_t, int) override {}
  ExitStatus Reap(pid_t) override { return {}; }
  bool SweepStrays(const std::set<pid_t>&) override { return false; }
  std::vector<std::string> EndStrays(double) override { return {}; }

 private:
  Fd socket_;
  int asked_ = 0;
};

// Notes the times that it is told.
class TimedWorker : public CountingWorker {
 public:
  TimedWorker(int* messages, int64_t* first_ns, int64_t* last_ns)
      : CountingWorker(messages), first_ns_(first_ns), last_ns_(last_ns) {}

 protected:
  void CheckTask(int64_t now_ns, Effects*) override {
    if (*first_ns_ == 0) *first_ns_ = now_ns;
    *last_ns_ = now_ns;
  }

 private:
  int64_t *const first_ns_, *const last_ns_;
};

TEST(Pool, ItsClockStandsStillWhileItCannotRun) {
  const Scratch scratch;
  StallingProcess control;
  Client client;
  int messages = 0;
  int64_t first_ns = 0, last_ns = 0;
  Pool pool(&control, -1, scratch.path(), &client);
  const int64_t begin = MonotonicNs(), give_up = begin + 60'000'000'000;
  ASSERT_TRUE(pool.Start({}, std::make_unique<TimedWorker>(&messages, &first_ns, &last_ns)).ok());
  while (!client.ended && MonotonicNs() < give_up) pool.Turn(give_up);
  EXPECT_TRUE(client.ended);
  EXPECT_GE(client.paused_s, 2);
  EXPECT_LT(last_ns - first_ns, MonotonicNs() - begin - 2'000'000'000);
}

}  // namespace
}  // namespace cudnn_ci
