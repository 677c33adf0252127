// The rules themselves: each is shown to fire, and to leave alone what is allowed.
#include "include_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One broken rule: the first must not include the second.
auto Forbids(const std::string& from, const std::string& to) {
  return ElementsAre(testing::HasSubstr(from + " must not know " + to));
}

std::vector<std::string> BrokenBy(const std::string& path, const std::string& include) {
  return BrokenRules(path, "#include " + include + "\n");
}

TEST(IncludesOf, ReadsBothFormsAndIgnoresComments) {
  const auto includes = IncludesOf(
      "#include \"base/fd.h\"\n  #  include <vector> // why\n// #include <map>\n#include MACRO\n#include "
      "<set>");
  ASSERT_EQ(includes.size(), 3u);
  EXPECT_EQ(includes[0].name, "base/fd.h");
  EXPECT_TRUE(includes[0].quoted);
  EXPECT_EQ(includes[1].name, "vector");
  EXPECT_FALSE(includes[1].quoted);
  EXPECT_EQ(includes[2].name, "set");
}

TEST(LayerOf, ComesFromTheFolder) {
  EXPECT_EQ(LayerOf("harness/exec/schedule/runner.cc"), "exec");
  EXPECT_EQ(LayerOf("harness/sdk/include/cudnn_ci/plugin.h"), "sdk");
  EXPECT_EQ(LayerOf("harness/main.cc"), "main");
  EXPECT_EQ(LayerOf("plugins/conv/forward.cc"), "plugins");
  EXPECT_EQ(LayerOf("tests/unit/plan_test.cc"), "");
}

TEST(BrokenRules, AllowsTheDirectionOfTheTable) {
  EXPECT_THAT(BrokenBy("harness/wire/message.cc", "\"model/record/event.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/worker/host.cc", "\"cudnn_ci/plugin.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/cli/commands/list.cc", "\"exec/schedule/runner.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/exec/schedule/runner.cc", "\"exec/workers/worker.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/conv/forward.cc", "<cudnn_ci/check.hpp>"), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/conv/forward.cc", "\"common/cudnn_api.h\""), IsEmpty());
}

TEST(BrokenRules, LetsTheModelKnowTheKeysOfFactsAndNothingElseOfTheSdk) {
  EXPECT_THAT(BrokenBy("harness/model/record/facts.cc", "<cudnn_ci/facts.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/model/record/facts.cc", "<cudnn_ci/plugin.h>"), Forbids("model", "sdk"));
  EXPECT_THAT(BrokenBy("harness/report/formats/json.cc", "<cudnn_ci/facts.h>"), Forbids("report", "sdk"));
}

TEST(BrokenRules, LetsPluginsReadFilesAsTheHarnessDoesAndNothingElseOfTheBase) {
  EXPECT_THAT(BrokenBy("plugins/common/loader_path.cc", "\"image/elf/elf_file.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/common/loader_path.cc", "\"image/loader/loader_files.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/common/loader_path.cc", "\"base/file.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/common/shortage.cc", "\"model/record/finding_ids.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/common/loader_path.cc", "\"base/secrets.h\""), Forbids("plugins", "base"));
  EXPECT_THAT(BrokenBy("harness/report/formats/json.cc", "\"image/contents/resolve.h\""),
              Forbids("report", "image"));
}

TEST(BrokenRules, TellsTheLayerImageFromThePluginOfThatName) {
  EXPECT_THAT(BrokenBy("plugins/image/jit_tools.cc", "\"image/contents/resolve.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/image/jit_tools.cc", "\"image/known_faults_scope.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/exec/run.cc", "\"exec/findings.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/exec/run.cc", "\"exec/workers/pool.h\""), Forbids("plugins", "exec"));
  EXPECT_THAT(BrokenBy("plugins/cudnn/load.cc", "\"image/packages/sbom.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/cudnn/load.cc", "\"image/known_faults_scope.h\""),
              Forbids("a plugin", "another plugin"));
  EXPECT_THAT(BrokenBy("plugins/cudnn/load.cc", "\"image/symbols/symbols.h\""),
              Forbids("a plugin", "another plugin"));
}

TEST(BrokenRules, KeepsExecAndReportApart) {
  EXPECT_THAT(BrokenBy("harness/exec/schedule/runner.cc", "\"report/record/reporter.h\""),
              Forbids("exec", "report"));
  EXPECT_THAT(BrokenBy("harness/report/formats/junit.cc", "\"exec/schedule/runner.h\""),
              Forbids("report", "exec"));
}

TEST(BrokenRules, RejectsIncludesAgainstTheDirection) {
  EXPECT_THAT(BrokenBy("harness/base/text.cc", "\"model/plan/plan.h\""), Forbids("base", "model"));
  EXPECT_THAT(BrokenBy("harness/main.cc", "\"exec/schedule/runner.h\""), Forbids("main", "exec"));
  EXPECT_THAT(BrokenBy("harness/exec/schedule/runner.cc", "<cudnn_ci/plugin.h>"), Forbids("exec", "sdk"));
  EXPECT_THAT(BrokenBy("plugins/conv/forward.cc", "\"base/sha256.h\""), Forbids("plugins", "base"));
  EXPECT_THAT(BrokenBy("harness/sdk/include/cudnn_ci/check.hpp", "\"base/result.h\""),
              Forbids("sdk", "base"));
}

