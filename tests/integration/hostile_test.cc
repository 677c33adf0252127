// A check that answers for other cases than its own. What a program of the image tries:
// shipped_exec_spy_test.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

// It empties its socket before its verdict, and says behind it that whatever lay there has passed.
TEST(Hostile, ACheckCannotAnswerForTheCasesBehindIt) {
  GateRun run;
  run.Matrix(Entry("fixture.answers_for_others", R"("axes": {"i": [0, 1, 2, 3]})"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_EQ(result.Outcome("fixture.answers_for_others[i=0]"), "passed");
  for (const char* i : {"1", "2", "3"})
    EXPECT_EQ(result.Outcome(std::string("fixture.answers_for_others[i=") + i + "]"), "failed") << i;
}

// A run whose reports nobody could tell from forged ones is none.
TEST(RunToken, ThatCannotBeTakenIsExit2AndLeavesNoEarlierReport) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Write("short", "0123456789abcde\n");
  run.Write("two", "0123456789abcdef 0123456789abcdef\n");
  run.Write("word", "0123456789abcdef\n");
  std::filesystem::create_symlink("word", run.Path("link"));
  ASSERT_EQ(mkfifo(run.Path("pipe").c_str(), 0600), 0);
  for (const std::string name : {"missing", "short", "two", "link", "pipe", "report"}) {
    ASSERT_EQ(run.Run().exit_code, 0);
    const GateResult result = run.Run({"--run-token", name});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.err, HasSubstr("--run-token: " + name)) << name;
    EXPECT_FALSE(run.Exists("report/junit.xml")) << name;
  }
  EXPECT_TRUE(run.Exists("word"));
  EXPECT_EQ(run.Run({"--run-token", "word"}).exit_code, 0);
  EXPECT_FALSE(run.Exists("word"));
}

}  // namespace
}  // namespace cudnn_ci
