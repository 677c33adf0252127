// Processes that prepare cases and then run none, or not yet: they end at once, and are no one's fault.
#include <gmock/gmock.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "gate_run.h"
#include "small_group.h"

namespace cudnn_ci {
namespace {

using testing::IsEmpty;

class PreparationEnds : public testing::Test {
 protected:
  PreparationEnds() {
    run_.UseFakeGpus(1);
    run_.Set("LD_LIBRARY_PATH", CUDNN_CI_FAKES "/libcuda:" CUDNN_CI_FAKES "/nvml");
    run_.Set("FAKE_FREE_MB", "40000");
    std::filesystem::create_directory(run_.Path("meet"));
    run_.Set("FIXTURE_MEET", run_.Path("meet"));
    run_.Set("FIXTURE_WAITS", "door");
    run_.Set("FIXTURE_PREPARED", "3");  // the door waits for them
  }
  // Six cases of the check.
  static std::string Cases(const std::string& check, const std::string& how, const std::string& rest = "") {
    return Entry(check, R"("axes": {"i": [0, 1, 2, 3, 4, 5]}, "params": {"how": ")" + how + "\"}" + rest);
  }
  GateResult Gate(const std::string& checks) {
    run_.Matrix(checks);
    return run_.Run(arguments_);
  }
  // Those that end red themselves.
  static std::vector<std::string> Red(const GateResult& result) {
    std::vector<std::string> red;
    for (const json& c : result.report["cases"])
      if (c["outcome"] != "passed" && c["outcome"] != "blocked") red.push_back(c["id"]);
    return red;
  }
  static size_t PlaceOf(const GateResult& result, const char* kind, const std::string& id) {
    for (size_t i = 0; i < result.journal.size(); ++i)
      if (result.journal[i]["ev"] == kind && result.journal[i].value("id", "") == id) return i;
    return SIZE_MAX;
  }
  const std::vector<std::string> arguments_ = {"--workers-per-gpu", "3", "--jobs", "8", "--time-limit", "60"};
  GateRun run_;
};

// The canary decides whose fault a crash is: a process that prepares a case could not answer it.
TEST_F(PreparationEnds, ItSaysNothingOfTheGpu) {
  for (const char* how : {"fall", "hang"}) {
    const GateResult result =
        Gate(Entry("fixture.door") + ", " + Entry("fixture.gpu", R"("params": {"how": "crash"})") + ", " +
             Cases("fixture.prepared", how, R"(, "timeout_s": 20)"));
    EXPECT_THAT(result.Events("DeviceLost"), IsEmpty()) << how;
    EXPECT_THAT(Red(result), testing::ElementsAre("fixture.gpu[how=crash,i=0]")) << how;
    EXPECT_EQ(result.Errors("fixture.gpu[how=crash,i=0]"), "harness.crashed") << how;
  }
}

TEST_F(PreparationEnds, ASignalToTheRunEndsItAtOnce) {
  run_.Set("FIXTURE_PREPARED", "99");
  run_.Matrix(Cases("fixture.prepared", "hang"));
  const pid_t pid = run_.Start(arguments_);
  for (int i = 0; i < 1000 && !run_.Exists("meet/prepared-2"); ++i) {
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  const auto start = std::chrono::steady_clock::now();
  kill(pid, SIGTERM);
  const GateResult result = run_.Wait(pid);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(result.exit_code, 128 + SIGTERM);
  EXPECT_THAT(run_.LeftAfter(1), IsEmpty());
}

// The workers' turn has come, and the cases that they prepare are blocked then.
TEST_F(PreparationEnds, ThatOfABlockedCaseIsNoFault) {
  run_.Set("FIXTURE_LATE_DOOR", "shut");
  run_.Set("FIXTURE_PREPARED", "2");
  const auto start = std::chrono::steady_clock::now();
  const GateResult result = Gate(Entry("fixture.prepared") + ", " + Cases("fixture.prepared_late", "hang"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(9));
  EXPECT_THAT(Red(result), testing::ElementsAre("fixture.late_door"));
  for (const json& e : result.Events("Finding")) EXPECT_NE(e["finding"]["slug"], "worker-exit") << e;
}

TEST_F(PreparationEnds, OutputWithoutEndIsNoFault) {
  run_.Set("FIXTURE_DOOR_TAKES", "1");  // and its time
  const GateResult result = Gate(Cases("fixture.prepared", "flood"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.Events("Finding"), IsEmpty());
}

// Other cases have work for processes all the time.
TEST_F(PreparationEnds, ACaseIsPreparedOnce) {
  std::string cases;
  for (int i = 0; i < 150; ++i) cases += (i ? ", " : "") + std::to_string(i);
  const GateResult result = Gate(Entry("fixture.concurrent", R"("axes": {"i": [)" + cases + "]}") + ", " +
                                 Cases("fixture.prepared_late", "crash"));
  EXPECT_EQ(result.report["totals"]["passed"], 150 + 2) << result.out;
  // The doors, the first three, what takes their place, and one for each case that crashed.
  EXPECT_LE(result.Events("WorkerStarted").size(), 2u + 3u + 6u + 6u);
}

// It has memory of the GPU, and a place that others could have.
TEST_F(PreparationEnds, WhenTheDoorStaysShut) {
  run_.Set("FIXTURE_DOOR", "shut");
  const GateResult result = Gate(Entry("fixture.exclusive") + ", " + Cases("fixture.prepared", "well"));
  const size_t end = PlaceOf(result, "AttemptFinished", "fixture.exclusive");
  ASSERT_NE(end, SIZE_MAX);
  size_t shared = 0, ended = 0;
  std::vector<json> waiting;
  for (size_t i = 0; i < end; ++i) {
    const json& e = result.journal[i];
    if (e["ev"] == "WorkerStarted" && e["shared"] == true) {
      ++shared;
      waiting.push_back(e["worker"]);
    }
    if (e["ev"] == "WorkerEnded") ended += std::count(waiting.begin(), waiting.end(), e["worker"]);
  }
  EXPECT_GE(shared, 3u);
  EXPECT_EQ(ended, shared);
}

TEST_F(PreparationEnds, TheCaseThatLeadsAWorkerDoesNotWaitForIt) {
  run_.Set("FIXTURE_PREPARED", "");
  const GateResult result =
      Gate(Entry("fixture.first") + ", " + Entry("fixture.led") + ", " + Cases("fixture.prepared", "late"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  const size_t first = PlaceOf(result, "AttemptStarted", "fixture.first");
  ASSERT_NE(first, SIZE_MAX);
  for (size_t i = 0; i < first; ++i)
    EXPECT_FALSE(result.journal[i]["ev"] == "AttemptStarted" &&
                 result.journal[i]["id"].get<std::string>().find("prepared") != std::string::npos)
        << result.journal[i];
}

// What only saves time goes before a case does.
TEST_F(PreparationEnds, WhereTheHostsMemoryIsShort) {
  const SmallGroup group = SmallGroup::OfMemory(512 << 20);
  if (!group.why().empty()) GTEST_SKIP() << group.why();
  run_.Before(group.Words());
  run_.Set("FIXTURE_DOOR_TAKES", "300");
  const GateResult result = Gate(Cases("fixture.prepared", "fill"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.Events("Finding"), IsEmpty());
  size_t short_of_memory = 0;
  for (const json& e : result.Events("WorkerEnded")) short_of_memory += e.value("why", "") == "out_of_memory";
  EXPECT_GE(short_of_memory, 1u) << "else there was nothing to see";
}

}  // namespace
}  // namespace cudnn_ci