TEST(BrokenRules, RejectsAWayAroundTheTable) {
  EXPECT_THAT(BrokenBy("harness/exec/schedule/runner.cc", "\"../report/reporter.h\""),
              ElementsAre(HasSubstr("layer, not")));
  EXPECT_THAT(BrokenBy("harness/extra/x.cc", "<vector>"), ElementsAre(HasSubstr("'extra'")));
}

TEST(BrokenRules, KeepsPluginsApart) {
  EXPECT_THAT(BrokenBy("plugins/conv/forward.cc", "\"cudnn/versions.h\""),
              Forbids("a plugin", "another plugin"));
  EXPECT_THAT(BrokenBy("plugins/common/elf.cc", "\"conv/shape.h\""), Forbids("a plugin", "another plugin"));
  EXPECT_THAT(BrokenBy("plugins/conv/forward.cc", "\"conv/shape.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/framework/collective.cc", "\"nccl/collective_data.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/framework/collective.cc", "\"nccl/nccl_api.h\""),
              Forbids("a plugin", "another plugin"));
}

TEST(BrokenRules, LetsOperationsKnowComputeAndComputeNoOperation) {
  EXPECT_THAT(BrokenBy("plugins/conv/forward.cc", "\"compute/problem.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/toolkit/gemm.cc", "\"compute/problem.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/compute/trial.cc", "\"common/cudnn_api.h\""), IsEmpty());
  EXPECT_THAT(BrokenBy("plugins/compute/trial.cc", "\"compute/problem.h\""), IsEmpty());
  for (const char* operation : {"\"conv/shape.h\"", "\"toolkit/product.h\""})
    EXPECT_THAT(BrokenBy("plugins/compute/trial.cc", operation), Forbids("a plugin", "another plugin"));
  EXPECT_THAT(BrokenBy("plugins/common/session.cc", "\"compute/problem.h\""), Forbids("common", "compute"));
}

TEST(BrokenRules, KeepsThirdPartyHeadersInSourceFiles) {
  EXPECT_THAT(BrokenBy("harness/model/matrix/matrix.cc", "<nlohmann/json.hpp>"), IsEmpty());
  for (const char* include : {"<nlohmann/json.hpp>", "<CLI/CLI.hpp>", "<tinyxml2.h>", "\"tinyxml2.h\"",
                              "<boost/dll/shared_library.hpp>"}) {
    EXPECT_THAT(BrokenBy("harness/report/formats/junit.h", include), ElementsAre(HasSubstr(".cc files")))
        << include;
  }
}

TEST(BrokenRules, KeepsEachLibraryInItsPlace) {
  EXPECT_THAT(BrokenBy("harness/report/formats/junit.cc", "<tinyxml2.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/report/formats/junit_suites.cc", "<tinyxml2.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/report/formats/html.cc", "<tinyxml2.h>"),
              ElementsAre(HasSubstr("report/formats/junit*.cc only")));
  EXPECT_THAT(BrokenBy("harness/cli/run_options.cc", "<CLI/CLI.hpp>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/base/utf8.cc", "<utf8.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/base/text.cc", "<utf8.h>"),
              ElementsAre(HasSubstr("harness/base/utf8.cc only")));
  EXPECT_THAT(BrokenBy("harness/exec/schedule/runner.cc", "<CLI/CLI.hpp>"),
              ElementsAre(HasSubstr("harness/cli/")));
  EXPECT_THAT(BrokenBy("harness/worker/plugin_library.cc", "<boost/dll.hpp>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/exec/plugins/discover.cc", "<boost/dll/shared_library.hpp>"),
              ElementsAre(HasSubstr("plugin_library.cc")));
}

TEST(BrokenRules, KeepsSystemCallsOfExecInTheirPlaces) {
  EXPECT_THAT(BrokenBy("harness/exec/workers/pool.cc", "<poll.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/exec/workers/worker_process.cc", "<poll.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/exec/system/process_posix.cc", "<spawn.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/exec/system/proc.cc", "<sys/stat.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/exec/workers/worker.cc", "<signal.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/exec/system/process.h", "<sys/types.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/worker/child.cc", "<poll.h>"), IsEmpty());
  EXPECT_THAT(BrokenBy("harness/exec/plugins/discover.cc", "<poll.h>"),
              ElementsAre(HasSubstr("pool.cc only")));
  EXPECT_THAT(BrokenBy("harness/exec/workers/pool.cc", "<spawn.h>"),
              ElementsAre(HasSubstr("process_posix.cc only")));
  EXPECT_THAT(BrokenBy("harness/exec/schedule/devices.cc", "<unistd.h>"),
              ElementsAre(HasSubstr("system calls")));
  EXPECT_THAT(BrokenBy("harness/exec/schedule/cases.cc", "<sys/stat.h>"),
              ElementsAre(HasSubstr("system calls")));
}

TEST(BrokenRules, KeepsCudaOutOfTheHarness) {
  EXPECT_THAT(BrokenBy("harness/exec/schedule/runner.cc", "<cuda.h>"),
              ElementsAre(HasSubstr("never touches CUDA")));
  EXPECT_THAT(BrokenBy("harness/model/record/facts.cc", "<cuda_runtime_api.h>"),
              ElementsAre(HasSubstr("CUDA")));
  EXPECT_THAT(BrokenBy("harness/cli/commands/list.cc", "<nvml.h>"), ElementsAre(HasSubstr("CUDA")));
  EXPECT_THAT(BrokenBy("plugins/driver/load.cc", "<cuda.h>"), IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
