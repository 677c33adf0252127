// A check that answers for other cases than its own. What a program of the image tries:
// shipped_exec_spy_test.
#include <gmock/gmock.h>

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

}  // namespace
}  // namespace cudnn_ci
