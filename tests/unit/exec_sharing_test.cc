// Several warm workers on one GPU: how many fit, and who shares the device with whom.
#include "exec/schedule/sharing.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "exec/schedule/cases.h"
#include "exec/schedule/devices.h"
#include "exec/schedule/launch.h"
#include "exec/schedule/portions.h"
#include "exec/schedule/scheduler.h"

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
  EXPECT_EQ(ProcessesThatFit(Large()), 10);
  const auto with = [](auto change) {
    SharingRoom room = Large();
    change(room);
    return ProcessesThatFit(room);
  };
  EXPECT_EQ(with([](SharingRoom& r) { r.jobs = 1; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.jobs = 4; }), 3) << "one job is left to others";
  EXPECT_EQ(with([](SharingRoom& r) { r.processors = 8; }), 8);
  EXPECT_EQ(with([](SharingRoom& r) { r.processors = 4; }), 4);
  EXPECT_EQ(with([](SharingRoom& r) { r.processors = 2; }), 2);
  EXPECT_EQ(with([](SharingRoom& r) { r.devices = 2; }), 7);
  EXPECT_EQ(with([](SharingRoom& r) { r.devices = 8; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.device_bytes = 27 * kGiB; }), 2) << "one share is left to others";
  EXPECT_EQ(with([](SharingRoom& r) { r.device_bytes = 13 * kGiB; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.device_bytes = 0; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.host_bytes = 24 * kGiB; }), 2);
  EXPECT_EQ(with([](SharingRoom& r) { r.host_bytes = 1; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.cases = 95; }), 1) << "they are done before a context stands";
  EXPECT_EQ(with([](SharingRoom& r) { r.cases = 96; }), 2);
  EXPECT_EQ(with([](SharingRoom& r) { r.cases = 36, r.slow = 4; }), 5)
      << "a slow case takes longer than a context";
  EXPECT_EQ(with([](SharingRoom& r) { r.cases = r.slow = 3; }), 3);
  EXPECT_EQ(with([](SharingRoom& r) { r.cases = 3; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.cases = 3, r.queues = 2; }), 2) << "each needs its own";
  EXPECT_EQ(with([](SharingRoom& r) { r.device_bytes = 13 * kGiB, r.queues = 2; }), 1);
}

TEST(SharingTest, WhoAsksForANumberGetsNoMoreAndIsHeldToJobsAndCases) {
  SharingRoom small;
  small.device_bytes = kGiB;
  small.cases = 3;
  small.jobs = 8;
  small.asked = 2;
  EXPECT_EQ(ProcessesThatFit(small), 2);
  small.asked = 6;
  EXPECT_EQ(ProcessesThatFit(small), 3);
  small.jobs = 2;
  EXPECT_EQ(ProcessesThatFit(small), 1);
  SharingRoom large = Large();
  large.asked = 1;
  EXPECT_EQ(ProcessesThatFit(large), 1);
}

// A framework and its compilers each.
TEST(SharingTest, FourCasesWithAProcessEachAreTheMost) {
  const auto with = [](auto change) {
    SharingRoom room = Large();
    room.process_each = true;
    room.host_bytes_each = 16 * kGiB;
    room.cases = 13;
    change(room);
    return ProcessesThatFit(room);
  };
  EXPECT_EQ(with([](SharingRoom&) {}), 4);
  EXPECT_EQ(with([](SharingRoom& r) { r.cases = 2; }), 2);
  EXPECT_EQ(with([](SharingRoom& r) { r.device_bytes = 79 * kGiB; }), 4);
  EXPECT_EQ(with([](SharingRoom& r) { r.device_bytes = 36 * kGiB; }), 2) << "one share is left to others";
  EXPECT_EQ(with([](SharingRoom& r) { r.device_bytes = 35 * kGiB; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.host_bytes = 47 * kGiB; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.processors = 4; }), 4);
  EXPECT_EQ(with([](SharingRoom& r) { r.processors = 2; }), 2);
  EXPECT_EQ(with([](SharingRoom& r) { r.jobs = 2; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.asked = 2; }), 2);
  EXPECT_EQ(with([](SharingRoom& r) { r.asked = 1; }), 1);
  EXPECT_EQ(with([](SharingRoom& r) { r.asked = 8, r.device_bytes = 35 * kGiB; }), 8);
}

