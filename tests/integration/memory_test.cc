// Memory that runs out, in a memory cgroup of its own: the check goes, the harness stays and reports.
#include <gmock/gmock.h>

#include "gate_run.h"
#include "small_group.h"

namespace cudnn_ci {
namespace {

TEST(Memory, ThatACheckExhaustsInASmallGroupEndsTheCheckAndNotTheRun) {
  const SmallGroup group = SmallGroup::OfMemory(256 << 20);
  if (!group.why().empty()) GTEST_SKIP() << group.why();
  GateRun run;
  run.Matrix(Entry("fixture.eat_memory") + ", " + Entry("fixture.pass", R"("axes": {"i": [1, 2]})"));
  run.Before(group.Words());
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(result.Errors("fixture.eat_memory[max_mib=2048]"), "image.out-of-memory") << result.out;
  // By the watch, before the kernel has to.
  EXPECT_THAT(result.Case("fixture.eat_memory[max_mib=2048]")["findings"].dump(),
              testing::HasSubstr("resident size"));
  EXPECT_EQ(result.Outcome("fixture.pass[i=1]"), "passed");
  EXPECT_EQ(result.Outcome("fixture.pass[i=2]"), "passed");
  EXPECT_THAT(run.LeftAfter(1), testing::IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
