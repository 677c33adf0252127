// Two workers on one device: who may be the second one, when it comes, and what its results count for.
#include <gmock/gmock.h>

#include "exec/schedule/cases.h"
#include "exec/schedule/devices.h"
#include "exec/schedule/scheduler.h"

namespace cudnn_ci {
namespace {

Case OnGpu(const std::string& id, Layer layer) {
  Case c;
  c.planned.ref = {id, "gpu0"};
  c.planned.check = "p." + id;
  c.planned.plugin = "p";
  c.planned.layer = layer;
  c.devices = Devices::kOne;
  c.shareable = true;
  return c;
}

TEST(CoScheduledTest, OneMayWorkBesideAWarmWorkerAndNobodyElse) {
  DeviceTable d({{"gpu0", "GPU-0", "", ""}, {"gpu1", "GPU-1", "", ""}}, true);
  EXPECT_FALSE(d.IsShared("gpu0"));
  d.Lease("gpu0", 1, Use::kShared);
  EXPECT_TRUE(d.IsShared("gpu0"));
  EXPECT_FALSE(d.IsShared("gpu1"));
  EXPECT_FALSE(d.CanLease("gpu0", Use::kShared));
  EXPECT_TRUE(d.CanLease("gpu0", Use::kCoScheduled));
  EXPECT_FALSE(d.WasShared("gpu0"));
  d.Lease("gpu0", 2, Use::kCoScheduled);
  EXPECT_TRUE(d.WasShared("gpu0"));
  EXPECT_FALSE(d.WasShared("gpu1"));
  EXPECT_FALSE(d.CanLease("gpu0", Use::kCoScheduled));
  d.Release(1);
  EXPECT_FALSE(d.CanLease("gpu0", Use::kAlone));
  EXPECT_FALSE(d.CanLease("*"));
  EXPECT_TRUE(d.CanLease("gpu0", Use::kShared));
  d.Release(2);
  d.Lease("gpu0", 3, Use::kAlone);
  EXPECT_FALSE(d.CanLease("gpu0", Use::kCoScheduled));
  d.Release(3);
  d.Lease("*", 4);
  EXPECT_FALSE(d.CanLease("gpu0", Use::kCoScheduled));
}

TEST(CoScheduledTest, WhatMayRunBesideOthersIsAwaitedByNothingButWhatNeedsTheDeviceAlone) {
  Plan plan;
  for (const char* id : {"a", "b", "c", "d"}) plan.cases.push_back(OnGpu(id, Layer::kConvolution));
  plan.cases[0].shareable = false;
  plan.cases[1].planned.ref.device = "gpu1";
  plan.cases[3].planned.layer = Layer::kFramework;
  Scheduler s(plan, Isolation::kShared);
  CaseQueue* queue = s.QueueOf(3);
  EXPECT_TRUE(queue->co_scheduled);
  EXPECT_NE(queue, s.QueueOf(2));
  EXPECT_TRUE(s.IsAwaitedBy(*queue, false));
  EXPECT_FALSE(s.IsAwaitedBy(*queue, true)) << "it could not run either";
  s.Finish(0, Passed{});
  EXPECT_FALSE(s.IsAwaitedBy(*queue, false)) << "warm workers and other devices are not waited for";
  EXPECT_FALSE(Scheduler(plan, Isolation::kProcess).QueueOf(3)->concurrent);
}

// Others wait for it: it has the device before what could run beside a warm worker.
TEST(CoScheduledTest, APrerequisiteIsAwaitedThoughTheDeviceIsInUse) {
  Plan plan;
  for (const char* id : {"a", "b", "c"}) plan.cases.push_back(OnGpu(id, Layer::kConvolution));
  plan.cases[0].shareable = false;
  plan.cases[1].prerequisites = {0};
  plan.cases[2].planned.layer = Layer::kFramework;
  Scheduler s(plan, Isolation::kShared);
  EXPECT_TRUE(s.IsAwaitedBy(*s.QueueOf(2), true));
  s.Finish(0, Passed{});
  EXPECT_FALSE(s.IsAwaitedBy(*s.QueueOf(2), true));
}

// A concurrent case that no other waits for holds up none that do.
TEST(CoScheduledTest, AQueueIsHeldBackWhileAnExclusivePrerequisiteRunsOrComesNext) {
  Plan plan;
  for (const char* id : {"look", "early", "exclusive", "behind"})
    plan.cases.push_back(OnGpu(id, Layer::kConvolution));
  plan.cases[0].planned.ref.device = "";
  plan.cases[0].devices = Devices::kNone;
  plan.cases[2].shareable = false;
  plan.cases[2].prerequisites = {0};
  plan.cases[3].prerequisites = {2};
  for (const size_t i : {1, 3}) plan.cases[i].concurrent = true;
  Scheduler s(plan, Isolation::kShared);
  CaseQueue* queue = s.QueueOf(1);
  ASSERT_EQ(queue, s.QueueOf(3));
  EXPECT_FALSE(s.IsHeldBack(*queue)) << "it waits for a case that does not run yet";
  s.Take(s.QueueOf(0), false);
  EXPECT_TRUE(s.IsHeldBack(*queue));
  s.Finish(0, Passed{});
  EXPECT_TRUE(s.IsHeldBack(*queue));
  s.Take(s.QueueOf(2), false);
  EXPECT_TRUE(s.IsHeldBack(*queue));
  s.Finish(2, Passed{});
  EXPECT_FALSE(s.IsHeldBack(*queue));
}

// A skip for want of memory said nothing of the device while others used it, and is no verdict.
TEST(CoScheduledTest, TooLittleMemoryBesideOthersIsAskedAgainAlone) {
  const Outcome little = Skipped{SkipKind::kMemory, "2 MiB", "1 MiB"};
  Plan plan;
  plan.cases = {OnGpu("a", Layer::kFramework)};
  plan.cases[0].planned.allow_skip = {SkipKind::kMemory};
  Fold fold;
  Cases rules(plan, fold.summary(), 0, true);
  const auto judge = [&](Outcome outcome, AttemptMode mode) {
    AttemptResult r;
    r.outcome = std::move(outcome);
    r.mode = mode;
    return rules.Decide(r);
  };
  EXPECT_EQ(judge(little, AttemptMode::kShared).next, Next::kConfirm);
  Decision passed = judge(Passed{}, AttemptMode::kConfirm);
  EXPECT_EQ(passed.next, Next::kFinal);
  EXPECT_TRUE(std::holds_alternative<Passed>(passed.outcome));
  EXPECT_TRUE(passed.findings.empty());
  EXPECT_TRUE(rules.Take(0, Passed{}).flags.empty());
  EXPECT_EQ(judge(little, AttemptMode::kShared).next, Next::kConfirm);
  EXPECT_TRUE(std::holds_alternative<Skipped>(judge(little, AttemptMode::kConfirm).outcome));
  rules.Take(0, Passed{});
  // What else goes wrong beside others counts, whatever it does alone.
  EXPECT_EQ(judge(Failed{}, AttemptMode::kShared).next, Next::kConfirm);
  EXPECT_TRUE(std::holds_alternative<Failed>(judge(Passed{}, AttemptMode::kConfirm).outcome));
}

// A process that prepared a case can end while another one runs it.
TEST(CoScheduledTest, APassInASharedProcessMakesNoCrashOfThePreparationGood) {
  Plan plan;
  plan.cases = {OnGpu("a", Layer::kConvolution)};
  Fold fold;
  Cases rules(plan, fold.summary(), 0, true);
  rules.Suspect(0, {ErrorKind::kCrashed, "SIGSEGV"}, 11);
  AttemptResult passed;
  passed.outcome = Passed{};
  passed.mode = AttemptMode::kShared;
  EXPECT_EQ(rules.Decide(passed).next, Next::kConfirm);
  EXPECT_EQ(rules.NextOf(0).mode, AttemptMode::kConfirm);
  passed.mode = AttemptMode::kConfirm;
  const Decision decision = rules.Decide(passed);
  EXPECT_TRUE(std::holds_alternative<Failed>(decision.outcome));
  ASSERT_EQ(decision.findings.size(), 1u);
  EXPECT_EQ(decision.findings[0].slug, "order-dependent");
}

// Nor of the device to a warm worker that had such a one beside it.
TEST(CoScheduledTest, AWarmWorkersMemoryIsAskedAgainAloneWhereTheDeviceWasShared) {
  const Outcome little = Skipped{SkipKind::kMemory, "2 MiB", "1 MiB"};
  Plan plan;
  plan.cases = {OnGpu("a", Layer::kConvolution)};
  plan.cases[0].planned.allow_skip = {SkipKind::kMemory};
  Fold fold;
  Cases rules(plan, fold.summary(), 0, true);
  const auto judge = [&](Outcome outcome, AttemptMode mode, bool concurrent) {
    AttemptResult r;
    r.outcome = std::move(outcome);
    r.mode = mode;
    r.concurrent = concurrent;
    return rules.Decide(r);
  };
  EXPECT_EQ(judge(little, AttemptMode::kShared, false).next, Next::kFinal);
  rules.Take(0, little);
  EXPECT_EQ(judge(little, AttemptMode::kShared, true).next, Next::kConfirm);
  EXPECT_TRUE(std::holds_alternative<Passed>(judge(Passed{}, AttemptMode::kConfirm, true).outcome));
}

}  // namespace
}  // namespace cudnn_ci
