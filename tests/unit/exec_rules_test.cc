// Order and belief: which case may run, who holds a device, and what an attempt counts for.
#include <gmock/gmock.h>

#include <set>

#include "exec/schedule/cases.h"
#include "exec/schedule/devices.h"
#include "exec/schedule/launch.h"
#include "exec/schedule/scheduler.h"
#include "exec/system/plugin_file.h"
#include "model/verdict/attribution.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using testing::Contains;
using testing::ElementsAre;

Case MakeCase(const std::string& id, std::vector<size_t> prerequisites = {}) {
  Case c;
  c.planned.ref.id = id;
  c.planned.check = "p." + id;
  c.planned.plugin = "p";
  c.prerequisites = std::move(prerequisites);
  return c;
}

Plan Chain() {
  Plan plan;
  plan.cases = {MakeCase("a"), MakeCase("b", {0}), MakeCase("c", {1}), MakeCase("d")};
  return plan;
}

TEST(FindPluginFilesTest, LooksNoFurtherWhenItIsToStop) {
  const Scratch scratch;
  for (const char* name : {"a.cci.so", "b.cci.so"}) {
    scratch.Write(name, "");
    std::filesystem::resize_file(scratch.File(name), 8 << 20);
  }
  int asked = 0;
  const std::vector<PluginFile> files = FindPluginFiles({scratch.path()}, [&] { return ++asked > 5; });
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].refused, "interrupted before it was hashed");
  EXPECT_LT(asked, 10);
  EXPECT_TRUE(FindPluginFiles({scratch.path()}, [] { return true; }).empty());
  EXPECT_EQ(FindPluginFiles({scratch.path()}).at(1).identity.sha256,
            "2daeb1f36095b44b318410b3f4e8b5d989dcc7bb023d1426c492dab0a3053e74");
}

TEST(LaunchTest, SerialsComeFromTheKernelAndFitJson) {
  std::set<int64_t> seen;
  int64_t ones = 0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t serial = RandomSerial();
    EXPECT_GT(serial, 0);
    ones |= serial;
    seen.insert(serial);
  }
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(ones, (int64_t{1} << 53) - 1);
}

// The value of LD_LIBRARY_PATH that a worker for the subject gets; "(none)": none.
std::string LibraryPathOf(const SubjectInfo& subject) {
  const std::string prefix = "LD_LIBRARY_PATH=";
  for (const std::string& variable : WorkerEnvironment(&subject, nullptr))
    if (variable.compare(0, prefix.size(), prefix) == 0) return variable.substr(prefix.size());
  return "(none)";
}

TEST(LaunchTest, FoldersOfASubjectStandAroundTheUsersLibraryPath) {
  const char* before = getenv("LD_LIBRARY_PATH");
  const std::string users = before ? before : "";
  setenv("LD_LIBRARY_PATH", "/user:/more", 1);
  EXPECT_EQ(LibraryPathOf({"a", "loader"}), "/user:/more");
  EXPECT_EQ(LibraryPathOf({"a", "python:/p", {"/1", "/2"}, {"/3"}}), "/1:/2:/user:/more:/3");
  EXPECT_EQ(LibraryPathOf({"a", "python:/p", {}, {"/3"}}), "/user:/more:/3");
  unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(LibraryPathOf({"a", "loader"}), "(none)");
  EXPECT_EQ(LibraryPathOf({"a", "path:/1:/2", {"/1", "/2"}, {}}), "/1:/2")
      << "an empty entry is the current folder";
  if (before) setenv("LD_LIBRARY_PATH", users.c_str(), 1);
}

TEST(SchedulerTest, ACaseIsReadyWhenWhatItNeedsHasPassed) {
  const Plan plan = Chain();
  Scheduler s(plan, Isolation::kProcess);
  CaseQueue* queue = s.ReadyQueues().at(0);
  EXPECT_THAT(queue->ready, ElementsAre(0, 3));
  EXPECT_EQ(s.Take(queue, false), 0u);
  EXPECT_TRUE(s.Finish(0, Passed{}).empty());
  EXPECT_THAT(queue->ready, ElementsAre(1, 3));
}

TEST(SchedulerTest, ARedCaseBlocksAllThatNeedItAndIsNamedAsTheRoot) {
  const Plan plan = Chain();
  Scheduler s(plan, Isolation::kProcess);
  s.Take(s.ReadyQueues().at(0), false);
  const auto blocked = s.Finish(0, Failed{});
  ASSERT_EQ(blocked.size(), 2u);
  EXPECT_EQ(std::get<Blocked>(blocked[0].outcome).by.id, "a");
  EXPECT_EQ(std::get<Blocked>(blocked[1].outcome).by.id, "a");
  EXPECT_EQ(s.open(), 1u);
}

