// The worker's state machine, row by row, without a process.
#include "golden_messages.h"
#include "worker_fixture.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

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
  EXPECT_THAT(GoldenMessages("exec.txt").Row("passed, SIGSEGV", Error().detail), HasSubstr("verdict"));
}

Crash CrashIn(int signal_number, const std::string& module) {
  Crash crash;
  crash.signal = signal_number;
  crash.frames = {{0x1000, module, 0x10, ""}};
  return crash;
}

TEST_F(WorkerTest, WhatItTellsOfItsCrashIsExplainedWhenItDiesOfIt) {
  for (const bool after_verdict : {false, true}) {
    Start(false);
    worker_->ExplainCrashesBy([](Crash* crash) {
      crash->frames[0].symbol = "f+0x1";
      return CrashSite::kImage;
    });
    Assign(0);
    if (after_verdict) Pass(1);
    Say(wire::Crashed{CrashIn(SIGSEGV, "/early")});
    Say(wire::Crashed{CrashIn(SIGSEGV, "/late")});
    Exit(true, SIGSEGV);
    EXPECT_THAT(Error().detail, HasSubstr("; in /late, f+0x1"));
    EXPECT_EQ(Error().site, CrashSite::kImage);
    EXPECT_EQ(Only().evidence, "SIGSEGV, code 0, address 0x0\n#0 /late+0x10 f+0x1\n");
  }
}

// While one thread tells of its crash, another may give the verdict and end the process.
TEST_F(WorkerTest, ACrashThatItDidNotDieOfIsNotExplainedAndNeverAPass) {
  GoldenMessages golden("exec.txt");
  for (const bool passed : {false, true})
    for (const auto& [signaled, code] :
         {std::pair(true, SIGABRT), std::pair(false, SIGSEGV), std::pair(false, 0)}) {
      Start(false);
      worker_->ExplainCrashesBy([](Crash*) { return CrashSite::kImage; });
      Assign(0);
      if (passed) Pass(1);
      Say(wire::Crashed{CrashIn(SIGSEGV, "/lib")});
      Exit(signaled, code);
      EXPECT_EQ(Error().kind, ErrorKind::kCrashed);
      const std::string given =
          std::string(passed ? "passed, " : "") + (signaled ? "signal " : "exit ") + std::to_string(code);
      EXPECT_THAT(golden.Row(given, Error().detail), StartsWith("SIGSEGV "));
      EXPECT_EQ(Error().detail.find("/lib"), std::string::npos);
      EXPECT_EQ(Error().site, CrashSite::kUnknown);
      EXPECT_EQ(Only().evidence, "");
    }
}

// Its time is over, and it says where it was before it dies of SIGTERM, or is killed.
TEST_F(WorkerTest, WhereAHangWasIsEvidenceAndDecidesWhoseFaultItIs) {
  for (const CrashSite site : {CrashSite::kHarness, CrashSite::kUnknown})
    for (const int signal_number : {SIGTERM, SIGKILL}) {
      Start(false);
      worker_->ExplainCrashesBy([site](Crash*) { return site; });
      Assign(0, 10);
      Tick(10 * kSecond);
      Say(wire::Crashed{CrashIn(SIGTERM, "/plugin")});
      Exit(true, signal_number, 11 * kSecond);
      EXPECT_EQ(Error().kind, ErrorKind::kTimedOut);
      EXPECT_EQ(Error().site, site);
      EXPECT_EQ(Error().detail.find("; in /plugin") != std::string::npos, site == CrashSite::kHarness);
      EXPECT_THAT(Only().evidence, HasSubstr("#0 /plugin+0x10"));
    }
}

TEST_F(WorkerTest, ASigtermThatNobodyHereSentIsFromOutside) {
  Start(false);
  worker_->ExplainCrashesBy([](Crash*) { return CrashSite::kHarness; });
  Assign(0);
  Say(wire::Crashed{CrashIn(SIGTERM, "/plugin")});
  Exit(true, SIGTERM);
  EXPECT_EQ(Error().kind, ErrorKind::kKilledFromOutside);
  EXPECT_EQ(Error().site, CrashSite::kUnknown);
}

// Nobody asked it to end, and it did not: what it tells excuses no end of its own.
TEST_F(WorkerTest, AnEndThatWasToldAndDidNotComeIsACrash) {
  Start(false);
  Assign(0);
  Pass(1);
  Say(wire::Crashed{CrashIn(SIGTERM, "/plugin")});
  Exit(false, 0);
  EXPECT_EQ(Error().kind, ErrorKind::kCrashed);
}

TEST_F(WorkerTest, AVerdictBehindACrashIsNotTaken) {
  for (const bool shared : {false, true}) {
    Start(shared);
    Assign(0);
    Say(wire::Crashed{CrashIn(SIGSEGV, "/lib")});
    Pass(1);
    EXPECT_TRUE(All<AttemptEnded>().empty());
    Exit(true, SIGSEGV);
    EXPECT_EQ(Error().kind, ErrorKind::kCrashed);
    EXPECT_EQ(Error().detail, "SIGSEGV (Segmentation fault); in /lib");
  }
}

