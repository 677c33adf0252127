// What is held against a worker though its exit status says otherwise, and what is not.
#include "worker_fixture.h"

namespace cudnn_ci {
namespace {

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

TEST_F(WorkerTest, AnIdleSharedWorkerThatTheHarnessTerminatedEndedBadlyWithAnyExitStatus) {
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
  for (const bool shared : {false, true}) {
    Start(shared);
    Assign(0, 10);
    Tick(10 * kSecond);
    Pass(1, 10 * kSecond);
    Exit(false, 0, 10 * kSecond);
    EXPECT_EQ(Error().kind, ErrorKind::kTimedOut) << shared;
  }
}

// Whether another case runs or none does: what is said of it terminates the process and is not kept.
TEST_F(WorkerTest, WhatIsSaidOfACaseThatDoesNotRunIsNotTaken) {
  constexpr int64_t kOther = 7;
  wire::CaseFinished finished;
  finished.serial = kOther;
  finished.evaluated = 1;
  const std::vector<wire::FromWorker> messages = {wire::CaseStarted{kOther},
                                                  wire::Step{kOther, "step", true},
                                                  wire::Expectation{kOther, "a.cc", 3, "wrong"},
                                                  wire::FindingSaid{kOther, "declared", "said"},
                                                  wire::Measurement{kOther, "name", 1, "ms", "lower"},
                                                  wire::Attachment{kOther, "name", "text/plain", "file"},
                                                  wire::Log{kOther, 0, "logged"},
                                                  wire::Poisoned{kOther, "poisoned"},
                                                  wire::Uncaught{kOther, "thrown"},
                                                  finished};
  for (const bool running : {true, false}) {
    for (const wire::FromWorker& message : messages) {
      SCOPED_TRACE(std::to_string(message.index()) + (running ? " beside a case" : " of an idle worker"));
      Start(true);
      Assign(0);
      if (!running) Pass(1);
      effects_.clear();
      Say(message);
      EXPECT_TRUE(All<EmitEvent>().empty());
      EXPECT_TRUE(All<AttemptEnded>().empty());
      Exit(true, SIGKILL);
      if (!running) continue;
      EXPECT_EQ(Error().kind, ErrorKind::kProtocol);
      EXPECT_EQ(Only().output.find("logged"), std::string::npos);
    }
  }
}

TEST_F(WorkerTest, AFailureIsNotHiddenByASkipAfterIt) {
  Start(true);
  Assign(0);
  Say(wire::Expectation{1, "a.cc", 3, "wrong"});
  wire::CaseFinished f;
  f.serial = 1;
  f.evaluated = 1;
  f.skip.emplace();
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

// What a check may report is bounded; what it is terminated by never gets lost.

TEST_F(WorkerTest, WhatIsBeyondTheBoundsIsCountedAndToldInAWarning) {
  Start(true);
  Assign(0);
  for (int i = 0; i < 1500; ++i) Say(wire::Measurement{1, "m", 1, "", ""});
  for (int i = 0; i < 5000; ++i) Say(wire::Step{1, "s", false});
  Pass(1);
  EXPECT_EQ(Events<Measured>(), 1000u);
  EXPECT_EQ(Events<StepReached>(), 4096u);
  ASSERT_EQ(Findings().size(), 1u);
  EXPECT_EQ(Findings()[0].slug, "evidence-dropped");
  EXPECT_EQ(Findings()[0].severity, Severity::kWarning);
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

// The check's process is not to be believed: what may not be shown is not kept, whoever let it pass.
TEST_F(WorkerTest, AReportedLineStandsInThePlaceOfTheDeclaredOneIfItIsOne) {
  declared_.command = "ENV A=b";
  declared_.where = Where::kImage;
  Start(true);
  Assign(0);
  const std::pair<std::string, Where> rows[] = {{"nvidia-smi", Where::kHost},
                                                {"two\nlines", Where::kHost},
                                                {"\x1b[31m", Where::kHost},
                                                {" blanks ", Where::kHost},
                                                {std::string(1001, 'x'), Where::kHost},
                                                {"nowhere", Where::kNone},
                                                {"", Where::kHost}};
  for (const auto& [command, where] : rows) Say(wire::FindingSaid{1, "declared", "x", command, where});
  Say(wire::FindingSaid{1, "nobody-declared-this", "x", "nvidia-smi", Where::kHost});
  const std::vector<Finding> found = Findings();
  ASSERT_EQ(found.size(), std::size(rows) + 1);
  EXPECT_EQ(found[0].command, "nvidia-smi");
  EXPECT_EQ(found[0].where, Where::kHost);
  for (size_t i = 1; i < std::size(rows); ++i) {
    EXPECT_EQ(found[i].command, "ENV A=b") << i;
    EXPECT_EQ(found[i].where, Where::kImage) << i;
  }
  EXPECT_EQ(found.back().command, "");
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
