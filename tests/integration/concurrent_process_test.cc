// Cases of a check that is concurrent and not shareable, on a fake GPU: a process each, several at a time.
// What others may have caused counts for nothing, and the case runs again with the GPU for itself.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

class ConcurrentProcess : public testing::Test {
 protected:
  ConcurrentProcess() {
    run_.UseFakeGpus(1);
    run_.Set("LD_LIBRARY_PATH", CUDNN_CI_FAKES "/libcuda:" CUDNN_CI_FAKES "/nvml");
    run_.Set("FAKE_FREE_MB", "80000");
    std::filesystem::create_directory(run_.Path("meet"));
    run_.Set("FIXTURE_MEET", run_.Path("meet"));
  }
  static std::string Cases(int count, const std::string& what, const std::string& params = "",
                           const std::string& rest = "", const std::string& check = "concurrent_process") {
    std::string list;
    for (int i = 0; i < count; ++i) list += (i ? ", " : "") + std::to_string(i);
    return Entry("fixture." + check, R"("axes": {"i": [)" + list + R"(]}, "params": {"what": ")" + what +
                                         "\"" + params + "}" + rest);
  }
  static std::string Id(int i, const std::string& what, const std::string& bad = "m1") {
    return "fixture.concurrent_process[bad=" + bad + ",i=" + std::to_string(i) + ",what=" + what + "]";
  }
  GateResult Gate(const std::string& entries, std::vector<std::string> arguments = {"--workers-per-gpu", "3"},
                  const std::string& jobs = "8") {
    run_.Matrix(entries);
    arguments.insert(arguments.end(), {"--jobs", jobs});
    return run_.Run(arguments);
  }
  // Ends it by a signal as soon as the journal tells of an event, while a case that stays still does.
  GateResult GateUntil(const std::string& event, const std::string& entries) {
    run_.Set("FIXTURE_STAY_MS", "60000");
    run_.Matrix(entries);
    const pid_t pid = run_.Start({"--workers-per-gpu", "3", "--jobs", "8"});
    run_.WaitForEvent(event);
    kill(pid, SIGINT);
    return run_.Wait(pid);
  }
  // The most processes that lived at a time on a GPU, of those that say they are beside others.
  static size_t MostAtATime(const GateResult& result) {
    std::set<int64_t> living;
    size_t most = 0;
    for (const json& e : result.journal) {
      if (e["ev"] == "WorkerStarted" && e["sharing"] > 1) living.insert(e["worker"].get<int64_t>());
      if (e["ev"] == "WorkerEnded") living.erase(e["worker"].get<int64_t>());
      most = std::max(most, living.size());
    }
    return most;
  }
  // Each attempt's mode, and that a confirmation has the GPU for itself.
  static std::vector<std::string> Modes(const GateResult& result) {
    std::vector<std::string> modes;
    std::set<int64_t> living;
    for (const json& e : result.journal) {
      if (e["ev"] == "WorkerStarted" && e["sharing"] > 1) living.insert(e["worker"].get<int64_t>());
      if (e["ev"] == "WorkerEnded") living.erase(e["worker"].get<int64_t>());
      if (e["ev"] != "AttemptStarted") continue;
      modes.push_back(e["mode"]);
      EXPECT_TRUE(e["mode"] != "confirm" || living.empty()) << e;
    }
    std::sort(modes.begin(), modes.end());
    return modes;
  }
  static int64_t Confirmations(const GateResult& result) {
    const std::vector<std::string> modes = Modes(result);
    return std::count(modes.begin(), modes.end(), "confirm");
  }
  GateRun run_;
};

