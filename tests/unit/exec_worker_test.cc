// The worker's state machine, row by row, without a process.
#include <gmock/gmock.h>
#include <signal.h>

#include "exec/case_worker.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

class WorkerTest : public testing::Test {
 protected:
  void Start(bool shared) {
    WorkerLimits limits;
    limits.grace_s = 2;
    limits.abandon_s = 10;
    limits.exit_s = 10;
    limits.output_bytes = 1000;
    Start(shared, limits);
  }
  void Start(bool shared, const WorkerLimits& limits) {
    worker_.emplace(shared, limits, [this](const std::string& slug) {
      return slug == declared_.slug ? &declared_ : nullptr;
    });
    worker_->OnStarted(
        1, [] { return std::string("evidence"); }, 0);
    effects_.clear();
  }
  void Assign(size_t index, double timeout_s = 60) {
    Assignment a;
    a.case_index = index;
    a.ref.id = "case" + std::to_string(index);
    a.run.serial = static_cast<int64_t>(index) + 1;
    a.timeout_s = timeout_s;
    a.mode = worker_->shared() ? AttemptMode::kShared : AttemptMode::kAlone;
    worker_->Assign(a, 0, &effects_);
  }
  void Say(const wire::FromWorker& m, int64_t now = 0) { worker_->OnPacket(wire::Encode(m), now, &effects_); }
  void Pass(int64_t serial, int64_t now = 0) {
    Say(wire::CaseStarted{serial}, now);
    wire::CaseFinished f;
    f.serial = serial;
    f.evaluated = 1;
    Say(f, now);
  }
  void Tick(int64_t now) { worker_->OnTick(now, &effects_); }
  void Exit(bool signaled, int code, int64_t now = 0) {
    worker_->OnExit({signaled, code, false}, false, now, &effects_);
  }
  template <class T>
  std::vector<T> All() const {
    std::vector<T> out;
    for (const Effect& e : effects_)
      if (const T* t = std::get_if<T>(&e)) out.push_back(*t);
    return out;
  }
  AttemptResult Only() const {
    const auto ended = All<AttemptEnded>();
    EXPECT_EQ(ended.size(), 1u);
    return ended.empty() ? AttemptResult{} : ended[0].result;
  }
  Errored Error() const {
    const auto* e = std::get_if<Errored>(&static_cast<const Outcome&>(outcome_ = Only().outcome));
    EXPECT_NE(e, nullptr);
    return e ? *e : Errored{};
  }
  std::vector<int> Signals() const {
    std::vector<int> out;
    for (const SendSignal& s : All<SendSignal>()) out.push_back(s.signal);
    return out;
  }
  std::vector<Finding> Findings() const {
    std::vector<Finding> out;
    for (const EmitEvent& e : All<EmitEvent>())
      if (const auto* f = std::get_if<FindingReported>(&e.body)) out.push_back(f->finding);
    return out;
  }
  template <class E>
  size_t Events() const {
    size_t n = 0;
    for (const EmitEvent& e : All<EmitEvent>()) n += std::holds_alternative<E>(e.body) ? 1 : 0;
    return n;
  }
  FindingInfo declared_{"declared", Severity::kError, Blame::kImage, "s", "r", "", "p"};
  std::optional<CaseWorker> worker_;
  std::vector<Effect> effects_;
  mutable Outcome outcome_;
};

TEST_F(WorkerTest, APassAloneCountsOnlyWhenTheProcessHasEndedWell) {
  Start(false);
  Assign(0);
  Pass(1);
  EXPECT_TRUE(All<AttemptEnded>().empty());
  Exit(false, 0);
  EXPECT_TRUE(std::holds_alternative<Passed>(Only().outcome));
}

TEST_F(WorkerTest, ACrashAfterTheVerdictOverrulesIt) {
  Start(false);
  Assign(0);
  Pass(1);
  Exit(true, SIGSEGV);
  EXPECT_EQ(Error().kind, ErrorKind::kCrashed);
  EXPECT_THAT(Error().detail, HasSubstr("after its verdict"));
}

TEST_F(WorkerTest, AnExitBeforeTheVerdictIsNeverAPass) {
  Start(false);
  Assign(0);
  Exit(false, 0);
  EXPECT_EQ(Error().kind, ErrorKind::kExited);
}

TEST_F(WorkerTest, ACaseThatIsSlowIsSaidToBeBeforeItsLimit) {
  Start(false);
  Assign(0, 10);
  Tick(4 * kSecond);
  EXPECT_TRUE(All<EmitEvent>().empty());
  EXPECT_EQ(worker_->NextDeadlineNs(), 5 * kSecond);
  Tick(5 * kSecond);
  ASSERT_EQ(All<EmitEvent>().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<CaseSlow>(All<EmitEvent>()[0].body));
  EXPECT_EQ(worker_->NextDeadlineNs(), 10 * kSecond);
  EXPECT_TRUE(Signals().empty());
}