// One after the other, and never the last; who ended is not started again for what is left.
TEST(SharingTest, WorkersEndBeforeTheirContextsCostMoreThanTheyGetDone) {
  EXPECT_TRUE(AreWorthTheirContexts(8, 64));
  EXPECT_FALSE(AreWorthTheirContexts(8, 63));
  EXPECT_TRUE(AreWorthTheirContexts(7, 63));
  EXPECT_FALSE(AreWorthTheirContexts(2, 3));
  EXPECT_TRUE(AreWorthTheirContexts(1, 1));
}

TEST(SharingTest, ThreadsFillTheProcessorsWithoutSpendingAQuota) {
  EXPECT_EQ(ThreadsEach(16, false, 5), 6);
  EXPECT_EQ(ThreadsEach(16, true, 5), 3);
  EXPECT_EQ(ThreadsEach(16, false, 1), 16) << "never more than there are";
  EXPECT_EQ(ThreadsEach(2, true, 5), 1);
  EXPECT_EQ(ThreadsEach(2, false, 5), 1);
}

TEST(SharingTest, WarmWorkersOfOneGroupShareADeviceAndNobodyElseDoes) {
  DeviceTable d({{"gpu0", "GPU-0", "", ""}}, true);
  const SharingGroup group{}, other{};
  d.Lease("gpu0", 1, Use::kShared, &group);
  EXPECT_TRUE(d.CanLease("gpu0", Use::kShared, &group));
  EXPECT_FALSE(d.CanLease("gpu0", Use::kShared, &other));
  EXPECT_FALSE(d.CanLease("gpu0", Use::kShared));
  EXPECT_FALSE(d.CanLease("gpu0", Use::kAlone, &group));
  EXPECT_FALSE(d.CanLease("*", Use::kAlone, &group));
  d.Lease("gpu0", 2, Use::kShared, &group);
  EXPECT_TRUE(d.CanLease("gpu0", Use::kCoScheduled, &other));
  d.Release(1);
  EXPECT_FALSE(d.CanLease("gpu0", Use::kAlone)) << "one of them is still there";
  d.Release(2);
  d.Lease("gpu0", 3, Use::kAlone, &group);
  EXPECT_FALSE(d.CanLease("gpu0", Use::kShared, &group))
      << "what runs alone shares with nobody of its own group";
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

// Queues of subjects are a group, of each device; what differs by more is none.
TEST(SharingTest, TheQueuesOfSubjectsAreAGroup) {
  Plan plan;
  for (const char* subject : {"a", "b", "a"}) {
    plan.cases.push_back(Convolution(subject, true));
    plan.cases.back().planned.subject = subject;
  }
  plan.cases[2].planned.ref.device = "gpu1";
  Scheduler s(plan, Isolation::kShared);
  EXPECT_NE(s.QueueOf(0), s.QueueOf(1));
  EXPECT_THAT(s.QueueOf(0)->group->queues, testing::ElementsAre(s.QueueOf(0), s.QueueOf(1)));
  EXPECT_THAT(s.QueueOf(2)->group->queues, testing::ElementsAre(s.QueueOf(2)));
}

// A third party's plugin has one queue for both kinds of cases.
TEST(SharingTest, AQueueKnowsWhoseCasesWantItsOneWorkerForThemselves) {
  Plan plan;
  plan.cases = {Convolution("a", true), Convolution("b", false), Convolution("c", true)};
  for (Case& c : plan.cases) c.third_party = true;
  Scheduler s(plan, Isolation::kShared);
  CaseQueue* queue = s.QueueOf(0);
  EXPECT_EQ(queue, s.QueueOf(1));
  EXPECT_EQ(queue->concurrent, 2u);
  EXPECT_EQ(queue->single, 1u);
  EXPECT_EQ(queue->first, 0u);
  s.Finish(0, Passed{});
  EXPECT_EQ(queue->single, 1u);
  s.Finish(1, Passed{});
  EXPECT_EQ(queue->single, 0u);
  s.Requeue(1, true);
  EXPECT_EQ(queue->single, 1u) << "it is looked at again";
  s.Finish(1, Passed{});
  EXPECT_EQ(queue->single, 0u);
}

// Each has a process, and only some may have it beside others.
TEST(SharingTest, WhatNeedsTheDeviceForItselfIsInNoQueueOfConcurrentCases) {
  Plan plan;
  plan.cases = {Convolution("a", true), Convolution("b", false), Convolution("c", true)};
  for (Case& c : plan.cases) c.shareable = false;
  Scheduler s(plan, Isolation::kShared);
  EXPECT_EQ(s.QueueOf(0), s.QueueOf(2));
  EXPECT_NE(s.QueueOf(0)->group, s.QueueOf(1)->group);
  EXPECT_EQ(s.QueueOf(0)->concurrent, 2u);
  EXPECT_EQ(s.QueueOf(0)->single, 0u) << "they would wait for it";
  EXPECT_EQ(s.QueueOf(1)->concurrent, 0u);
}

TEST(SharingTest, ConcurrentCasesOfPluginsShareAQueue) {
  Plan plan;
  plan.cases = {Convolution("a", true), Convolution("b", true), Convolution("c", false)};
  plan.cases[1].planned.plugin = plan.cases[2].planned.plugin = "q";
  Scheduler s(plan, Isolation::kShared);
  EXPECT_EQ(s.QueueOf(0), s.QueueOf(1));
  EXPECT_NE(s.QueueOf(0), s.QueueOf(2)) << "its plugin's others hold up none of them";
  EXPECT_THAT(s.QueueOf(0)->plugins, testing::ElementsAre("p", "q"));
  EXPECT_EQ(Scheduler(plan, Isolation::kProcess).QueueOf(0)->plugins.size(), 1u);
  plan.cases[1].concurrent = false;
  Scheduler apart(plan, Isolation::kShared);
  EXPECT_NE(apart.QueueOf(0), apart.QueueOf(1)) << "one of them is never served by several";
  plan.cases[1].concurrent = true;
  plan.cases[1].planned.subject = "another";
  Scheduler subjects(plan, Isolation::kShared);
  EXPECT_NE(subjects.QueueOf(0), subjects.QueueOf(1));
}

// It could answer for the cases of others, or spoil what they compute.
TEST(SharingTest, APluginOfAThirdPartySharesNoProcessWithAnother) {
  Plan plan;
  plan.cases = {Convolution("canary", false), Convolution("a", true), Convolution("b", true),
                Convolution("c", true)};
  plan.cases[2].planned.plugin = "q";
  plan.cases[2].third_party = true;
  plan.cases[2].prerequisites = plan.cases[3].prerequisites = {0};
  plan.cases[0].planned.plugin = "driver";
  plan.cases[0].shareable = false;
  plan.cases[0].leading = true;
  Scheduler s(plan, Isolation::kShared);
  EXPECT_EQ(s.QueueOf(1), s.QueueOf(3));
  EXPECT_NE(s.QueueOf(2), s.QueueOf(1));
  EXPECT_THAT(s.QueueOf(2)->plugins, testing::ElementsAre("q")) << "nor does the canary run there";
  EXPECT_EQ(s.QueueOf(0), s.QueueOf(3));
  EXPECT_EQ(s.QueueOf(2)->concurrent, 1u) << "several workers of its own it may have";
  for (Case& c : plan.cases) c.pooled = true, c.leading = false;
  Scheduler pooled(plan, Isolation::kShared);
  EXPECT_EQ(pooled.QueueOf(0), pooled.QueueOf(1));
  EXPECT_THAT(pooled.QueueOf(2)->plugins, testing::ElementsAre("q"));
}

TEST(SharingTest, TheCanaryIsLoadedWithAPluginOfTheToolsOwn) {
  Catalog catalog;
  catalog.plugins.resize(2);
  catalog.plugins[0].third_party = true;
  EXPECT_EQ(&PluginOfCanary(catalog), &catalog.plugins[1]);
  catalog.plugins[1].third_party = true;
  EXPECT_EQ(&PluginOfCanary(catalog), &catalog.plugins[0]);
}

TEST(SharingTest, ASlowCaseIsWorkForSeveral) {
  Plan plan;
  plan.cases = {Convolution("a", true), Convolution("b", true)};
  EXPECT_EQ(Scheduler(plan, Isolation::kShared).QueueOf(0)->slow, 0u);
  plan.cases[1].slow = true;
  EXPECT_EQ(Scheduler(plan, Isolation::kShared).QueueOf(0)->slow, 1u);
}

TEST(SharingTest, WhatIsLookedAtAgainComesInPlanOrderWhoeverWasFaster) {
  Plan plan;
  for (const char* id : {"a", "b", "c"}) plan.cases.push_back(Convolution(id, true));
  Scheduler s(plan, Isolation::kShared);
  CaseQueue* queue = s.QueueOf(0);
  for (int i = 0; i < 3; ++i) s.Take(queue, false);
  for (const size_t i : {2, 0, 1}) s.Requeue(i, true);
  EXPECT_THAT(queue->alone, testing::ElementsAre(0, 1, 2));
}

// Three that lacked memory beside others and alone tell nothing of a fourth, which may need less.
TEST(SharingTest, TooLittleMemoryOnASharedGpuIsNeverTakenAsItIs) {
  const Outcome little = Skipped{SkipKind::kMemory, "2 MiB", "1 MiB"};
  Plan plan;
  for (const char* id : {"a", "b", "c", "d", "e"}) plan.cases.push_back(Convolution(id, true));
  Fold fold;
  Cases rules(plan, fold.summary(), 0, true);
  const auto judge = [&](size_t i, AttemptMode mode, bool concurrent) {
    AttemptResult r;
    r.case_index = i;
    r.outcome = little;
    r.mode = mode;
    r.concurrent = concurrent;
    return rules.Decide(r).next;
  };
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(judge(i, AttemptMode::kShared, true), Next::kConfirm);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(judge(i, AttemptMode::kConfirm, true), Next::kFinal);
  EXPECT_EQ(rules.KnownOutcome(3), nullptr);
  EXPECT_EQ(judge(4, AttemptMode::kShared, true), Next::kConfirm);
  rules.Take(4, little);
  EXPECT_EQ(judge(4, AttemptMode::kShared, false), Next::kFinal)
      << "on an unshared GPU it is of a known kind";
}

const Portions::IsSlow kNone = [](size_t) { return false; };

// Lets workers take turns until nothing is ready; returns what each got.
std::vector<std::vector<size_t>> Dealt(Portions* portions, std::deque<size_t> ready, int64_t workers) {
  std::vector<std::vector<size_t>> out(static_cast<size_t>(workers));
  for (int64_t turn = 0; !ready.empty(); ++turn) {
    const size_t next = portions->Next(turn % workers, ready, kNone);
    const auto at = std::find(ready.begin(), ready.end(), next);
    EXPECT_NE(at, ready.end()) << next;
    if (at == ready.end()) break;
    ready.erase(at);
    out[static_cast<size_t>(turn % workers)].push_back(next);
  }
  return out;
}

std::deque<size_t> Numbers(size_t count) {
  std::deque<size_t> out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

TEST(PortionsTest, EachWorkerGoesThroughNeighbours) {
  Portions one;
  EXPECT_THAT(Dealt(&one, Numbers(4), 1), testing::ElementsAre(testing::ElementsAre(0, 1, 2, 3)));
  Portions two;
  EXPECT_THAT(Dealt(&two, Numbers(9), 2),
              testing::ElementsAre(testing::ElementsAre(0, 1, 2, 3, 4), testing::ElementsAre(5, 6, 7, 8)));
  Portions four;
  size_t jumps = 0, dealt = 0;
  for (const std::vector<size_t>& cases : Dealt(&four, Numbers(400), 4)) {
    EXPECT_GE(cases.size(), 100u);
    dealt += cases.size();
    for (size_t i = 1; i < cases.size(); ++i) jumps += cases[i] != cases[i - 1] + 1;
  }
  EXPECT_EQ(dealt, 400u);
  EXPECT_LE(jumps, 12u);
}

TEST(PortionsTest, WhatASlowWorkerHasLeftIsHalvedToTheLastCase) {
  Portions p;
  std::deque<size_t> ready = Numbers(4);
  EXPECT_EQ(p.Next(1, ready, kNone), 0u);  // and is busy with it from here on
  ready.pop_front();
  EXPECT_EQ(p.Next(2, ready, kNone), 2u);
  EXPECT_EQ(p.Next(2, {1, 3}, kNone), 3u);
  EXPECT_EQ(p.Next(2, {1}, kNone), 1u);
}

TEST(PortionsTest, SlowCasesComeFirstAndGoToWhoeverAsks) {
  const Portions::IsSlow slow = [](size_t i) { return i == 4 || i >= 7; };
  Portions p;
  EXPECT_EQ(p.Next(1, Numbers(9), slow), 4u);
  EXPECT_EQ(p.Next(2, {0, 1, 2, 3, 5, 6, 7, 8}, slow), 7u);
  EXPECT_EQ(p.Next(1, {0, 1, 2, 3, 5, 6, 8}, slow), 8u);
  EXPECT_EQ(p.Next(2, {0, 1, 2, 3, 5, 6}, slow), 0u);
  EXPECT_EQ(p.Next(1, {1, 2, 3, 5, 6}, slow), 3u) << "what is left is halved as ever";
}

TEST(PortionsTest, WhatAWorkerLeavesOrGivesBackIsDealtAgain) {
  Portions p;
  EXPECT_EQ(p.Next(1, Numbers(10), kNone), 0u);
  EXPECT_EQ(p.Next(2, {1, 2, 3, 4, 5, 6, 7, 8, 9}, kNone), 5u);
  p.Release(1);
  EXPECT_EQ(p.Next(3, {1, 2, 3, 4, 6, 7, 8, 9}, kNone), 1u) << "the rest of the portion of who is gone";
  EXPECT_EQ(p.Next(3, {0, 2, 3, 4, 6, 7, 8, 9}, kNone), 2u);
  p.Release(2);
  p.Release(3);
  p.Release(4);
  std::vector<std::vector<size_t>> rest = Dealt(&p, {0, 3, 4, 6, 7, 8, 9}, 1);
  std::sort(rest[0].begin(), rest[0].end());
  EXPECT_THAT(rest[0], testing::ElementsAre(0, 3, 4, 6, 7, 8, 9)) << "nothing is lost";
}

// A check of another plugin that the queue's cases need.
Case Leading(const std::string& check) {
  Case c = Convolution(check, false);
  c.planned.check = check;
  c.planned.plugin = check.substr(0, check.find('.'));
  c.planned.layer = Layer::kDriver;
  c.shareable = false;
  c.leading = true;
  return c;
}

Plan WithLeading() {
  Plan plan;
  plan.cases = {Leading("q.canary"), Convolution("a", true), Convolution("b", true)};
  for (const size_t i : {1, 2}) {
    plan.cases[i].prerequisites = {0};
    plan.cases[i].planned.subject = "s";
  }
  return plan;
}

TEST(SharingTest, ALeadingCaseOpensTheWarmWorkerOfWhatNeedsIt) {
  const Plan plan = WithLeading();
  Scheduler s(plan, Isolation::kShared);
  CaseQueue* queue = s.QueueOf(0);
  EXPECT_EQ(queue, s.QueueOf(1));
  EXPECT_TRUE(queue->shared);
  EXPECT_EQ(queue->first, 0u);
  EXPECT_THAT(queue->plugins, testing::ElementsAre("p", "q"));
  EXPECT_EQ(queue->single, 1u) << "nobody joins before it has ended";
  EXPECT_EQ(queue->leading, 1u);
  EXPECT_EQ(s.Take(queue, false), 0u);
  s.Finish(0, Passed{});
  EXPECT_EQ(queue->single, 0u);
  EXPECT_EQ(queue->leading, 0u);
  EXPECT_THAT(queue->ready, testing::ElementsAre(1, 2));
  s.Requeue(0, true);
  EXPECT_EQ(queue->leading, 1u) << "it is looked at again";
}

TEST(SharingTest, ALeadingCaseKeepsItsOwnProcessWhereNobodyMayFollow) {
  const auto alone = [](const Plan& plan, Isolation isolation = Isolation::kShared) {
    Scheduler s(plan, isolation);
    return s.QueueOf(0) != s.QueueOf(1) && !s.QueueOf(0)->shared;
  };
  EXPECT_FALSE(alone(WithLeading()));
  EXPECT_TRUE(alone(WithLeading(), Isolation::kProcess));
  Plan plan = WithLeading();
  plan.cases[0].leading = false;
  EXPECT_TRUE(alone(plan));
  plan = WithLeading();
  for (Case& c : plan.cases) c.prerequisites.clear();
  EXPECT_TRUE(alone(plan)) << "nothing needs it";
  plan = WithLeading();
  for (const size_t i : {1, 2}) plan.cases[i].planned.layer = Layer::kFramework;
  EXPECT_TRUE(alone(plan)) << "what follows works in a child";
  plan = WithLeading();
  for (const size_t i : {1, 2}) plan.cases[i].planned.ref.device = "gpu1";
  EXPECT_TRUE(alone(plan)) << "another device's";
}

}  // namespace
}  // namespace cudnn_ci
