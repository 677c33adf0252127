// The plugin ABI grows by appending: plugins built against ABI 1.0 as it was frozen, against 1.3, and against
// a header with a field more in every struct, run in today's worker; the first in a worker built with the
// longer header, and later ones in a worker of ABI 1.3.
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
// Returns its finding.
json ExpectRuns(GateRun* run, const std::string& stem) {
  run->AddPlugins(Probes(stem));
  run->Matrix(Entry(stem + ".probe", R"("params": {"shape": "small"})"), 20, kShapes);
  const GateResult result = run->Run();
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const std::string id = stem + ".probe[n=5,shape=small]";
  EXPECT_EQ(result.Outcome(id), "passed") << result.out;
  EXPECT_THAT(result.Case(id)["findings"].dump(), HasSubstr("said by the probe"));
  EXPECT_THAT(result.report.dump(), HasSubstr("probe.fact"));
  const json findings = result.Case(id)["findings"];
  return findings.empty() ? json::object() : findings[0];
}

// A tree with another worker than today's.
void UseWorker(GateRun* run, const std::string& worker) {
  fs::create_directories(run->Path("tree/bin"));
  fs::create_directories(run->Path("tree/libexec"));
  fs::create_directories(run->Path("tree/plugins"));
  fs::copy_file(CUDNN_CI_TREE "/bin/cudnn-ci", run->Path("tree/bin/cudnn-ci"));
  fs::copy_file(worker, run->Path("tree/libexec/cudnn-ci-worker"));
  fs::create_directory_symlink(CUDNN_CI_TREE "/knowledge", run->Path("tree/knowledge"));
  run->UseExecutable(run->Path("tree/bin/cudnn-ci"));
}

TEST(PluginAbi, APluginOfTheFrozenHeaderRuns) {
  GateRun run;
  ExpectRuns(&run, "probe_frozen");
}

TEST(PluginAbi, APluginOfALongerHeaderRuns) {
  GateRun run;
  const json finding = ExpectRuns(&run, "probe_longer");
  EXPECT_EQ(finding.value("command", ""), "fix --it");
  EXPECT_EQ(finding.value("where", ""), "host");
}

TEST(PluginAbi, APluginOfOneDotThreeRunsAndItsFindingHasNoLine) {
  GateRun run;
  EXPECT_FALSE(ExpectRuns(&run, "probe_older").contains("command"));
}

// One that asks first, and the C++ layer, which asks for its authors.
TEST(PluginAbi, APluginOfTodayRunsInAWorkerOfOneDotThreeWithoutTheLine) {
  GateRun run;
  UseWorker(&run, CUDNN_CI_OLDER_WORKER);
  EXPECT_FALSE(ExpectRuns(&run, "probe_longer").contains("command"));
  run.Matrix(Entry("fixture.line", R"("params": {"how": "host"})"));
  const json finding = run.Run().Case("fixture.line[how=host]")["findings"][0];
  EXPECT_EQ(finding["detail"], "seen here");
  EXPECT_EQ(finding["command"], "ENV A=b") << "as it is declared";
}

// Whose memory was short, as report.json has it.
json ResourceOf(GateRun* run, const std::string& stem, const std::string& words) {
  run->Matrix(Entry(stem + ".lacks", R"("allow_skip": ["memory"], "params": {"words": ")" + words + "\"}"));
  return run->Run().Case(stem + ".lacks[words=" + words + "]")["skip"]["resource"];
}

TEST(PluginAbi, SkipsOfTheFrozenHeaderMeanWhatTheyMeant) {
  GateRun run;
  run.AddPlugins(Probes("probe_frozen"));
  EXPECT_EQ(ResourceOf(&run, "probe_frozen", "host"), "host-memory");
  EXPECT_EQ(ResourceOf(&run, "probe_frozen", "none"), "device-memory");
}

TEST(PluginAbi, ASkipOfTodayNamesTheMemoryWhateverItsWordsAre) {
  GateRun run;
  run.AddPlugins(Probes("probe_longer"));
  EXPECT_EQ(ResourceOf(&run, "probe_longer", "none"), "host-memory");
  run.Matrix(Entry("probe_longer.lacks", R"("params": {"words": "wrong"})"));
  EXPECT_THAT(run.Run().Case("probe_longer.lacks[words=wrong]").dump(), HasSubstr("the unknown memory 2"));
}

TEST(PluginAbi, ASkipOfTodayIsToldByItsWordsInAWorkerOfOneDotThree) {
  GateRun run;
  UseWorker(&run, CUDNN_CI_OLDER_WORKER);
  run.AddPlugins(Probes("probe_longer"));
  EXPECT_EQ(ResourceOf(&run, "probe_longer", "host"), "host-memory");
  EXPECT_EQ(ResourceOf(&run, "probe_longer", "none"), "device-memory");
}

TEST(PluginAbi, APluginWhoseChecksHaveNoValidateRuns) {
  GateRun run;
  ExpectRuns(&run, "probe_no_validate");
}

// What a plugin of today is to a cudnn-ci of tomorrow: its tables are shorter than the reader's.
TEST(PluginAbi, APluginOfTheFrozenHeaderRunsInAWorkerOfALongerOne) {
  GateRun run;
  UseWorker(&run, CUDNN_CI_LONGER_WORKER);
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
                         testing::Values(Short{"probe_no_run", "check's"},
                                         Short{"probe_no_fields", "parameter table"},
                                         Short{"probe_no_link", "finding's"},
                                         Short{"probe_no_facts", "`facts`"}),
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