TEST_F(WorkerTest, AHangIsTerminatedThenKilledAndTimedOut) {
  Start(false);
  Assign(0, 10);
  Say(wire::CaseStarted{1});
  Say(wire::Step{1, "algo=1", false});
  Tick(10 * kSecond);
  EXPECT_EQ(Signals(), std::vector<int>({SIGTERM}));
  EXPECT_EQ(worker_->NextDeadlineNs(), 12 * kSecond);
  Tick(12 * kSecond);
  EXPECT_EQ(Signals(), std::vector<int>({SIGTERM, SIGKILL}));
  Exit(true, SIGKILL, 12 * kSecond);
  EXPECT_EQ(Error().kind, ErrorKind::kTimedOut);
  EXPECT_THAT(Error().detail, HasSubstr("in step algo=1"));
  EXPECT_EQ(Only().evidence, "evidence");
}

TEST_F(WorkerTest, AProcessThatSurvivesSigkillIsAbandoned) {
  Start(false);
  Assign(0, 1);
  Tick(1 * kSecond);
  Tick(3 * kSecond);
  EXPECT_EQ(worker_->NextDeadlineNs(), 13 * kSecond);
  Tick(13 * kSecond);
  EXPECT_EQ(All<Abandoned>().size(), 1u);
  EXPECT_EQ(Error().kind, ErrorKind::kAbandoned);
  EXPECT_EQ(worker_->NextDeadlineNs(), INT64_MAX);
}

TEST_F(WorkerTest, AProcessThatDoesNotExitAfterItsVerdictIsTimedOut) {
  Start(false);
  Assign(0);
  Pass(1);
  Tick(10 * kSecond);
  EXPECT_EQ(Signals(), std::vector<int>({SIGTERM}));
  Exit(true, SIGTERM, 11 * kSecond);
  EXPECT_EQ(Error().kind, ErrorKind::kTimedOut);
  EXPECT_THAT(Error().detail, HasSubstr("after its verdict"));
}

TEST_F(WorkerTest, OutputBeyondTheLimitKillsAtOnce) {
  Start(false);
  Assign(0);
  worker_->OnOutput(std::string(1001, 'x'), 0, &effects_);
  EXPECT_EQ(Signals(), std::vector<int>({SIGKILL}));
  Exit(true, SIGKILL);
  EXPECT_EQ(Error().kind, ErrorKind::kOutputLimit);
}

TEST_F(WorkerTest, GarbageAndMessagesOfAnotherRunAreAProtocolError) {
  for (const std::string& packet :
       {std::string("garbage"), wire::Encode(wire::FromWorker(wire::Step{7, "x", false})),
        wire::Encode(wire::FromWorker(wire::DescribeEnd{}))}) {
    effects_.clear();
    Start(false);
    Assign(0);
    worker_->OnPacket(packet, 0, &effects_);
    Exit(true, SIGKILL);
    EXPECT_EQ(Error().kind, ErrorKind::kProtocol);
  }
}

TEST_F(WorkerTest, ASharedCrashChargesTheFirstUnfinishedAndGivesTheRestBack) {
  Start(true);
  for (size_t i = 0; i < 4; ++i) Assign(i);
  Pass(1);
  Exit(true, SIGSEGV);
  ASSERT_EQ(All<AttemptEnded>().size(), 2u);
  EXPECT_EQ(All<AttemptEnded>()[1].result.case_index, 1u);
  ASSERT_EQ(All<GiveBack>().size(), 1u);
  EXPECT_EQ(All<GiveBack>()[0].case_indices, std::vector<size_t>({2, 3}));
}

TEST_F(WorkerTest, PoisonRetiresASharedWorkerAfterItsVerdict) {
  Start(true);
  Assign(0);
  Assign(1);
  Say(wire::CaseStarted{1});
  Say(wire::Poisoned{1, "why"});
  wire::CaseFinished f;
  f.serial = 1;
  f.evaluated = 1;
  Say(f);
  EXPECT_TRUE(std::holds_alternative<Passed>(All<AttemptEnded>()[0].result.outcome));
  EXPECT_EQ(All<GiveBack>()[0].case_indices, std::vector<size_t>({1}));
  EXPECT_FALSE(worker_->accepting());
}

TEST_F(WorkerTest, NothingEvaluatedIsAFailure) {
  Start(true);
  Assign(0);
  Say(wire::CaseStarted{1});
  wire::CaseFinished f;
  f.serial = 1;
  Say(f);
  EXPECT_TRUE(std::holds_alternative<Failed>(Only().outcome));
}

