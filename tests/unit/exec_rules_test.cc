// Order and belief: which case may run, who holds a device, and what an attempt counts for.
#include <gmock/gmock.h>

#include "exec/attempts.h"
#include "exec/scheduler.h"

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

TEST(SchedulerTest, ACaseIsReadyWhenWhatItNeedsHasPassed) {
  const Plan plan = Chain();
  Scheduler s(plan, Isolation::kProcess);
  Lane* lane = s.ReadyLanes().at(0);
  EXPECT_THAT(lane->ready, ElementsAre(0, 3));
  EXPECT_EQ(s.Take(lane, false), 0u);
  EXPECT_TRUE(s.Settle(0, Passed{}).empty());
  EXPECT_THAT(lane->ready, ElementsAre(1, 3));
}

TEST(SchedulerTest, ARedCaseBlocksAllThatNeedItAndIsNamedAsTheRoot) {
  const Plan plan = Chain();
  Scheduler s(plan, Isolation::kProcess);
  s.Take(s.ReadyLanes().at(0), false);
  const auto blocked = s.Settle(0, Failed{});
  ASSERT_EQ(blocked.size(), 2u);
  EXPECT_EQ(std::get<Blocked>(blocked[0].outcome).by, "a");
  EXPECT_EQ(std::get<Blocked>(blocked[1].outcome).by, "a");
  EXPECT_EQ(s.open(), 1u);
}

TEST(SchedulerTest, WhatThePlanSettledBlocksToo) {
  Plan plan = Chain();
  plan.cases[0].settled = Errored{ErrorKind::kPluginLoad, "no"};
  Scheduler s(plan, Isolation::kProcess);
  EXPECT_EQ(s.SettlePlanned().size(), 3u);
  EXPECT_EQ(s.open(), 1u);
}

TEST(SchedulerTest, ADeviceIsHeldByOneAtATime) {
  const Plan plan = Chain();
  Scheduler s(plan, Isolation::kShared);
  s.Lease("gpu0", 1);
  EXPECT_FALSE(s.CanLease("gpu0"));
  EXPECT_TRUE(s.CanLease("gpu1"));
  EXPECT_FALSE(s.CanLease("*"));
  EXPECT_TRUE(s.CanLease(""));
  s.Release(1);
  s.Lease("*", 2);
  EXPECT_FALSE(s.CanLease("gpu1"));
}

TEST(SchedulerTest, ALostDevicesCasesLeaveTheirLanes) {
  Plan plan = Chain();
  plan.cases[3].devices = Devices::kOne;
  plan.cases[3].planned.ref.device = "gpu0";
  Scheduler s(plan, Isolation::kShared);
  EXPECT_THAT(s.WithdrawFrom("gpu0"), ElementsAre(3));
  EXPECT_EQ(s.ReadyLanes().size(), 1u);
}

AttemptResult Result(Outcome outcome, AttemptMode mode) {
  AttemptResult r;
  r.outcome = std::move(outcome);
  r.mode = mode;
  return r;
}
const Outcome kCrash = Errored{ErrorKind::kCrashed, "SIGSEGV"};

TEST(AttemptRulesTest, ASharedPassCounts) {
  AttemptRules rules(0, true);
  CaseHistory h;
  EXPECT_EQ(rules.Judge(MakeCase("a"), Result(Passed{}, AttemptMode::kShared), &h).next, Next::kFinal);
}

TEST(AttemptRulesTest, AnyOtherSharedWordIsConfirmedAlone) {
  for (const Outcome& outcome : {Outcome(Failed{}), kCrash, Outcome(Skipped{})}) {
    AttemptRules rules(0, true);
    CaseHistory h;
    const Case c = MakeCase("a");
    EXPECT_EQ(rules.Judge(c, Result(outcome, AttemptMode::kShared), &h).next, Next::kConfirm);
    const Decision same = rules.Judge(c, Result(outcome, AttemptMode::kConfirm), &h);
    EXPECT_EQ(same.next, Next::kFinal);
    EXPECT_EQ(same.outcome, outcome);
    EXPECT_THAT(h.flags, Contains(Flag::kConfirmed));
  }
}

TEST(AttemptRulesTest, APassAloneAfterAFailureInCompanyIsOrderDependentAndRed) {
  AttemptRules rules(3, true);
  CaseHistory h;
  const Case c = MakeCase("a");
  rules.Judge(c, Result(kCrash, AttemptMode::kShared), &h);
  const Decision d = rules.Judge(c, Result(Passed{}, AttemptMode::kConfirm), &h);
  EXPECT_TRUE(std::holds_alternative<Failed>(d.outcome));
  EXPECT_EQ(d.findings.at(0).slug, "order-dependent");
}

TEST(AttemptRulesTest, AfterThreeOfAKindNoMoreAreConfirmedNorThoseThatWait) {
  AttemptRules rules(0, true);
  const Case c = MakeCase("a");
  CaseHistory waiting;
  rules.Judge(c, Result(kCrash, AttemptMode::kShared), &waiting);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(rules.StillToConfirm(c, &waiting));
    CaseHistory h;
    EXPECT_EQ(rules.Judge(c, Result(kCrash, AttemptMode::kShared), &h).next, Next::kConfirm);
    rules.Judge(c, Result(kCrash, AttemptMode::kConfirm), &h);
  }
  EXPECT_FALSE(rules.StillToConfirm(c, &waiting));
  EXPECT_THAT(waiting.flags, Contains(Flag::kUnconfirmed));
  CaseHistory h;
  EXPECT_EQ(rules.Judge(c, Result(kCrash, AttemptMode::kShared), &h).next, Next::kFinal);
  // Another kind begins from the start.
  CaseHistory other;
  EXPECT_EQ(rules.Judge(c, Result(Failed{}, AttemptMode::kShared), &other).next, Next::kConfirm);
}

TEST(AttemptRulesTest, APassOnRetryIsFlakyAndRedUnlessAllowed) {
  for (const bool allowed : {false, true}) {
    AttemptRules rules(1, true);
    CaseHistory h;
    Case c = MakeCase("a");
    c.planned.allow_flaky = allowed;
    EXPECT_EQ(rules.Judge(c, Result(Failed{}, AttemptMode::kAlone), &h).next, Next::kRetry);
    const Decision d = rules.Judge(c, Result(Passed{}, AttemptMode::kRetry), &h);
    EXPECT_EQ(std::holds_alternative<Passed>(d.outcome), allowed);
    EXPECT_THAT(h.flags, Contains(Flag::kFlaky));
  }
}

TEST(AttemptRulesTest, StepsAreLeftOutAtMostEightTimesAndTheCaseStaysRed) {
  AttemptRules rules(0, true);
  CaseHistory h;
  const Case c = MakeCase("a");
  for (int i = 0; i < 8; ++i) {
    AttemptResult r = Result(kCrash, AttemptMode::kAlone);
    r.crashed_step = {"engine=" + std::to_string(i)};
    EXPECT_EQ(rules.Judge(c, r, &h).next, Next::kContinue);
  }
  AttemptResult ninth = Result(kCrash, AttemptMode::kAlone);
  ninth.crashed_step = {"engine=8"};
  EXPECT_EQ(rules.Judge(c, ninth, &h).next, Next::kFinal);
  CaseHistory once;
  AttemptResult r = Result(kCrash, AttemptMode::kAlone);
  r.crashed_step = {"engine=0"};
  rules.Judge(c, r, &once);
  EXPECT_TRUE(
      std::holds_alternative<Errored>(rules.Judge(c, Result(Passed{}, AttemptMode::kAlone), &once).outcome));
}

}  // namespace
}  // namespace cudnn_ci