TEST(SchedulerTest, WhatIsBlockedIsToldInPlanOrder) {
  Plan plan;
  plan.cases = {MakeCase("a"), MakeCase("b", {0}), MakeCase("c", {0}), MakeCase("d", {2}),
                MakeCase("e", {1})};
  Scheduler s(plan, Isolation::kProcess);
  s.Take(s.QueueOf(0), false);
  std::vector<size_t> told;
  for (const Scheduler::Ended& blocked : s.Finish(0, Failed{})) told.push_back(blocked.case_index);
  EXPECT_THAT(told, ElementsAre(1, 2, 3, 4));
}

TEST(SchedulerTest, WhatThePlanPredeterminesBlocksToo) {
  Plan plan = Chain();
  plan.cases[0].predetermined = Errored{ErrorKind::kPluginLoad, "no"};
  Scheduler s(plan, Isolation::kProcess);
  EXPECT_EQ(s.FinishPredetermined().size(), 3u);
  EXPECT_EQ(s.open(), 1u);
}

TEST(SchedulerTest, WhatBlocksACaseIsTheFirstInPlanOrderWhicheverFailedFirst) {
  Plan plan;
  plan.cases = {MakeCase("a"), MakeCase("b"), MakeCase("c"), MakeCase("d", {0, 1, 2}), MakeCase("e", {3})};
  for (const std::vector<size_t>& order : {std::vector<size_t>{0, 1, 2}, {2, 1, 0}, {1, 0, 2}}) {
    Scheduler s(plan, Isolation::kProcess);
    std::vector<Scheduler::Ended> blocked;
    for (const size_t i : order) {
      s.Take(s.QueueOf(i), false);
      EXPECT_TRUE(blocked.empty());  // as long as one that could come first is open
      blocked = s.Finish(i, i == 0 ? Outcome(Passed{}) : Outcome(Failed{}));
    }
    ASSERT_EQ(blocked.size(), 2u);
    EXPECT_EQ(std::get<Blocked>(blocked[0].outcome).by.id, "b");
    EXPECT_EQ(std::get<Blocked>(blocked[1].outcome).by.id, "b");
    EXPECT_EQ(s.open(), 0u);
  }
}

TEST(SchedulerTest, ARunCutShortStillSaysWhatIsBlocked) {
  Plan plan;
  plan.cases = {MakeCase("a"), MakeCase("b"), MakeCase("c", {0, 1}), MakeCase("d", {2})};
  Scheduler s(plan, Isolation::kProcess);
  EXPECT_TRUE(s.Finish(0, Failed{}).empty());
  const auto blocked = s.FinishBlocked();
  ASSERT_EQ(blocked.size(), 2u);
  EXPECT_EQ(std::get<Blocked>(blocked[1].outcome).by.id, "a");
}

TEST(SchedulerTest, ASecondEndOfACaseReleasesNothingTwice) {
  Plan plan;
  plan.cases = {MakeCase("a"), MakeCase("b"), MakeCase("c", {0, 1})};
  Scheduler s(plan, Isolation::kProcess);
  CaseQueue* queue = s.ReadyQueues().at(0);
  s.Take(queue, false);
  s.Take(queue, false);
  s.Finish(0, Passed{});
  s.Requeue(0, true);
  EXPECT_EQ(s.open(), 3u);
  s.Take(queue, true);
  s.Finish(0, Passed{});
  EXPECT_TRUE(queue->empty());  // c still needs b
  s.Finish(1, Passed{});
  EXPECT_THAT(queue->ready, ElementsAre(2));
}

TEST(SchedulerTest, CasesThatSeeNoDeviceShareNoQueueWithThoseThatDo) {
  Plan plan;
  plan.cases = {MakeCase("a"), MakeCase("b")};
  plan.cases[0].devices = Devices::kNone;
  plan.cases[1].devices = Devices::kEnvironment;
  Scheduler s(plan, Isolation::kShared);
  EXPECT_NE(s.QueueOf(0), s.QueueOf(1));
  EXPECT_TRUE(s.QueueOf(0)->hide_devices);
  EXPECT_FALSE(s.QueueOf(1)->hide_devices);
}

TEST(SchedulerTest, WhatAChangedPluginHasLeftToDoLeavesItsQueues) {
  Plan plan = Chain();
  plan.cases[3].planned.plugin = "q";
  Scheduler s(plan, Isolation::kProcess);
  s.Requeue(s.Take(s.QueueOf(0), false), true);  // to be looked at again, alone
  EXPECT_THAT(s.WithdrawPlugin("p"), ElementsAre(0, 1, 2));
  EXPECT_THAT(s.ReadyQueues(), ElementsAre(s.QueueOf(3)));
}

