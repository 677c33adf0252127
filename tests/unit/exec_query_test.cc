// A worker that is asked about its plugin: what it answers is bounded, and what goes wrong is named.
#include <gmock/gmock.h>
#include <signal.h>

#include "exec/workers/query_worker.h"
#include "golden_messages.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using Task = QueryWorker::Task;

constexpr int64_t kSecond = 1'000'000'000;

class QueryWorkerTest : public testing::Test {
 protected:
  QueryWorkerTest() {
    worker_.OnStarted(
        1, [] { return std::string("evidence"); }, 0);
    worker_.Ask({wire::Configure{}}, 0, &effects_);
    effects_.clear();
  }
  void Say(const wire::FromWorker& m, int64_t now = 0) { worker_.OnPacket(wire::Encode(m), now, &effects_); }
  bool Killed() const { return worker_.termination() != nullptr; }
  void Exit(bool signaled, int code) { worker_.OnExit({signaled, code, false}, false, 0, &effects_); }
  QueryWorker worker_{{{Task::kDescribe, 10}, {Task::kFacts, 60}}, WorkerLimits{}};
  Effects effects_;
};

TEST_F(QueryWorkerTest, AnswersThatAreCompleteAreNoError) {
  wire::PluginDescribed plugin;
  plugin.info.name = "p";
  Say(plugin);
  Say(wire::CheckDescribed{});
  Say(wire::DescribeEnd{});
  Say(wire::Fact{"a.key", "value"});
  Say(wire::FactsEnd{});
  Exit(false, 0);
  EXPECT_EQ(worker_.error(), nullptr);
  EXPECT_EQ(worker_.info().checks.size(), 1u);
  EXPECT_EQ(worker_.facts().at("a.key"), "value");
}

TEST_F(QueryWorkerTest, ACrashOrEarlyExitIsNamedWithWhatItWasDoing) {
  Say(wire::DescribeEnd{});
  Exit(true, SIGSEGV);
  ASSERT_NE(worker_.error(), nullptr);
  EXPECT_EQ(worker_.error()->kind, ErrorKind::kCrashed);
  EXPECT_THAT(worker_.error()->detail, HasSubstr(" facts"));
  GoldenMessages("exec.txt").Row("a crash", worker_.error()->detail);
  EXPECT_FALSE(worker_.unfinished(Task::kDescribe));
  EXPECT_TRUE(worker_.unfinished(Task::kFacts));
}

TEST_F(QueryWorkerTest, ACrashAfterTheLastAnswerCounts) {
  Say(wire::DescribeEnd{});
  Say(wire::FactsEnd{});
  Exit(true, SIGSEGV);
  ASSERT_NE(worker_.error(), nullptr);
  EXPECT_EQ(worker_.error()->kind, ErrorKind::kCrashed);
}

// A thread crashes while another answers and ends the process.
TEST_F(QueryWorkerTest, AnAnswerBehindACrashIsNotTaken) {
  Crash crash;
  crash.signal = SIGSEGV;
  Say(wire::DescribeEnd{});
  Say(wire::Crashed{crash});
  Say(wire::Fact{"a.key", "value"});
  Say(wire::FactsEnd{});
  Exit(false, 0);
  ASSERT_NE(worker_.error(), nullptr);
  EXPECT_EQ(worker_.error()->kind, ErrorKind::kCrashed);
  EXPECT_TRUE(worker_.unfinished(Task::kFacts));
  EXPECT_TRUE(worker_.facts().empty());
}

TEST_F(QueryWorkerTest, EachTaskHasItsOwnTimeLimit) {
  EXPECT_EQ(worker_.NextDeadlineNs(), 10 * kSecond);
  Say(wire::DescribeEnd{}, 5 * kSecond);
  EXPECT_EQ(worker_.NextDeadlineNs(), 65 * kSecond);
  worker_.OnTick(65 * kSecond, &effects_);
  ASSERT_TRUE(Killed());
  EXPECT_EQ(worker_.termination()->kind, ErrorKind::kTimedOut);
}

TEST_F(QueryWorkerTest, ADescriptionThatComesWhenItsTimeIsUpIsNone) {
  worker_.OnTick(10 * kSecond, &effects_);
  ASSERT_TRUE(Killed());
  Say(wire::DescribeEnd{}, 10 * kSecond);
  Say(wire::Fact{"a.key", "value"}, 10 * kSecond);
  Say(wire::FactsEnd{}, 10 * kSecond);
  Exit(true, SIGKILL);
  EXPECT_TRUE(worker_.unfinished(Task::kDescribe));
  EXPECT_TRUE(worker_.facts().empty());
  ASSERT_NE(worker_.error(), nullptr);
  EXPECT_EQ(worker_.error()->kind, ErrorKind::kTimedOut);
  EXPECT_THAT(worker_.error()->detail, HasSubstr(" described"));
  GoldenMessages("exec.txt").Row("a late description", worker_.error()->detail);
}

TEST_F(QueryWorkerTest, OneThatSurvivesSigkillIsGivenUp) {
  worker_.OnTick(10 * kSecond, &effects_);
  worker_.OnTick(20 * kSecond, &effects_);
  ASSERT_FALSE(effects_.empty());
  EXPECT_TRUE(std::holds_alternative<Abandoned>(effects_.back()));
  ASSERT_NE(worker_.error(), nullptr);
  EXPECT_EQ(worker_.error()->kind, ErrorKind::kAbandoned);
}

TEST_F(QueryWorkerTest, ThatDoesNotExitAfterItsLastAnswerIsEnded) {
  Say(wire::DescribeEnd{});
  Say(wire::FactsEnd{}, kSecond);
  EXPECT_EQ(worker_.NextDeadlineNs(), 11 * kSecond);
  worker_.OnTick(11 * kSecond, &effects_);
  EXPECT_TRUE(Killed());
}

TEST_F(QueryWorkerTest, TooManyAnswersAreRefused) {
  for (int i = 0; i < 4096; ++i) Say(wire::CheckDescribed{});
  EXPECT_FALSE(Killed());
  Say(wire::CheckDescribed{});
  ASSERT_TRUE(Killed());
  EXPECT_EQ(worker_.termination()->kind, ErrorKind::kProtocol);
}

TEST_F(QueryWorkerTest, TooManyBytesOfAnswersAreRefused) {
  Say(wire::DescribeEnd{});
  for (int i = 0; i < 1000; ++i) Say(wire::Fact{"key" + std::to_string(i), std::string(15'000, 'x')});
  EXPECT_FALSE(Killed());
  for (int i = 0; i < 200; ++i) Say(wire::Fact{"more" + std::to_string(i), std::string(15'000, 'x')});
  EXPECT_TRUE(Killed());
}

TEST_F(QueryWorkerTest, AnswersToWhatIsNotAskedNowAreRefused) {
  Say(wire::Fact{"too", "early"});
  EXPECT_TRUE(Killed());
}

TEST_F(QueryWorkerTest, APluginThatIsNoneIsNamedInTheWorkersWords) {
  Say(wire::PluginFailed{"undefined symbol: x"});
  Say(wire::FactsEnd{});
  Exit(false, 0);
  ASSERT_NE(worker_.error(), nullptr);
  EXPECT_EQ(worker_.error()->kind, ErrorKind::kPluginLoad);
  EXPECT_EQ(worker_.error()->detail, "undefined symbol: x");
}

TEST_F(QueryWorkerTest, MessagesOfACaseAreRefused) {
  Say(wire::CaseStarted{1});
  EXPECT_TRUE(Killed());
}

}  // namespace
}  // namespace cudnn_ci
