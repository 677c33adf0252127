// The plugin ABI grows by appending: plugins built against ABI 1.0 as it was frozen, and against a header
// with a field more in every struct, run in today's worker; and the first in a worker built with the longer
// header.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "gate_run.h"
#include "layout.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// One shape for the probe's parameter.
constexpr char kShapes[] = R"(, "shapes": {"small": {"x": [1, 2]}})";

std::string Probes(const std::string& stem) { return std::string(CUDNN_CI_PROBES) + "/" + stem; }

// Runs the probe's one check and collects its facts; expects that it says all it has to say.
void ExpectRuns(GateRun* run, const std::string& stem) {
  run->AddPlugins(Probes(stem));
  run->Matrix(Entry(stem + ".probe", R"("params": {"shape": "small"})"), 20, kShapes);
  const GateResult result = run->Run();
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const std::string id = stem + ".probe[n=5,shape=small]";
  EXPECT_EQ(result.Outcome(id), "passed") << result.out;
  EXPECT_THAT(result.Case(id)["findings"].dump(), HasSubstr("said by the probe"));
  EXPECT_THAT(result.report.dump(), HasSubstr("probe.fact"));
}

TEST(PluginAbi, APluginOfTheFrozenHeaderRuns) {
  GateRun run;
  ExpectRuns(&run, "probe_frozen");
}

TEST(PluginAbi, APluginOfALongerHeaderRuns) {
  GateRun run;
  ExpectRuns(&run, "probe_longer");
}

TEST(PluginAbi, APluginWhoseChecksHaveNoValidateRuns) {
  GateRun run;
  ExpectRuns(&run, "probe_no_validate");
}

// What a plugin of today is to a cudnn-ci of tomorrow: its tables are shorter than the reader's.
TEST(PluginAbi, APluginOfTheFrozenHeaderRunsInAWorkerOfALongerOne) {
  GateRun run;
  fs::create_directories(run.Path("tree/bin"));
  fs::create_directories(run.Path("tree/libexec"));
  fs::create_directories(run.Path("tree/plugins"));
  fs::copy_file(CUDNN_CI_TREE "/bin/cudnn-ci", run.Path("tree/bin/cudnn-ci"));
  fs::copy_file(CUDNN_CI_LONGER_WORKER, run.Path("tree/libexec/cudnn-ci-worker"));
  run.UseExecutable(run.Path("tree/bin/cudnn-ci"));
  ExpectRuns(&run, "probe_frozen");
}

struct Short {
  const char *stem, *words;
};
class ShortTables : public testing::TestWithParam<Short> {};

TEST_P(ShortTables, ThatEndBeforeALastFieldOfOneDotZeroAreRefused) {
  GateRun run;
  run.AddPlugins(Probes(GetParam().stem));
  run.Matrix(Entry("fixture.pass"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5) << result.out;
  const std::string id = std::string("plugin.load[file=") + GetParam().stem + "]";
  EXPECT_EQ(result.Errors(id), "harness.plugin-load");
  EXPECT_THAT(result.Case(id).dump(), HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(All, ShortTables,
                         testing::Values(Short{"probe_no_run", "a check's table is too small"},
                                         Short{"probe_no_fields", "a parameter table is too small"},
                                         Short{"probe_no_link", "a finding's table is too small"},
                                         Short{"probe_no_facts", "its plugin table ends before `facts`"}),
                         [](const auto& row) { return std::string(row.param.stem); });

TEST(PluginAbi, EveryFieldAndEnumeratorOfTheFrozenHeaderIsWhereItWas) {
  std::map<std::string, std::pair<long long, long long>> today;
  for (const LayoutEntry* e = cci_layout_today; e->name; ++e) today[e->name] = {e->offset, e->size};
  size_t compared = 0;
  for (const LayoutEntry* e = cci_layout_frozen; e->name; ++e, ++compared)
    EXPECT_EQ(today.at(e->name), std::make_pair(e->offset, e->size)) << e->name;
  EXPECT_EQ(compared, today.size());
  EXPECT_GT(compared, 100u);
}

// The list of layout.c forgets no host function and no callback of a plugin.
TEST(PluginAbi, TheLayoutListsEveryFunctionOfTheFrozenHeader) {
  std::ifstream file(CUDNN_CI_FROZEN_HEADER);
  std::stringstream text;
  text << file.rdbuf();
  std::string names;
  for (const LayoutEntry* e = cci_layout_frozen; e->name; ++e) names += std::string(" ") + e->name + " ";
  const std::string header = text.str();
  int functions = 0;
  for (size_t at = 0; (at = header.find("(*", at)) != std::string::npos; ++functions) {
    at += 2;
    EXPECT_THAT(names, HasSubstr("." + header.substr(at, header.find(')', at) - at) + " "));
  }
  EXPECT_GE(functions, 28);
}

}  // namespace
}  // namespace cudnn_ci