TEST(SchedulerTest, ALostDevicesCasesLeaveTheirQueues) {
  Plan plan = Chain();
  plan.cases[3].devices = Devices::kOne;
  plan.cases[3].planned.ref.device = "gpu0";
  Scheduler s(plan, Isolation::kShared);
  EXPECT_THAT(s.WithdrawFrom("gpu0"), ElementsAre(3));
  EXPECT_EQ(s.ReadyQueues().size(), 1u);
}

TEST(DeviceTableTest, ADeviceIsHeldByOneAtATime) {
  DeviceTable d({{"gpu0", "GPU-0", "", ""}, {"gpu1", "GPU-1", "", ""}}, true);
  d.Lease("gpu0", 1);
  EXPECT_FALSE(d.CanLease("gpu0"));
  EXPECT_TRUE(d.CanLease("gpu1"));
  EXPECT_FALSE(d.CanLease("*"));
  EXPECT_TRUE(d.CanLease(""));
  d.Release(1);
  d.Lease("*", 2);
  EXPECT_FALSE(d.CanLease("gpu1"));
  d.Release(2);
  EXPECT_TRUE(d.CanLease("gpu1"));
  EXPECT_THAT(d.Named("*"), ElementsAre("gpu0", "gpu1"));
}

TEST(DeviceTableTest, ResultsOnASuspectDeviceWaitUntilItIsTrustedOrLost) {
  DeviceTable d({{"gpu0", "GPU-0", "", ""}, {"gpu1", "", "", ""}}, true);
  EXPECT_FALSE(d.CanBeTested("gpu1"));  // nominal
  EXPECT_FALSE(d.NeedsCanary("gpu0"));
  d.Suspect("gpu0");
  EXPECT_TRUE(d.NeedsCanary("gpu0"));
  EXPECT_TRUE(d.WaitingForCanary().empty());  // nothing depends on it
  d.Hold("gpu0", {});
  EXPECT_TRUE(d.Holding());
  EXPECT_THAT(d.WaitingForCanary(), ElementsAre("gpu0"));
  EXPECT_EQ(d.Trust("gpu0").size(), 1u);
  EXPECT_FALSE(d.NeedsCanary("gpu0"));
  EXPECT_FALSE(d.Holding());
  d.Suspect("gpu0");
  d.Hold("gpu0", {});
  EXPECT_EQ(d.Lose("gpu0").size(), 1u);
  EXPECT_TRUE(d.IsLost("gpu0"));
  EXPECT_FALSE(d.NeedsCanary("gpu0"));
}

TEST(DeviceTableTest, WhereNoCanaryCanRunNothingIsHeldForOne) {
  DeviceTable d({{"gpu0", "GPU-0", "", ""}}, false);
  EXPECT_FALSE(d.CanBeTested("gpu0"));
}

const Outcome kCrash = Errored{ErrorKind::kCrashed, "SIGSEGV"};

// One case "a", its rules, and the record of the run.
class CasesTest : public testing::Test {
 protected:
  CasesTest() { plan_.cases = {MakeCase("a")}; }
  void Rules(int retries) { rules_.emplace(plan_, fold_.summary(), retries, true); }
  Decision Judge(Outcome outcome, AttemptMode mode, const std::string& step = "") {
    AttemptResult r;
    r.outcome = std::move(outcome);
    r.mode = mode;
    if (!step.empty()) r.crashed_step = {step};
    return rules_->Decide(r);
  }
  std::vector<Flag> Flags() { return rules_->Take(0, Passed{}).flags; }
  Plan plan_;
  Fold fold_;
  std::optional<Cases> rules_;
};

TEST_F(CasesTest, ASharedPassCounts) {
  Rules(0);
  EXPECT_EQ(Judge(Passed{}, AttemptMode::kShared).next, Next::kFinal);
}

TEST_F(CasesTest, AnythingElseFromASharedProcessIsConfirmedAlone) {
  for (const Outcome& outcome : {Outcome(Failed{}), kCrash, Outcome(Skipped{})}) {
    Rules(0);
    EXPECT_EQ(Judge(outcome, AttemptMode::kShared).next, Next::kConfirm);
    EXPECT_EQ(rules_->NextOf(0).mode, AttemptMode::kConfirm);
    EXPECT_EQ(rules_->NextOf(0).number, 2);
    const Decision same = Judge(outcome, AttemptMode::kConfirm);
    EXPECT_EQ(same.next, Next::kFinal);
    EXPECT_EQ(same.outcome, outcome);
    EXPECT_THAT(Flags(), Contains(Flag::kConfirmed));
  }
}

TEST_F(CasesTest, APassAloneAfterAFailureInASharedProcessIsOrderDependentAndRed) {
  Rules(3);
  Judge(kCrash, AttemptMode::kShared);
  const Decision d = Judge(Passed{}, AttemptMode::kConfirm);
  EXPECT_TRUE(std::holds_alternative<Failed>(d.outcome));
  EXPECT_EQ(d.findings.at(0).slug, "order-dependent");
}

