// Memory that runs out, in a memory cgroup of its own: the check goes, the harness stays and reports.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// A group of 256 MiB, version 1 or 2; empty `path`: none can be had, and `why`.
class SmallGroup {
 public:
  SmallGroup() {
    const fs::path v1 = "/sys/fs/cgroup/memory", v2 = "/sys/fs/cgroup";
    const bool first = fs::exists(v1 / "memory.limit_in_bytes");
    if (geteuid() != 0) {
      why = "needs root to create a cgroup";
      return;
    }
    const fs::path group = (first ? v1 : v2) / ("cudnn-ci-test-" + std::to_string(getpid()));
    std::error_code error;
    fs::create_directory(group, error);
    if (error) {
      why = "cannot create " + group.string() + ": " + error.message();
      return;
    }
    path = group;
    std::ofstream limit(group / (first ? "memory.limit_in_bytes" : "memory.max"));
    limit << (256 << 20) << std::flush;
    if (!limit) why = "cannot limit " + group.string();
  }
  ~SmallGroup() {
    std::error_code ignored;
    if (!path.empty()) fs::remove(path, ignored);
  }
  fs::path path;
  std::string why;
};

TEST(Memory, ThatACheckExhaustsInASmallGroupEndsTheCheckAndNotTheRun) {
  const SmallGroup group;
  if (!group.why.empty()) GTEST_SKIP() << group.why;
  GateRun run;
  run.Matrix(Entry("fixture.eat_memory") + ", " + Entry("fixture.pass", R"("axes": {"i": [1, 2]})"));
  run.Before({"sh", "-c", "echo $$ > '" + (group.path / "cgroup.procs").string() + "' && exec \"$@\"", "sh"});
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