TEST_F(WorkerTest, ABadEndOfASharedWorkerThatOwesNothingIsNoticed) {
  Start(true);
  Assign(0);
  Pass(1);
  worker_->Shutdown(0, &effects_);
  Exit(false, 3);
  EXPECT_TRUE(worker_->ended_badly());
}

TEST_F(WorkerTest, WithoutTimeoutsNothingIsEverEnded) {
  WorkerLimits limits;
  limits.timeouts = false;
  Start(true, limits);
  Assign(0, 1);
  Tick(1000 * kSecond);
  EXPECT_TRUE(Signals().empty());
  EXPECT_EQ(worker_->NextDeadlineNs(), INT64_MAX);
}

// What the harness convicted stays convicted, whatever the exit status says.

TEST_F(WorkerTest, AHangAfterTheVerdictIsTimedOutThoughItExitsWithZeroWhenItIsTerminated) {
  Start(false);
  Assign(0);
  Pass(1);
  Tick(10 * kSecond);
  Exit(false, 0, 11 * kSecond);
  EXPECT_EQ(Error().kind, ErrorKind::kTimedOut);
}

TEST_F(WorkerTest, WhatIsSentInOneBreathWithTheVerdictIsHeldAgainstIt) {
  const wire::FromWorker after[] = {wire::Expectation{1, "a.cc", 3, "late"},
                                    wire::FindingSaid{1, "declared", "late"}, wire::CaseFinished{},
                                    wire::DescribeEnd{}};
  for (const wire::FromWorker& message : after) {
    Start(false);
    Assign(0);
    Pass(1);
    Say(message);
    Exit(false, 0);
    EXPECT_EQ(Error().kind, ErrorKind::kProtocol);
  }
}

TEST_F(WorkerTest, GarbageAfterALeakIsHeldAgainstItThoughItIsKilledAlready) {
  Start(false);
  Assign(0);
  wire::CaseFinished f;
  f.serial = 1;
  f.evaluated = 1;
  f.leaked = true;
  Say(f);
  worker_->OnPacket("garbage", 0, &effects_);
  Exit(true, SIGKILL);
  EXPECT_EQ(Error().kind, ErrorKind::kProtocol);
}

TEST_F(WorkerTest, ALeakIsKilledAndItsPassStands) {
  Start(false);
  Assign(0);
  wire::CaseFinished f;
  f.serial = 1;
  f.evaluated = 1;
  f.leaked = true;
  Say(f);
  EXPECT_EQ(Signals(), std::vector<int>({SIGKILL}));
  Exit(true, SIGKILL);
  EXPECT_TRUE(std::holds_alternative<Passed>(Only().outcome));
}

TEST_F(WorkerTest, AnIdleSharedWorkerThatTheHarnessConvictedEndedBadlyWithAnyExitStatus) {
  const std::function<void()> crimes[] = {[&] { worker_->OnPacket("garbage", 0, &effects_); },
                                          [&] { worker_->OnOutput(std::string(1001, 'x'), 0, &effects_); },
                                          [&] {
                                            Say(wire::Expectation{1, "a.cc", 3, "late"});
                                          },
                                          [&] {
                                            worker_->Shutdown(0, &effects_);
                                            Tick(10 * kSecond);
                                          }};
  for (const auto& crime : crimes) {
    Start(true);
    Assign(0);
    Pass(1);
    EXPECT_TRUE(worker_->idle());
    crime();
    Exit(false, 0, 11 * kSecond);
    EXPECT_TRUE(worker_->ended_badly());
    EXPECT_EQ(worker_->last_finished()->case_index, 0u);
  }
}

TEST_F(WorkerTest, ACancelledRunIsNoFaultOfAnIdleWorker) {
  Start(true);
  Assign(0);
  Pass(1);
  worker_->Terminate(ErrorKind::kCancelled, "over", true, 0, &effects_);
  Exit(true, SIGKILL);
  EXPECT_FALSE(worker_->ended_badly());
}

TEST_F(WorkerTest, AVerdictAfterTheTimeLimitIsTooLate) {
  Start(false);
  Assign(0, 10);
  Tick(10 * kSecond);
  Pass(1, 10 * kSecond);
  Exit(false, 0, 10 * kSecond);
  EXPECT_EQ(Error().kind, ErrorKind::kTimedOut);
}

TEST_F(WorkerTest, AFailureIsNotHiddenByASkipAfterIt) {
  Start(true);
  Assign(0);
  Say(wire::Expectation{1, "a.cc", 3, "wrong"});
  wire::CaseFinished f;
  f.serial = 1;
  f.evaluated = 1;
  f.skipped = true;
  Say(f);
  EXPECT_TRUE(std::holds_alternative<Failed>(Only().outcome));
}

