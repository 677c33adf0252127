// Work spread over threads that wait from call to call.
#include "common/numeric/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <future>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "common/numeric/same_bytes.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ParallelForTest, CoversEveryItemOnceAndPassesExceptionsOn) {
  std::vector<int> seen(1000);
  ParallelFor(
      1000, 7,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      },
      8);
  EXPECT_THAT(seen, testing::Each(1));
  const auto fail = [](std::int64_t begin, std::int64_t) {
    if (begin == 500) throw std::runtime_error("at 500");
  };
  EXPECT_THAT([&] { ParallelFor(1000, 1, fail, 8); }, ThrowsMessage<std::runtime_error>(HasSubstr("at 500")));
}

TEST(ParallelForTest, ThreadsWaitForTheNextCall) {
  std::mutex mutex;
  std::set<pid_t> threads;
  for (int call = 0; call < 100; ++call)
    ParallelFor(
        64, 1,
        [&](std::int64_t, std::int64_t) {
          const std::lock_guard<std::mutex> lock(mutex);
          threads.insert(gettid());
        },
        4);
  // Ids of threads are not used again soon. Those that wait may be more than a call asks for.
  EXPECT_LE(threads.size(), 8u);
}

TEST(ParallelForTest, CallsWithinCallsAndFromManyThreadsEnd) {
  std::atomic<int> items{0};
  const auto outer = [&](std::int64_t, std::int64_t) {
    ParallelFor(
        20, 1, [&](std::int64_t begin, std::int64_t end) { items += static_cast<int>(end - begin); }, 4);
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) callers.emplace_back([&] { ParallelFor(10, 1, outer, 4); });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(items, 4 * 10 * 20);
}

// What a caller owns must not be touched by a helper that comes when it has gone.
TEST(ParallelForTest, ACallEndsWithoutWaitingForHelpersThatAreBusy) {
  std::promise<void> let_go;
  const std::shared_future<void> gone = let_go.get_future().share();
  std::atomic<int> held{0};
  std::thread holder([&] {
    ParallelFor(
        8, 1,
        [&](std::int64_t, std::int64_t) {
          ++held;
          gone.wait();
        },
        8);
  });
  while (held < 8) std::this_thread::yield();
  std::vector<int> seen(100);
  ParallelFor(
      100, 1, [&](std::int64_t begin, std::int64_t) { ++seen[static_cast<std::size_t>(begin)]; }, 8);
  EXPECT_THAT(seen, testing::Each(1));
  let_go.set_value();
  holder.join();
}

TEST(ParallelForTest, KeepsToAShareOfTheCpus) {
  const int all = UsableCpus();
  LimitCpus(1);
  EXPECT_EQ(UsableCpus(), 1);
  const std::thread::id self = std::this_thread::get_id();
  std::atomic<int> others = 0;
  ParallelFor(64, 1, [&](std::int64_t, std::int64_t) { others += std::this_thread::get_id() != self; });
  EXPECT_EQ(others, 0);
  LimitCpus(0);
  EXPECT_EQ(UsableCpus(), all);
}

TEST(SameBytesTest, TheFirstDifferenceIsFoundAnywhere) {
  std::vector<unsigned char> a(5'000'001, 7), b = a;
  EXPECT_EQ(FirstDifference(a.data(), b.data(), a.size()), a.size());
  EXPECT_EQ(FirstDifference(a.data(), b.data(), 0), 0u);
  for (const std::size_t place :
       {a.size() - 1, std::size_t{3} << 20, (std::size_t{2} << 20) - 1, std::size_t{0}}) {
    b[place] ^= 1;  // those behind it differ already
    EXPECT_EQ(FirstDifference(a.data(), b.data(), a.size()), place);
  }
}

}  // namespace
}  // namespace cudnn_ci
