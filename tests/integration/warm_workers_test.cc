// What a shared process may say, what is looked at again, and that no second look makes a red green.
#include <gmock/gmock.h>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::Contains;

std::string Numbers(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i ? ", " : "") + std::to_string(i);
  return "[" + list + "]";
}
std::string Many(const std::string& check, int count, const std::string& rest = "") {
  return Entry("fixture." + check, "\"axes\": {\"i\": " + Numbers(count) + "}" + rest);
}
std::string Id(const std::string& check, int i) {
  return "fixture." + check + "[i=" + std::to_string(i) + "]";
}

// Attempts that were made in a mode ("shared", "confirm", "alone", "retry").
int Attempts(const GateResult& result, const std::string& mode) {
  int n = 0;
  for (const json& e : result.Events("AttemptStarted")) n += e["mode"] == mode;
  return n;
}

TEST(WarmWorkers, RunManyCasesInOneProcess) {
  GateRun run;
  run.Matrix(Many("noop", 200));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.report["totals"]["passed"], 200);
  EXPECT_EQ(result.Events("WorkerStarted").size(), 1u);
}

TEST(WarmWorkers, AreNotUsedInIsolationByProcess) {
  GateRun run;
  run.Matrix(Many("noop", 5));
  EXPECT_EQ(run.Run({"--isolation", "process"}).Events("WorkerStarted").size(), 5u);
}

// What one process leaves in its scratch folder, no other finds: the file is made with O_EXCL.
TEST(WarmWorkers, EveryProcessHasAnEmptyScratchFolder) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/raw");
  run.Matrix(Entry("raw.scratch", R"("name": "a")") + ", " + Entry("raw.scratch", R"("name": "b")") + ", " +
             Entry("raw.passes") + ", " + Entry("raw.scratch", R"("name": "c")"));
  const GateResult result = run.Run({"--isolation", "process", "--jobs", "1"});
  EXPECT_EQ(result.report["totals"]["passed"], 4) << result.out;
}

TEST(WarmWorkers, WhatFailsInASharedProcessAndPassesAloneIsOrderDependentAndNeverGreen) {
  GateRun run;
  run.Matrix(Many("order", 4));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.Outcome(Id("order", 0)), "passed");
  EXPECT_EQ(result.Outcome(Id("order", 1)), "failed");
  EXPECT_THAT(result.Errors(Id("order", 1)), testing::HasSubstr("undetermined.order-dependent"));
  EXPECT_THAT(result.Flags(Id("order", 1)), Contains("order-dependent"));
}

TEST(WarmWorkers, ACrashInASharedProcessThatDoesNotHappenAloneIsOrderDependent) {
  GateRun run;
  run.Matrix(Many("crash_order", 2));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.Outcome(Id("crash_order", 1)), "failed");
}

TEST(WarmWorkers, ACrashChargesTheSuspectAloneAndTheRestRunOn) {
  GateRun run;
  run.Matrix(Many("crash_shared", 40, R"(, "params": {"bad": [3]})"));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.report["totals"]["passed"], 39);
  EXPECT_EQ(result.Outcome("fixture.crash_shared[bad=3,i=3]"), "errored");
  EXPECT_THAT(result.Flags("fixture.crash_shared[bad=3,i=3]"), Contains("confirmed-alone"));
  // The first, the confirmation, and one for the rest.
  EXPECT_EQ(result.Events("WorkerStarted").size(), 3u);
  EXPECT_EQ(Attempts(result, "confirm"), 1);
}

TEST(WarmWorkers, AHangInASharedProcessIsConfirmedAloneAndTheRestRunOn) {
  GateRun run;
  run.Matrix(Many("hang_shared", 6, R"(, "params": {"bad": [3]})"), 0.4);
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.report["totals"]["passed"], 5);
  EXPECT_EQ(result.Errors("fixture.hang_shared[bad=3,i=3]"), "image.timed-out");
}

TEST(WarmWorkers, AfterThreeConfirmationsOfAKindLaterOnesAreTakenAsTheyAreAndMarked) {
  GateRun run;
  run.Matrix(Many("fail_shared", 10));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.report["totals"]["failed"], 10);
  int confirmed = 0, unconfirmed = 0;
  for (int i = 0; i < 10; ++i)
    for (const std::string& flag : result.Flags(Id("fail_shared", i))) {
      confirmed += flag == "confirmed-alone";
      unconfirmed += flag == "taken-as-is";
    }
  EXPECT_EQ(confirmed + unconfirmed, 10);
  EXPECT_GE(confirmed, 3);
  EXPECT_EQ(Attempts(result, "confirm"), confirmed);
  EXPECT_GE(unconfirmed, 1);
}

TEST(WarmWorkers, AnAllowedSkipNeedsNoConfirmation) {
  GateRun run;
  run.Matrix(Many("skip_shared", 6, R"(, "allow_skip": ["unsupported"])"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(Attempts(result, "confirm"), 0);
}

TEST(WarmWorkers, AForbiddenSkipIsConfirmed) {
  GateRun run;
  run.Matrix(Many("skip_shared", 3));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(Attempts(result, "confirm"), 1);
}

TEST(WarmWorkers, AFailureWithoutDamageDoesNotRetireTheProcess) {
  GateRun run;
  run.Matrix(Many("fail_shared", 1) + ", " + Many("noop", 20));
  const GateResult result = run.Run({"--jobs", "1"});
  // The shared one and the confirmation; a further shared one only if it had to make room.
  EXPECT_LE(result.Events("WorkerStarted").size(), 3u);
  EXPECT_EQ(result.report["totals"]["passed"], 20);
}

TEST(WarmWorkers, PoisonRetiresTheProcess) {
  GateRun run;
  run.Matrix(Many("poison", 4));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.Events("WorkerStarted").size(), 4u);
}

TEST(WarmWorkers, ALeakRetiresTheProcessAndIsFlagged) {
  GateRun run;
  run.Matrix(Many("leave_shared", 3, R"(, "params": {"what": "child"})"));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.report["totals"]["passed"], 3);
  EXPECT_EQ(result.Events("WorkerStarted").size(), 3u);
  EXPECT_THAT(result.Flags("fixture.leave_shared[i=1,pass=true,what=child]"), Contains("leaked"));
  EXPECT_THAT(run.LeftAfter(1), testing::IsEmpty());
}