TEST_F(WorkerTest, AWorkerOfAnotherVersionIsNotBelieved) {
  Start(false);
  Assign(0);
  Say(wire::Hello{wire::kVersion + 1, 1});
  Pass(1);
  Exit(false, 0);
  EXPECT_EQ(Error().kind, ErrorKind::kProtocol);
}

TEST_F(WorkerTest, ACanaryNobodyAskedForIsNotBelieved) {
  Start(false);
  Assign(0);
  Say(wire::CanaryDone{true, ""});
  Exit(true, SIGKILL);
  EXPECT_EQ(Error().kind, ErrorKind::kProtocol);
  EXPECT_TRUE(All<CanaryResult>().empty());
}

TEST_F(WorkerTest, ACancelledCanarySaysNothingAboutTheDevice) {
  Start(false);
  worker_->RequestCanary(0, &effects_);
  worker_->Terminate(ErrorKind::kCancelled, "over", false, 0, &effects_);
  Exit(true, SIGTERM);
  EXPECT_TRUE(All<CanaryResult>().empty());
}

TEST_F(WorkerTest, ACanaryThatEndsItsProcessOrHangsIsAnswered) {
  Start(false);
  worker_->RequestCanary(0, &effects_);
  Exit(true, SIGSEGV);
  ASSERT_EQ(All<CanaryResult>().size(), 1u);
  EXPECT_FALSE(All<CanaryResult>()[0].ok);
  Start(false);
  worker_->RequestCanary(0, &effects_);
  EXPECT_EQ(worker_->NextDeadlineNs(), 60 * kSecond);
  Tick(60 * kSecond);
  EXPECT_EQ(Signals(), std::vector<int>({SIGKILL}));
  Exit(true, SIGKILL, 60 * kSecond);
  EXPECT_EQ(All<CanaryResult>().size(), 1u);
}

TEST_F(WorkerTest, SignalsThatOthersSendAccuseNobody) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    Start(false);
    Assign(0);
    Exit(true, signal);
    EXPECT_EQ(Error().kind, ErrorKind::kKilledFromOutside) << signal;
  }
}

TEST_F(WorkerTest, TheKernelsMemoryKillIsNoCrash) {
  Start(false);
  Assign(0);
  worker_->OnExit({true, SIGKILL, false}, true, 0, &effects_);
  EXPECT_EQ(Error().kind, ErrorKind::kOutOfMemory);
}

// What a check may report is bounded; what it is convicted by never gets lost.

TEST_F(WorkerTest, WhatIsBeyondTheBoundsIsCountedAndToldInANote) {
  Start(true);
  Assign(0);
  for (int i = 0; i < 1500; ++i) Say(wire::Measurement{1, "m", 1, "", ""});
  for (int i = 0; i < 5000; ++i) Say(wire::Step{1, "s", false});
  Pass(1);
  EXPECT_EQ(Events<Measured>(), 1000u);
  EXPECT_EQ(Events<StepReached>(), 4096u);
  ASSERT_EQ(Findings().size(), 1u);
  EXPECT_EQ(Findings()[0].slug, "evidence-dropped");
  EXPECT_EQ(Findings()[0].severity, Severity::kNote);
  EXPECT_EQ(Findings()[0].detail, "500 measurements, 904 steps");
  EXPECT_TRUE(std::holds_alternative<Passed>(Only().outcome));
}

TEST_F(WorkerTest, AnErrorAmongWhatIsDroppedIsAnErrorOfItsOwn) {
  declared_.severity = Severity::kNote;
  Start(true);
  Assign(0);
  for (int i = 0; i < 300; ++i) Say(wire::FindingSaid{1, "declared", "x"});
  Say(wire::FindingSaid{1, "nobody-declared-this", "x"});
  Pass(1);
  EXPECT_EQ(Findings().back().slug, "evidence-dropped");
  EXPECT_EQ(Findings().back().severity, Severity::kError);
  EXPECT_TRUE(std::holds_alternative<Failed>(Only().outcome));
}

TEST_F(WorkerTest, AFailedExpectationBeyondTheBoundsStillFails) {
  Start(true);
  Assign(0);
  Say(wire::Expectation{1, "a.cc", 3, std::string(60'000, 'x')});
  for (int i = 0; i < 300; ++i) Say(wire::Expectation{1, "a.cc", 3, std::string(15'000, 'x')});
  Pass(1);
  EXPECT_LT(Events<ExpectationFailed>(), 100u);  // by size before by number
  EXPECT_TRUE(std::holds_alternative<Failed>(Only().outcome));
}

}  // namespace
}  // namespace cudnn_ci