TEST_F(ConcurrentProcess, ThreeOfThemUseOneGpuAtATimeInAProcessEach) {
  const GateResult result = Gate(Cases(6, "meet"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 6);
  EXPECT_EQ(result.report["run"]["workers_per_gpu"], 3);
  EXPECT_EQ(MostAtATime(result), 3u);
  int processes = 0;
  for (const json& e : result.Events("WorkerStarted")) {
    EXPECT_FALSE(e["shared"]) << e;
    processes += e["sharing"] == 3 ? 1 : 0;
  }
  EXPECT_EQ(processes, 6);
  for (const json& e : result.Events("Measurement")) {
    EXPECT_TRUE(e["name"] != "connections" || e["value"] == 0) << "the environment is the image's";
    EXPECT_TRUE(e["name"] != "share_mib" || e["value"] == 20000) << e << ": a fourth, one is left to others";
  }
}

TEST_F(ConcurrentProcess, WhereThereIsNoRoomTheyTakeTurns) {
  const auto expect_one = [&](const std::string& why, const std::vector<std::string>& arguments,
                              const std::string& jobs = "8") {
    const GateResult result = Gate(Cases(4, "single"), arguments, jobs);
    EXPECT_EQ(result.exit_code, 0) << why << result.out;
    EXPECT_EQ(result.report["run"]["workers_per_gpu"], 1) << why;
  };
  const std::vector<std::string> four = {"--workers-per-gpu", "4"};
  expect_one("asked for one", {"--workers-per-gpu", "1"});
  expect_one("nothing is shared", {"--workers-per-gpu", "4", "--isolation", "process"});
  expect_one("no slot", four, "2");
  run_.Set("FAKE_COMPUTE_MODE", "3");
  expect_one("a second context is refused", four);
  run_.Set("FAKE_COMPUTE_MODE", "0");
  run_.Set("LD_LIBRARY_PATH", CUDNN_CI_FAKES "/libcuda");
  expect_one("unknown memory cannot be shared out", four);
  run_.Set("LD_LIBRARY_PATH", CUDNN_CI_FAKES "/libcuda:" CUDNN_CI_FAKES "/nvml");
  run_.Set("FAKE_FREE_MB", "30000");
  expect_one("a small GPU, and nobody asked", {});
}

TEST_F(ConcurrentProcess, ThoseOfAllSubjectsAreCountedTogether) {
  run_.Matrix(Cases(4, "meet", "", "", "concurrent_process_of_subject"), 20,
              R"(, "subjects": {"one": "path:/lib", "two": "path:/usr/lib"})");
  const GateResult result = run_.Run({"--jobs", "8", "--workers-per-gpu", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 8);
  EXPECT_EQ(MostAtATime(result), 3u);
}

// Neither meets one that keeps its device for itself, nor one that a warm worker runs.
TEST_F(ConcurrentProcess, OthersNeverMeetThem) {
  const GateResult result =
      Gate(Cases(3, "pass") + ", " + Cases(2, "single", "", "", "one_worker") + ", " +
           Entry("fixture.exclusive", "") + ", " + Cases(12, "pass", "", "", "concurrent"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
}

TEST_F(ConcurrentProcess, WhatLacksMemoryBesideOthersRunsAgainAlone) {
  const GateResult result = Gate(Cases(4, "short", "", R"(, "allow_skip": ["memory"])"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 4);
  EXPECT_THAT(Modes(result), ElementsAre("concurrent", "concurrent", "concurrent", "concurrent", "confirm",
                                         "confirm", "confirm", "confirm"));
  EXPECT_THAT(result.Case(Id(0, "short"))["findings"], IsEmpty()) << "it is no failure";
}

// However many of a kind there are: none is taken to be like the others.
TEST_F(ConcurrentProcess, WhatCrashesOnlyBesideOthersPasses) {
  const GateResult result = Gate(Cases(5, "crash"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 5);
  EXPECT_EQ(Confirmations(result), 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(result.Flags(Id(i, "crash")), IsEmpty());
    EXPECT_EQ(result.Case(Id(i, "crash"))["findings"][0]["slug"], "failed-beside-others");
  }
  EXPECT_TRUE(result.report["devices_lost"].empty());
  EXPECT_THAT(result.junit, testing::Not(testing::HasSubstr("flaky"))) << "what counts for nothing is no try";
}

TEST_F(ConcurrentProcess, WhatIsFoundOnlyBesideOthersStaysAsANote) {
  const GateResult result = Gate(Cases(2, "find"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(Modes(result), ElementsAre("concurrent", "concurrent", "confirm", "confirm"));
  const json found = result.Case(Id(0, "find"))["findings"];
  ASSERT_EQ(found.size(), 2u) << found;
  EXPECT_EQ(found[0]["slug"], "fixture-image");
  EXPECT_EQ(found[1]["slug"], "failed-beside-others");
  for (const json& finding : found) EXPECT_EQ(finding["severity"], "note");
}

// No other process makes a computed result wrong.
TEST_F(ConcurrentProcess, AWrongResultCountsAtOnce) {
  const GateResult result = Gate(Cases(2, "result"));
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(Modes(result), ElementsAre("concurrent", "concurrent"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(result.Outcome(Id(i, "result")), "failed");
    EXPECT_EQ(result.Errors(Id(i, "result")), "image.fixture-result");
  }
}

TEST_F(ConcurrentProcess, AWrongResultBesideAnotherErrorIsAskedAgain) {
  const GateResult result = Gate(Cases(2, "both"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(Modes(result), ElementsAre("concurrent", "concurrent", "confirm", "confirm"));
}

TEST_F(ConcurrentProcess, WhatIsFoundBeforeTheRunEndsBlamesNobody) {
  const GateResult result = GateUntil("Step", Cases(1, "find_stay") + ", " + Cases(1, "stay"));
  EXPECT_EQ(result.exit_code, 130) << result.out;
  EXPECT_EQ(result.Errors(Id(0, "find_stay")), "undetermined.cancelled");
  EXPECT_EQ(result.Case(Id(0, "find_stay"))["findings"][0]["severity"], "note");
}

TEST_F(ConcurrentProcess, WhatFailsAloneTooIsRed) {
  const GateResult result = Gate(Cases(5, "fail") + ", " + Cases(3, "pass", R"(, "bad": 1)"));
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_EQ(result.report["totals"]["failed"], 5);
  EXPECT_EQ(result.report["totals"]["errored"], 1);
  EXPECT_EQ(result.report["totals"]["passed"], 2);
  EXPECT_EQ(Confirmations(result), 6);
  for (int i = 0; i < 5; ++i) EXPECT_THAT(result.Flags(Id(i, "fail")), Contains("confirmed-alone"));
  EXPECT_THAT(result.Flags(Id(1, "pass", "1")), Contains("confirmed-alone"));
}

// The canary that decides whose fault the crash is has the GPU for itself.
TEST_F(ConcurrentProcess, NoneBeginsBesideOthersOnASuspectGpu) {
  const GateResult result =
      Gate(Cases(1, "stay") + ", " + Cases(1, "crash") + ", " + Cases(2, "pass"), {"--workers-per-gpu", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  std::vector<std::string> order;
  for (const json& e : result.journal) {
    if (e["ev"] == "AttemptFinished" && e["id"] == Id(0, "stay")) order.push_back("stayed");
    if (e["ev"] == "AttemptStarted" && (e["id"] == Id(0, "pass") || e["id"] == Id(1, "pass")))
      order.push_back("pass");
  }
  EXPECT_THAT(order, ElementsAre("stayed", "pass", "pass"));
}

TEST_F(ConcurrentProcess, ALostGpuIsLostForAllOfThem) {
  run_.Set("FAKE_CANARY", "wrong");
  const GateResult result = Gate(Cases(6, "pass", R"(, "bad": 1)"));
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_EQ(result.report["devices_lost"].size(), 1u);
  EXPECT_THAT(run_.LeftAfter(1), IsEmpty());
}

// What the others' share is of does not matter to it.
TEST_F(ConcurrentProcess, OnlyASkipForMemoryRunsAgainAlone) {
  const GateResult result = Gate(Cases(2, "absent", "", R"(, "allow_skip": ["absent"])"));
  EXPECT_EQ(result.report["totals"]["skipped"], 2) << result.out;
  EXPECT_THAT(Modes(result), ElementsAre("concurrent", "concurrent"));
}

TEST_F(ConcurrentProcess, AnExpectationThatHoldsAloneIsMet) {
  const GateResult result = Gate(Cases(2, "expect"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(Modes(result), ElementsAre("concurrent", "concurrent", "confirm", "confirm"));
}

// Alone it crashes in the step again, and then goes on without it.
TEST_F(ConcurrentProcess, AStepIsLeftOutOnlyForWhatItDoesAlone) {
  const GateResult result = Gate(Cases(2, "step"));
  EXPECT_EQ(result.report["totals"]["errored"], 2) << result.out;
  EXPECT_THAT(Modes(result), ElementsAre("alone", "alone", "concurrent", "concurrent", "confirm", "confirm"));
  for (int i = 0; i < 2; ++i) EXPECT_THAT(result.Flags(Id(i, "step")), Contains("step-skipped"));
}

TEST_F(ConcurrentProcess, ACrashBesideOthersBlamesNobodyWhenTheRunEndsBeforeItsTurnAlone) {
  const GateResult result = GateUntil("AttemptFinished", Cases(1, "crash") + ", " + Cases(1, "stay"));
  EXPECT_EQ(result.exit_code, 130) << result.out;
  EXPECT_EQ(result.Outcome(Id(0, "crash")), "errored");
  EXPECT_EQ(result.Errors(Id(0, "crash")), "undetermined.cancelled");
  EXPECT_THAT(result.Case(Id(0, "crash"))["findings"][0]["detail"].get<std::string>(),
              testing::HasSubstr("SIGSEGV"));
}

// It has no outcome when the run ends before its turn alone comes, and is red.
TEST_F(ConcurrentProcess, WhatWasNotRunAgainIsNoPass) {
  const GateResult result = GateUntil("AttemptFinished", Cases(1, "find") + ", " + Cases(1, "stay"));
  EXPECT_EQ(result.exit_code, 130) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 0);
  EXPECT_EQ(result.report["totals"]["not_run"], 1);
  EXPECT_EQ(result.Case(Id(0, "find"))["findings"][0]["slug"], "fixture-image");
}

}  // namespace
}  // namespace cudnn_ci
