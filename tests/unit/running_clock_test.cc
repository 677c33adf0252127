// The clock that stands still while its process does, with clocks below it that the test moves.
#include "base/running_clock.h"

#include <gtest/gtest.h>

namespace cudnn_ci {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kTolerance = RunningClock::kToleranceNs;

struct Machine {
  int64_t wall = 1000 * kMs, processor = 0;
  RunningClock::Sources Sources() {
    return {[this] { return wall; }, [this] { return processor; }};
  }
  void Sleep(int64_t ns) { wall += ns; }
  void Work(int64_t ns) { wall += ns, processor += ns; }
};

TEST(RunningClock, GoesWithTheWallWhileTheThreadRuns) {
  Machine machine;
  RunningClock clock(machine.Sources());
  for (int i = 0; i < 1000; ++i) {
    clock.Waiting(500 * kMs);
    machine.Sleep(500 * kMs + kTolerance);
    clock.NowNs();
    machine.Sleep(kTolerance);
  }
  EXPECT_EQ(clock.NowNs(), machine.wall);
  EXPECT_EQ(clock.PausedNs(), 0);
}

TEST(RunningClock, StandsStillWhereAWaitIsLateAndWhereNoneWasAnnounced) {
  Machine machine;
  RunningClock clock(machine.Sources());
  clock.Waiting(50 * kMs);
  machine.Sleep(5000 * kMs);
  EXPECT_EQ(clock.NowNs(), machine.wall - 4950 * kMs + kTolerance);
  const int64_t before = clock.NowNs();
  machine.Sleep(3000 * kMs);
  EXPECT_EQ(clock.NowNs(), before + kTolerance);
  EXPECT_EQ(clock.PausedNs(), 7950 * kMs - 2 * kTolerance);
}

TEST(RunningClock, AnAnnouncedWaitCountsOnce) {
  Machine machine;
  RunningClock clock(machine.Sources());
  clock.Waiting(1000 * kMs);
  machine.Sleep(1 * kMs);
  const int64_t before = clock.NowNs();
  machine.Sleep(1000 * kMs);
  EXPECT_EQ(clock.NowNs(), before + kTolerance);
}

TEST(RunningClock, WorkIsNoPause) {
  Machine machine;
  RunningClock clock(machine.Sources());
  clock.Waiting(0);
  machine.Work(5000 * kMs);
  EXPECT_EQ(clock.NowNs(), machine.wall);
  machine.Work(5000 * kMs);
  machine.Sleep(kTolerance + 7 * kMs);
  EXPECT_EQ(clock.NowNs(), machine.wall - 7 * kMs);
}

TEST(RunningClock, WorkBeforeAWaitExcusesNoPauseInIt) {
  Machine machine;
  RunningClock clock(machine.Sources());
  machine.Work(5000 * kMs);
  clock.Waiting(0);
  machine.Sleep(4000 * kMs);
  clock.NowNs();
  EXPECT_EQ(clock.PausedNs(), 4000 * kMs - kTolerance);
}

// Whoever stops and continues the process all the time delays what it waits for, and no more.
TEST(RunningClock, GoesOnThroughPausesWithoutEnd) {
  Machine machine;
  RunningClock clock(machine.Sources());
  const int64_t begin = clock.NowNs();
  for (int i = 1; i <= 100; ++i) {
    clock.Waiting(10 * kMs);
    machine.Sleep(60'000 * kMs);
    EXPECT_EQ(clock.NowNs(), begin + i * (10 * kMs + kTolerance));
  }
}

}  // namespace
}  // namespace cudnn_ci