TEST_F(CasesTest, AfterThreeOfAKindNoMoreAreConfirmedNorThoseThatWait) {
  plan_.cases.assign(6, MakeCase("a"));
  Rules(0);
  const auto judge = [&](size_t i, const Outcome& outcome, AttemptMode mode) {
    AttemptResult r;
    r.case_index = i;
    r.outcome = outcome;
    r.mode = mode;
    return rules_->Decide(r).next;
  };
  judge(0, kCrash, AttemptMode::kShared);  // waits
  for (size_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(rules_->KnownOutcome(0), nullptr);
    EXPECT_EQ(judge(i, kCrash, AttemptMode::kShared), Next::kConfirm);
    judge(i, kCrash, AttemptMode::kConfirm);
  }
  ASSERT_NE(rules_->KnownOutcome(0), nullptr);
  EXPECT_EQ(*rules_->KnownOutcome(0), kCrash);
  EXPECT_THAT(Flags(), Contains(Flag::kUnconfirmed));
  EXPECT_EQ(judge(4, kCrash, AttemptMode::kShared), Next::kFinal);
  // Another kind begins from the start.
  EXPECT_EQ(judge(5, Failed{}, AttemptMode::kShared), Next::kConfirm);
}

TEST_F(CasesTest, APassOnRetryIsFlakyAndRedUnlessAllowed) {
  for (const bool allowed : {false, true}) {
    plan_.cases[0].planned.allow_flaky = allowed;
    Rules(1);
    EXPECT_EQ(Judge(Failed{}, AttemptMode::kAlone).next, Next::kRetry);
    EXPECT_EQ(rules_->NextOf(0).mode, AttemptMode::kRetry);
    const Decision d = Judge(Passed{}, AttemptMode::kRetry);
    EXPECT_EQ(std::holds_alternative<Passed>(d.outcome), allowed);
    EXPECT_THAT(Flags(), testing::IsSupersetOf({Flag::kFlaky, Flag::kRetried}));
  }
}

TEST_F(CasesTest, AnAllowedSkipOnRetryIsNoPass) {
  plan_.cases[0].planned.allow_flaky = true;
  plan_.cases[0].planned.allow_skip = {SkipKind::kUnsupported};
  Rules(1);
  EXPECT_EQ(Judge(kCrash, AttemptMode::kAlone).next, Next::kRetry);
  const Decision d = Judge(Skipped{}, AttemptMode::kRetry);
  EXPECT_EQ(d.next, Next::kFinal);
  EXPECT_EQ(d.outcome, kCrash);
}

TEST_F(CasesTest, ForbiddenSkipsAreNotRetried) {
  Rules(3);
  EXPECT_EQ(Judge(Skipped{}, AttemptMode::kAlone).next, Next::kFinal);
}

TEST_F(CasesTest, StepsAreLeftOutAtMostEightTimesAndTheCaseStaysRed) {
  Rules(0);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(Judge(kCrash, AttemptMode::kAlone, "engine=" + std::to_string(i)).next, Next::kContinue);
  EXPECT_EQ(rules_->NextOf(0).skip_steps.size(), 8u);
  EXPECT_EQ(Judge(kCrash, AttemptMode::kAlone, "engine=8").next, Next::kFinal);
  Rules(0);
  Judge(kCrash, AttemptMode::kAlone, "engine=0");
  EXPECT_TRUE(std::holds_alternative<Errored>(Judge(Passed{}, AttemptMode::kAlone).outcome));
}

TEST_F(CasesTest, ARetryRunsTheWholeCase) {
  plan_.cases[0].planned.allow_flaky = true;
  Rules(1);
  EXPECT_EQ(Judge(kCrash, AttemptMode::kAlone, "engine=0").next, Next::kContinue);
  // What is left of it passes: that is no pass of the case.
  EXPECT_EQ(Judge(Passed{}, AttemptMode::kAlone).next, Next::kRetry);
  EXPECT_TRUE(rules_->NextOf(0).skip_steps.empty());
  // It ends in the step again, and is not continued without it.
  const Decision d = Judge(kCrash, AttemptMode::kRetry, "engine=0");
  EXPECT_EQ(d.next, Next::kFinal);
  EXPECT_TRUE(std::holds_alternative<Errored>(d.outcome));
}

// They are code, and more than all else that is known.
TEST(KnownPacketsTest, OfAdaptersAreForTheWorkerThatRunsThem) {
  const std::map<std::string, std::string> known = {
      {"adapter.0", "{}"}, {"implementation.0", "{}"}, {"kernel_fault.0", "{}"}, {"package.0", "{}"}};
  EXPECT_EQ(KnownPackets(known, false), KnownPackets({{"package.0", "{}"}}, true));
  EXPECT_NE(KnownPackets(known, true), KnownPackets(known, false));
}

}  // namespace
}  // namespace cudnn_ci
