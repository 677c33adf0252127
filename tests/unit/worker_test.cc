// The worker alone: what it makes of a plugin that breaks the contract, and of parameters that are
// impossible.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include "golden_messages.h"
#include "worker_client.h"

namespace cudnn_ci {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kRaw = CUDNN_CI_FIXTURES "/raw/raw.cci.so";
const std::string kFixture = CUDNN_CI_FIXTURES "/fixture/fixture.cci.so";

std::string ToText(const std::vector<wire::FromWorker>& messages) {
  std::string out;
  for (const wire::FromWorker& m : messages) out += wire::Encode(m) + "\n";
  return out;
}

// The message, which is the only one of its test, compared with the golden file.
std::string Golden(const std::string& given, const std::string& message) {
  return GoldenMessages("worker.txt").Row(given, message);
}

// ---- validate ----

wire::Validated Validate(const std::string& plugin, const std::string& check, const Params& params) {
  WorkerClient worker(plugin);
  worker.Send(wire::Validate{7, check, params});
  const auto answer = worker.Await<wire::Validated>();
  EXPECT_TRUE(answer.has_value());
  if (!answer) return {};
  EXPECT_EQ(answer->serial, 7);
  // It goes on serving, whatever the hook did.
  worker.Send(wire::CollectFacts{});
  EXPECT_TRUE(worker.Await<wire::FactsEnd>().has_value());
  return *answer;
}

Params Divides(int64_t n, int64_t by, const std::string& how = "judge") {
  return {{"n", n}, {"by", by}, {"how", how}};
}

TEST(WorkerValidate, PossibleParametersHaveNoProblem) {
  const wire::Validated v = Validate(kFixture, "fixture.divides", Divides(12, 4));
  EXPECT_THAT(v.problems, IsEmpty());
  EXPECT_EQ(v.failure, "");
}

TEST(WorkerValidate, ImpossibleParametersAreNamedWithTheReason) {
  const wire::Validated v = Validate(kFixture, "fixture.divides", Divides(12, 5));
  ASSERT_THAT(v.problems, SizeIs(1));
  EXPECT_EQ(v.problems[0].parameter, "by");
  EXPECT_EQ(v.problems[0].why, "5 does not divide 12");
  EXPECT_EQ(v.failure, "");
}

TEST(WorkerValidate, ACheckWithoutAHookAcceptsEverything) {
  const wire::Validated v = Validate(kFixture, "fixture.pass", {{"i", int64_t{1}}});
  EXPECT_THAT(v.problems, IsEmpty());
  EXPECT_EQ(v.failure, "");
}

TEST(WorkerValidate, AnExceptionIsAFailureOfTheHook) {
  const std::string failure = Validate(kFixture, "fixture.divides", Divides(12, 4, "throw")).failure;
  EXPECT_THAT(Golden("thrown", failure), HasSubstr("thrown"));
}

TEST(WorkerValidate, WhatBelongsToARunIsAFailureOfTheHook) {
  EXPECT_THAT(Golden("expect", Validate(kFixture, "fixture.divides", Divides(12, 4, "expect")).failure),
              HasSubstr(" expect,"));
}

TEST(WorkerValidate, AMissingParameterAndAnUnknownCheckAreFailures) {
  GoldenMessages golden("worker.txt");
  EXPECT_THAT(golden.Row("no parameters", Validate(kFixture, "fixture.divides", {}).failure),
              HasSubstr("'n'"));
  EXPECT_THAT(golden.Row("no such check", Validate(kFixture, "fixture.nothing_of_the_kind", {}).failure),
              HasSubstr("fixture.nothing_of_the_kind"));
}

TEST(WorkerValidate, MoreProblemsThanAnybodyReadsAreCut) {
  EXPECT_THAT(Validate(kFixture, "fixture.divides", Divides(12, 4, "flood")).problems,
              SizeIs(wire::kMaxProblems));
}

TEST(WorkerValidate, ADescriptionSaysWhichChecksHaveAHook) {
  WorkerClient worker(kFixture);
  int with = 0, without = 0;
  for (const CheckInfo& check : worker.DescribeChecks()) {
    EXPECT_EQ(check.validates, check.name == "fixture.divides") << check.name;
    ++(check.validates ? with : without);
  }
  EXPECT_EQ(with, 1);
  EXPECT_GT(without, 5);
}

// ---- the boundary ----

std::string UncaughtIn(const std::string& check) {
  WorkerClient worker(kRaw);
  const std::vector<wire::FromWorker> messages = worker.RunCase(check);
  EXPECT_TRUE(FirstOf<wire::CaseFinished>(messages)) << ToText(messages);
  const auto* uncaught = FirstOf<wire::Uncaught>(messages);
  return uncaught ? uncaught->what : "nothing";
}

TEST(WorkerBoundary, AnExceptionThatLeavesRunFailsTheCaseAndEndsTheService) {
  WorkerClient worker(kRaw);
  const std::vector<wire::FromWorker> messages = worker.RunCase("raw.throws");
  ASSERT_TRUE(FirstOf<wire::Uncaught>(messages)) << ToText(messages);
  EXPECT_THAT(FirstOf<wire::Uncaught>(messages)->what, HasSubstr("thrown through C"));
  EXPECT_TRUE(FirstOf<wire::Poisoned>(messages)) << ToText(messages);
  // What was queued behind it is not run.
  worker.Send(wire::Run{2, "raw.passes", {}, 20, 1, {}});
  worker.Send(wire::Shutdown{});
  EXPECT_FALSE(worker.Receive().has_value());
}

TEST(WorkerBoundary, AnExceptionThatIsNoneOfTheLibrarysFailsTheCaseToo) {
  EXPECT_THAT(Golden("an int", UncaughtIn("raw.throws_number")), HasSubstr("exception"));
}

TEST(WorkerBoundary, MemoryThatRunsOutInAHostFunctionFailsTheCase) {
  if (CUDNN_CI_SANITIZED) GTEST_SKIP() << "a sanitizer's allocator ends the process";
  EXPECT_THAT(Golden("no memory", UncaughtIn("raw.starves_host")), EndsWith("std::bad_alloc"));
}

TEST(WorkerBoundary, CallsOutOfPlaceFailTheCase) {
  GoldenMessages golden("worker.txt");
  EXPECT_THAT(golden.Row("invalid", UncaughtIn("raw.invalid_in_run")), HasSubstr(" invalid,"));
  EXPECT_THAT(golden.Row("fact_report", UncaughtIn("raw.fact_in_run")), HasSubstr(" fact_report,"));
  EXPECT_THAT(golden.Row("a skip", UncaughtIn("raw.unknown_skip")), EndsWith(" 4"));
}

TEST(WorkerHost, KnowsVersionsRangesAndWhatIsNeither) {
  WorkerClient worker(kRaw);
  const std::vector<wire::FromWorker> messages = worker.RunCase("raw.satisfies");
  ASSERT_TRUE(FirstOf<wire::CaseFinished>(messages));
  EXPECT_EQ(FirstOf<wire::CaseFinished>(messages)->evaluated, 8 + 8 * 3);
  EXPECT_FALSE(FirstOf<wire::Expectation>(messages)) << ToText(messages);
}

TEST(SdkMacros, NearAndTextsHoldWhereTheyShould) {
  WorkerClient worker(kFixture);
  const std::vector<wire::FromWorker> held = worker.RunCase("fixture.macros", {{"hold", true}});
  ASSERT_TRUE(FirstOf<wire::CaseFinished>(held));
  EXPECT_EQ(FirstOf<wire::CaseFinished>(held)->evaluated, 6);
  EXPECT_FALSE(FirstOf<wire::Expectation>(held)) << ToText(held);
  const std::vector<wire::FromWorker> failed = worker.RunCase("fixture.macros", {{"hold", false}});
  std::vector<std::string> words;
  for (const wire::FromWorker& m : failed)
    if (const auto* e = std::get_if<wire::Expectation>(&m)) words.push_back(e->what);
  ASSERT_THAT(words, SizeIs(5));
  EXPECT_EQ(words[0], "1.0 is within 0.5 of 2.0\n  left:  1\n  right: 2");
  EXPECT_THAT(words[1], HasSubstr("nan"));
  EXPECT_EQ(words[2], "absent == \"\"\n  left:  (null)\n  right: ");
  EXPECT_EQ(words[3], "\"a\" == \"b\"\n  left:  a\n  right: b");
  EXPECT_THAT(words[4], HasSubstr("is within 0 of"));
}

// A crash whose telling hangs, here because nobody reads it, ends the process all the same.
TEST(WorkerBoundary, ACrashThatCannotBeToldEndsTheProcessAfterThreeSeconds) {
  if (CUDNN_CI_SANITIZED) GTEST_SKIP() << "a sanitizer tells of the crash";
  const std::vector<std::string> library = {"FIXTURE_LIBRARY=" CUDNN_CI_FIXTURES
                                            "/libraries/image/libfixture_image.so"};
  WorkerClient alone(kFixture, library), shared_worker(kFixture, library);
  alone.Send(wire::Run{1, "fixture.calls", {{"how", std::string("unread")}}, 20, 1, {}});
  shared_worker.Send(wire::Run{1, "fixture.calls", {{"how", std::string("unread_thread")}}, 20, 1, {}});
  for (WorkerClient* worker : {&alone, &shared_worker}) {
    const std::optional<int> status = worker->Wait(10);
    ASSERT_TRUE(status.has_value());
    EXPECT_TRUE(WIFSIGNALED(*status)) << *status;
    EXPECT_EQ(WTERMSIG(*status), SIGSEGV) << *status;
  }
}

TEST(WorkerBoundary, FactsThatThrowSayWhy) {
  WorkerClient worker(kRaw);
  worker.Send(wire::CollectFacts{});
  const auto end = worker.Await<wire::FactsEnd>();
  ASSERT_TRUE(end.has_value());
  EXPECT_THAT(Golden("facts", end->failure), HasSubstr("facts thrown"));
}

TEST(WorkerBoundary, AnEntryPointThatThrowsIsAPluginThatCannotBeLoaded) {
  WorkerClient worker(CUDNN_CI_FIXTURES "/broken/entry_throws/entry_throws.cci.so");
  const auto failed = worker.Await<wire::PluginFailed>();
  ASSERT_TRUE(failed.has_value());
  EXPECT_THAT(Golden("no table", failed->reason), HasSubstr("cudnn_ci_plugin_v1: no table"));
}

}  // namespace
}  // namespace cudnn_ci
