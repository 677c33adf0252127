// Several warm workers on one GPU: how many fit, and who shares the device with whom.
#include "exec/sharing.h"

#include <gmock/gmock.h>

#include "exec/cases.h"
#include "exec/devices.h"
#include "exec/scheduler.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

// A large machine with one GPU and much to do on it.
SharingRoom Large() {
  SharingRoom room;
  room.jobs = room.processors = 16;
  room.device_bytes = 139 * kGiB;
  room.host_bytes = 512 * kGiB;
  room.host_bytes_each = 8 * kGiB;
  room.cases = 484;
  return room;
}

TEST(SharingTest, ThereAreAsManyAsTheScarcestThingAllows) {
  EXPECT_EQ(WarmWorkersThatFit(Large()), 4);
  const auto with = [](auto change) {
    SharingRoom room = Large();
    change(room);
    return WarmWorkersThatFit(room);
  };
  EXPECT_EQ(with([](SharingRoom& r) { r.jobs = 1; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.jobs = 4; }), 3) << "one job is left to others";
  EXPECT_EQ(with([](SharingRoom& r) { r.processors = 8; }), 2);
  EXPECT_EQ(with([](SharingRoom& r) { r.processors = 2; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.devices = 2; }), 2);
  EXPECT_EQ(with([](SharingRoom& r) { r.devices = 8; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.device_bytes = 39 * kGiB; }), 2) << "one share is left to others";
  EXPECT_EQ(with([](SharingRoom& r) { r.device_bytes = 23 * kGiB; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.device_bytes = 0; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.host_bytes = 24 * kGiB; }), 2);
  EXPECT_EQ(with([](SharingRoom& r) { r.host_bytes = 1; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.cases = 95; }), 1) << "they are done before a context stands";
  EXPECT_EQ(with([](SharingRoom& r) { r.cases = 96; }), 2);
}

TEST(SharingTest, WhoAsksForANumberGetsNoMoreAndIsHeldToJobsAndCases) {
  SharingRoom small;
  small.device_bytes = kGiB;
  small.cases = 3;
  small.jobs = 8;
  small.asked = 2;
  EXPECT_EQ(WarmWorkersThatFit(small), 2);
  small.asked = 6;
  EXPECT_EQ(WarmWorkersThatFit(small), 3);
  small.jobs = 2;
  EXPECT_EQ(WarmWorkersThatFit(small), 1);
  SharingRoom large = Large();
  large.asked = 1;
  EXPECT_EQ(WarmWorkersThatFit(large), 1);
}

TEST(SharingTest, WarmWorkersOfOneLaneShareADeviceAndNobodyElseDoes) {
  DeviceTable d({{"gpu0", "GPU-0", "", ""}}, true);
  const Lane lane{}, other{};
  d.Lease("gpu0", 1, Use::kShared, &lane);
  EXPECT_TRUE(d.CanLease("gpu0", Use::kShared, &lane));
  EXPECT_FALSE(d.CanLease("gpu0", Use::kShared, &other));
  EXPECT_FALSE(d.CanLease("gpu0", Use::kShared));
  EXPECT_FALSE(d.CanLease("gpu0", Use::kAlone, &lane));
  EXPECT_FALSE(d.CanLease("*", Use::kAlone, &lane));
  d.Lease("gpu0", 2, Use::kShared, &lane);
  EXPECT_TRUE(d.CanLease("gpu0", Use::kBeside, &other));
  d.Release(1);
  EXPECT_FALSE(d.CanLease("gpu0", Use::kAlone)) << "one of them is still there";
  d.Release(2);
  d.Lease("gpu0", 3, Use::kAlone, &lane);
  EXPECT_FALSE(d.CanLease("gpu0", Use::kShared, &lane)) << "what runs alone has no company of its own lane";
}

Case Convolution(const std::string& id, bool concurrent) {
  Case c;
  c.planned.ref = {id, "gpu0"};
  c.planned.check = "p.check";
  c.planned.plugin = "p";
  c.planned.layer = Layer::kConvolution;
  c.devices = Devices::kOne;
  c.shareable = true;
  c.concurrent = concurrent;
  return c;
}

TEST(SharingTest, ALaneKnowsWhoseCasesWantItsOneWorkerForThemselves) {
  Plan plan;
  plan.cases = {Convolution("a", true), Convolution("b", false), Convolution("c", true)};
  Scheduler s(plan, Isolation::kShared);
  Lane* lane = s.LaneOf(0);
  EXPECT_EQ(lane, s.LaneOf(1));
  EXPECT_EQ(lane->concurrent, 2u);
  EXPECT_EQ(lane->single, 1u);
  EXPECT_EQ(lane->first, 0u);
  s.Settle(0, Passed{});
  EXPECT_EQ(lane->single, 1u);
  s.Settle(1, Passed{});
  EXPECT_EQ(lane->single, 0u);
  s.Requeue(1, true);
  EXPECT_EQ(lane->single, 1u) << "it is looked at again";
  s.Settle(1, Passed{});
  EXPECT_EQ(lane->single, 0u);
}

TEST(SharingTest, WhatIsLookedAtAgainComesInPlanOrderWhoeverWasFaster) {
  Plan plan;
  for (const char* id : {"a", "b", "c"}) plan.cases.push_back(Convolution(id, true));
  Scheduler s(plan, Isolation::kShared);
  Lane* lane = s.LaneOf(0);
  for (int i = 0; i < 3; ++i) s.Take(lane, false);
  for (const size_t i : {2, 0, 1}) s.Requeue(i, true);
  EXPECT_THAT(lane->alone, testing::ElementsAre(0, 1, 2));
}

// Three that lacked memory beside others and alone tell nothing of a fourth, which may need less.
TEST(SharingTest, TooLittleMemoryInCompanyIsNeverTakenAsItIs) {
  const Outcome little = Skipped{SkipKind::kMemory, "2 MiB", "1 MiB"};
  Plan plan;
  for (const char* id : {"a", "b", "c", "d", "e"}) plan.cases.push_back(Convolution(id, true));
  Fold fold;
  Cases rules(plan, fold.summary(), 0, true);
  const auto judge = [&](size_t i, AttemptMode mode, bool beside) {
    AttemptResult r;
    r.case_index = i;
    r.outcome = little;
    r.mode = mode;
    r.beside = beside;
    return rules.Judge(r).next;
  };
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(judge(i, AttemptMode::kShared, true), Next::kConfirm);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(judge(i, AttemptMode::kConfirm, true), Next::kFinal);
  EXPECT_EQ(rules.KnownOutcome(3), nullptr);
  EXPECT_EQ(judge(4, AttemptMode::kShared, true), Next::kConfirm);
  rules.Take(4, little);
  EXPECT_EQ(judge(4, AttemptMode::kShared, false), Next::kFinal) << "without company it is of a known kind";
}

}  // namespace
}  // namespace cudnn_ci