class BadExit : public testing::TestWithParam<std::string> {};

TEST_P(BadExit, OfASharedProcessIsARedFindingAboutTheRun) {
  GateRun run;
  run.Matrix(Many("bad_exit", 3, R"(, "params": {"how": ")" + GetParam() + "\"}"));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_NE(result.exit_code, 0);
  std::vector<std::string> slugs;
  for (const json& f : result.report["findings"]) slugs.push_back(f["slug"]);
  EXPECT_THAT(slugs, Contains("worker-exit"));
  // The last case is run again alone: its own process ends badly too.
  EXPECT_EQ(result.Outcome("fixture.bad_exit[how=" + GetParam() + ",i=2]"), "errored");
}

// Its last case has failed and waits to be confirmed: that decides, and no run of it behind that.
TEST(BadExitTest, OverwritesNoFailureByALaterPass) {
  GateRun run;
  run.Matrix(Many("bad_exit", 3, R"(, "params": {"how": "order"})"));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.report["findings"].dump(), testing::HasSubstr("worker-exit"));
  const std::string id = "fixture.bad_exit[how=order,i=2]";
  EXPECT_EQ(result.Outcome(id), "failed");
  EXPECT_THAT(result.Flags(id), Contains("order-dependent"));
  int ends = 0;
  for (const json& e : result.Events("CaseFinished")) ends += e["id"] == id ? 1 : 0;
  EXPECT_EQ(ends, 1);
}
INSTANTIATE_TEST_SUITE_P(All, BadExit, testing::Values("segv", "exit3"),
                         [](const auto& how) { return how.param; });

// What the harness had to end a process for counts, though the process then exits with 0.
class Late : public testing::TestWithParam<std::string> {};

std::string LateEntry(const std::string& check) {
  return Entry("fixture." + check, R"("params": {"how": ")" + Late::GetParam() + "\"}");
}

TEST_P(Late, MisbehaviourOfAnIdleSharedProcessIsRed) {
  GateRun run;
  run.Matrix(LateEntry("late_shared"));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.exit_code, Late::GetParam() == "hang" ? 1 : 5) << result.out;
  EXPECT_THAT(result.report["findings"].dump(), testing::HasSubstr("worker-exit"));
  EXPECT_EQ(result.Outcome("fixture.late_shared[how=" + GetParam() + ",i=0]"), "errored");
}

TEST_P(Late, MisbehaviourAfterTheVerdictIsRed) {
  GateRun run;
  run.Matrix(LateEntry("late"));
  const GateResult result = run.Run();
  EXPECT_NE(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.Outcome("fixture.late[how=" + GetParam() + ",i=0]"), "errored");
}
INSTANTIATE_TEST_SUITE_P(All, Late, testing::Values("garbage", "flood", "hang"),
                         [](const auto& how) { return how.param; });

TEST(Steps, ThatEndTheProcessAreRedThoughRetriesAndFlakinessAreAllowed) {
  GateRun run;
  run.Matrix(Entry("fixture.steps", R"("params": {"bad": [2]}, "allow_flaky": true)"));
  const GateResult result = run.Run({"--retries", "1"});
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_EQ(result.report["cases"][0]["outcome"], "errored");
  EXPECT_EQ(Attempts(result, "retry"), 1);
}

TEST(Steps, ThatEndTheProcessAreLeftOutAndTheRestRuns) {
  GateRun run;
  run.Matrix(Entry("fixture.steps", R"("params": {"bad": [2, 5]})"));
  const GateResult result = run.Run();
  const json c = result.report["cases"][0];
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(c["outcome"], "errored");
  EXPECT_EQ(result.Events("AttemptStarted").size(), 3u);
  EXPECT_EQ(c["measurements"].size(), 1u);  // the last attempt came to the end
  EXPECT_THAT(c["flags"].get<std::vector<std::string>>(), Contains("step-skipped"));
}

TEST(Steps, AreLeftOutAtMostEightTimes) {
  GateRun run;
  run.Matrix(Entry("fixture.steps", R"("params": {"bad": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]})"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.Events("AttemptStarted").size(), 9u);
}

TEST(Steps, InASharedProcessAreConfirmedFirst) {
  GateRun run;
  run.Matrix(Entry("fixture.steps_shared", R"("params": {"bad": [2]})") + ", " + Many("noop", 5));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.report["totals"]["passed"], 5);
  EXPECT_EQ(Attempts(result, "confirm"), 1);
}

TEST(IsolationNone, RunsInOneProcessAndIsPartial) {
  GateRun run;
  run.Matrix(Many("noop", 3) + ", " + Many("pass", 3));
  const GateResult result = run.Run({"--isolation", "none"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.Events("WorkerStarted").size(), 1u);
  EXPECT_THAT(result.report["partial"].get<std::string>(), testing::HasSubstr("isolation none"));
}

}  // namespace
}  // namespace cudnn_ci
