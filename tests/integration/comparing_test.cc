// `cudnn-ci compare` and `--baseline`, over runs of the real gate.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Comparing : public testing::Test {
 protected:
  // The matrix with a case that ends as `how` says: "pass", "fail", "skip".
  void RunsAs(const std::string& how, const std::string& folder,
              const std::vector<std::string>& arguments = {}) {
    run_.Set("FIXTURE_STACK", how == "pass" ? "" : "cudnn=" + how);
    run_.Matrix(Entry("fixture.convolution", R"("axes": {"i": [1, 2]}, "allow_skip": ["absent"])") + ", " +
                Entry("fixture.pass"));
    run_.Run(arguments);
    fs::rename(run_.Path("report"), run_.Path(folder));
  }
  GateResult Compare(const std::vector<std::string>& words) {
    std::vector<std::string> all = {"compare"};
    all.insert(all.end(), words.begin(), words.end());
    return run_.Command(all);
  }
  GateRun run_;
};

TEST_F(Comparing, SaysWhatIsWorseAndWhatIsFixed) {
  RunsAs("pass", "old");
  RunsAs("fail", "new");
  for (const std::string file : {"report.json", "journal.jsonl"}) {
    EXPECT_EQ(Compare({"old/" + file, "old/journal.jsonl"}).exit_code, 0);
    const GateResult worse = Compare({"old/journal.jsonl", "new/" + file});
    EXPECT_EQ(worse.exit_code, 1);
    EXPECT_THAT(worse.out, testing::StartsWith("WORSE: 1 newly failing, 2 newly skipped, 0 fixed"));
    EXPECT_THAT(worse.out, HasSubstr("fixture.convolution[i=1]"));
    const GateResult better = Compare({"new/" + file, "old/report.json"});
    EXPECT_EQ(better.exit_code, 0);
    EXPECT_THAT(better.out, HasSubstr("1 fixed"));
  }
  const json machine = json::parse(Compare({"--json", "old/report.json", "new/report.json"}).out);
  EXPECT_EQ(machine["exit_code"], 1);
  EXPECT_EQ(machine["newly_failing"].size(), 1u);
  EXPECT_THAT(Compare({"--markdown", "old/report.json", "new/report.json"}).out,
              HasSubstr("### newly failing\n"));
  run_.Write("compare.json", machine.dump());
  const std::string validate = "python3 -B '" CUDNN_CI_SOURCE_DIR
                               "/tests/integration/reports.py' compare '" CUDNN_CI_SOURCE_DIR
                               "/harness/report/schemas' '" +
                               run_.Path("compare.json") + "'";
  EXPECT_EQ(system(validate.c_str()), 0);
}

TEST_F(Comparing, RefusesWhatIsNotAlike) {
  RunsAs("pass", "old");
  RunsAs("pass", "part", {"--filter", "fixture.pass*"});
  const GateResult parts = Compare({"old/report.json", "part/report.json"});
  EXPECT_EQ(parts.exit_code, 2);
  EXPECT_THAT(parts.out, testing::ContainsRegex("NOT COMPARABLE: .*filtered"));
  EXPECT_EQ(Compare({"old/report.json", "nowhere.json"}).exit_code, 2);
  EXPECT_EQ(Compare({"old/report.json", "old/junit.xml"}).exit_code, 2);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {}, {"old/report.json"}, {"--json", "--markdown", "old/report.json", "old/report.json"}})
    EXPECT_EQ(Compare(words).exit_code, 2);
}

TEST_F(Comparing, TheBaselineIsReadBeforeTheReportsOfAnEarlierRunAreRemoved) {
  RunsAs("pass", "old");
  fs::rename(run_.Path("old"), run_.Path("report"));
  run_.Set("FIXTURE_STACK", "cudnn=fail");
  const GateResult result = run_.Run({"--baseline", "report/report.json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr(" (passed): 1 newly failing, 2 newly skipped"));
  EXPECT_THAT(result.junit, HasSubstr("newly failing: "));
  EXPECT_EQ(result.report["verdict"], "failed");
  EXPECT_THAT(result.report["root_cause"]["reproduce_in_container"].dump(), Not(HasSubstr("baseline")));
}

TEST_F(Comparing, ABaselineThatIsNoneIsRefused) {
  RunsAs("pass", "report");
  const GateResult result = run_.Run({"--baseline", "report/junit.xml"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--baseline: "));
  EXPECT_FALSE(run_.Exists("report/report.json")) << "no report is left that somebody takes for this run's";
}

}  // namespace
}  // namespace cudnn_ci