TEST_F(WorkerTest, AnIdleProcessThatCrashedAndEndedWellHasEndedBadly) {
  Start(true);
  Assign(0);
  Pass(1);
  Say(wire::Crashed{CrashIn(SIGSEGV, "/lib")});
  Exit(false, 0);
  EXPECT_TRUE(std::holds_alternative<Passed>(Only().outcome));
  EXPECT_TRUE(worker_->ended_badly());
}

// What ended it is known.
TEST_F(WorkerTest, ACrashOfAProcessThatTheHarnessKillsIsNotHeldAgainstIt) {
  Start(false);
  Assign(0);
  Say(wire::CaseStarted{1});
  wire::CaseFinished finished;
  finished.serial = finished.evaluated = 1;
  finished.leaked = true;
  Say(finished);
  EXPECT_EQ(Signals(), std::vector<int>({SIGKILL}));
  Say(wire::Crashed{CrashIn(SIGSEGV, "/lib")});
  Exit(true, SIGKILL);
  EXPECT_TRUE(std::holds_alternative<Passed>(Only().outcome));
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

TEST_F(WorkerTest, TheLimitIsThatOfTheCaseThatRuns) {
  Start(true);
  Assign(0, 10);
  Assign(1, 100);
  EXPECT_EQ(worker_->NextDeadlineNs(), 5 * kSecond);
  Pass(1, 2 * kSecond);
  EXPECT_EQ(worker_->NextDeadlineNs(), 52 * kSecond);
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
  EXPECT_THAT(Error().detail, HasSubstr(" algo=1"));
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
  EXPECT_THAT(GoldenMessages("exec.txt").Row("passed, no exit", Error().detail), HasSubstr("verdict"));
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

// What lies in its socket a check can read, and answer.
TEST_F(WorkerTest, ACaseIsSentWhenTheOneBeforeHasItsVerdict) {
  Start(true);
  for (size_t i = 0; i < 3; ++i) Assign(i);
  ASSERT_EQ(Runs(), std::vector<int64_t>({1}));
  Say(wire::CaseStarted{1});
  EXPECT_EQ(Runs(), std::vector<int64_t>({1}));
  Pass(1);
  EXPECT_EQ(Runs(), std::vector<int64_t>({1, 2}));
  Pass(2);
  EXPECT_EQ(Runs(), std::vector<int64_t>({1, 2, 3}));
  Pass(3);
  EXPECT_EQ(All<AttemptEnded>().size(), 3u);
  EXPECT_TRUE(worker_->idle());
}

TEST_F(WorkerTest, TheNextCaseIsSentBeforeTheResultIsJudged) {
  Start(true);
  Assign(0);
  Assign(1);
  effects_.clear();
  Pass(1);
  std::string order;
  for (const Effect& e : effects_) {
    if (std::holds_alternative<SendPacket>(e)) order += "sent ";
    if (std::holds_alternative<AttemptEnded>(e)) order += "judged ";
    const auto* event = std::get_if<EmitEvent>(&e);
    if (event && std::holds_alternative<AttemptStarted>(event->body)) order += "started ";
  }
  EXPECT_EQ(order, "started sent judged started ");
}

// The process says that it begins of its first case alone: every word of it wakes the harness.
TEST_F(WorkerTest, ALaterCaseBeginsWhenItIsSent) {
  Start(true);
  Assign(0);
  EXPECT_TRUE(All<EmitEvent>().empty());
  Pass(1);
  effects_.clear();
  Assign(1);
  ASSERT_EQ(All<EmitEvent>().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<AttemptStarted>(All<EmitEvent>()[0].body));
}

TEST_F(WorkerTest, AWorkerThatIsRetiredOrEndingIsSentNothingMore) {
  Start(true);
  Assign(0);
  Assign(1);
  wire::CaseFinished broken;
  broken.serial = 1;
  broken.evaluated = 1;
  broken.context_error = "sticky";
  Say(broken);
  EXPECT_EQ(Runs(), std::vector<int64_t>({1}));
  EXPECT_EQ(All<GiveBack>()[0].case_indices, std::vector<size_t>({1}));
}

TEST_F(WorkerTest, AShutdownGivesBackWhatWasNotSent) {
  Start(true);
  for (size_t i = 0; i < 3; ++i) Assign(i);
  worker_->Shutdown(0, &effects_);
  ASSERT_EQ(All<GiveBack>().size(), 1u);
  EXPECT_EQ(All<GiveBack>()[0].case_indices, std::vector<size_t>({1, 2}));
  Pass(1);
  EXPECT_EQ(Runs(), std::vector<int64_t>({1}));
  Exit(false, 0);
  EXPECT_TRUE(std::holds_alternative<Passed>(Only().outcome));
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

TEST_F(WorkerTest, SoIsTheEndOfAnIdleOneThatNobodyHadToldToStop) {
  Start(true);
  Assign(0);
  Pass(1);
  Exit(true, SIGSEGV);
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

}  // namespace
}  // namespace cudnn_ci
