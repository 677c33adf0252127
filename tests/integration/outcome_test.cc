// The tables of outcomes, blame and exit codes, row by row, through the real executable.
#include <gmock/gmock.h>

#include "gate_run.h"
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Row {
  std::string name;
  std::string checks;  // of the matrix
  std::string id, outcome, errors;
  int exit_code = 0;
  std::string verdict;
  std::string blame;       // of the report; "": passed
  std::string stack = {};  // FIXTURE_STACK
};

class Outcomes : public testing::TestWithParam<Row> {};

TEST_P(Outcomes, GiveTheVerdictOfTheTable) {
  const Row& row = GetParam();
  GateRun run;
  run.Set("FIXTURE_STACK", row.stack);
  run.Matrix(row.checks);
  const GateResult result = run.Run({"--junit-profile", "strict"});
  EXPECT_EQ(result.exit_code, row.exit_code) << result.err;
  EXPECT_EQ(result.Outcome(row.id), row.outcome);
  EXPECT_EQ(result.Errors(row.id), row.errors);
  ASSERT_TRUE(result.report.is_object());
  EXPECT_EQ(result.report["verdict"], row.verdict);
  EXPECT_EQ(result.report["exit_code"], row.exit_code);
  if (!row.blame.empty()) {
    EXPECT_EQ(result.report["blame"], row.blame);
  }
  EXPECT_EQ(result.report["root_cause"].is_null(), row.exit_code == 0);
  // A tool that knows nothing but JUnit comes to the same colour.
  const bool red =
      result.junit.find("<failure") != std::string::npos || result.junit.find("<error") != std::string::npos;
  EXPECT_EQ(red, row.exit_code != 0);
  ExpectValidJunit(run.Path("report/junit.xml"));
}

std::string Finding(const std::string& slug, const std::string& rest = "") {
  return Entry("fixture.finding", R"("params": {"slug": ")" + slug + "\"}" + rest);
}
std::string Skip(const std::string& rest = "") {
  return Entry("fixture.skip", R"("params": {"kind": "absent"})" + rest);
}
const std::string kPass = Entry("fixture.pass") + ", ";
const std::string kStack = Entry("fixture.driver") + ", " + Entry("fixture.toolkit") + ", " +
                           Entry("fixture.cudnn") + ", " + Entry("fixture.convolution");

const Row kRows[] = {
    {"passed", kPass + Entry("fixture.noop"), "fixture.pass[i=0]", "passed", "", 0, "passed", ""},
    {"passed_with_a_warning", Entry("fixture.warn"), "fixture.warn", "passed", "", 0, "passed", ""},
    {"failed_expectation", kPass + Entry("fixture.fail"), "fixture.fail[i=0]", "failed",
     "image.expectation-failed", 1, "failed", "image"},
    {"failed_in_a_shared_process", kPass + Entry("fixture.fail_shared"), "fixture.fail_shared[i=0]", "failed",
     "image.fixture-image", 1, "failed", "image"},
    {"finding_of_the_image", kPass + Finding("image"), "fixture.finding[slug=image]", "failed",
     "image.fixture-image", 1, "failed", "image"},
    {"finding_of_the_runner", kPass + Finding("runner"), "fixture.finding[slug=runner]", "failed",
     "runner.fixture-runner", 3, "failed", "runner"},
    {"finding_of_the_harness", kPass + Finding("harness"), "fixture.finding[slug=harness]", "failed",
     "harness.fixture-harness", 5, "failed", "harness"},
    {"finding_of_the_matrix", kPass + Finding("matrix"), "fixture.finding[slug=matrix]", "failed",
     "matrix.fixture-matrix", 4, "not_gated", "matrix"},
    {"finding_of_nobody", kPass + Finding("undetermined"), "fixture.finding[slug=undetermined]", "failed",
     "undetermined.fixture-undetermined", 6, "inconclusive", "undetermined"},
    {"undeclared_finding", kPass + Finding("undeclared"), "fixture.finding[slug=undeclared]", "failed",
     "harness.undeclared-finding", 5, "failed", "harness"},
    {"checked_nothing", kPass + Entry("fixture.nothing"), "fixture.nothing", "failed",
     "harness.checked-nothing", 5, "failed", "harness"},
    {"forbidden_skip", kPass + Skip(), "fixture.skip[kind=absent]", "skipped", "matrix.skip-not-allowed", 4,
     "not_gated", "matrix"},
    {"skip_of_another_kind", kPass + Skip(R"(, "allow_skip": ["memory"])"), "fixture.skip[kind=absent]",
     "skipped", "matrix.skip-not-allowed", 4, "not_gated", "matrix"},
    {"allowed_skip_beside_a_pass",
     kPass + Entry("fixture.skip_shared", R"("axes": {"i": [1, 2]}, "allow_skip": ["unsupported"])"),
     "fixture.skip_shared[i=1]", "skipped", "", 0, "passed", ""},
    {"optional_failure", kPass + Entry("fixture.fail", R"("required": false)"), "fixture.fail[i=0]", "failed",
     "image.expectation-failed", 0, "passed", ""},
    {"nothing_passed", Entry("fixture.fail", R"("required": false)"), "fixture.fail[i=0]", "failed",
     "image.expectation-failed", 4, "not_gated", "matrix"},
    {"image_before_all",
     Finding("matrix") + ", " + Finding("undetermined") + ", " + Finding("runner") + ", " +
         Finding("harness") + ", " + Finding("image"),
     "fixture.finding[slug=image]", "failed", "image.fixture-image", 1, "failed", "image"},
    {"harness_before_runner",
     Finding("matrix") + ", " + Finding("undetermined") + ", " + Finding("runner") + ", " +
         Finding("harness"),
     "fixture.finding[slug=harness]", "failed", "harness.fixture-harness", 5, "failed", "harness"},
    {"runner_before_undetermined",
     Finding("matrix") + ", " + Finding("undetermined") + ", " + Finding("runner"),
     "fixture.finding[slug=runner]", "failed", "runner.fixture-runner", 3, "failed", "runner"},
    {"undetermined_before_matrix", Finding("matrix") + ", " + Finding("undetermined"),
     "fixture.finding[slug=undetermined]", "failed", "undetermined.fixture-undetermined", 6, "inconclusive",
     "undetermined"},
    {"driver_layer_blames_the_runner", kStack, "fixture.driver", "failed", "runner.expectation-failed", 3,
     "failed", "runner", "driver=fail"},
    {"blocked_by_the_driver", kStack, "fixture.convolution[i=0]", "blocked", "", 3, "failed", "runner",
     "driver=fail"},
    {"toolkit_layer_blames_the_image", kStack, "fixture.toolkit", "failed", "image.expectation-failed", 1,
     "failed", "image", "toolkit=fail"},
    {"blocked_by_an_optional_one",
     Entry("fixture.driver") + ", " + Entry("fixture.toolkit", R"("required": false)") + ", " +
         Entry("fixture.cudnn"),
     "fixture.cudnn", "blocked", "", 1, "failed", "image", "toolkit=fail"},
};

INSTANTIATE_TEST_SUITE_P(Table, Outcomes, testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

TEST(OutcomeTest, TheRootCauseIsTheFirstLayerOfTheDecidingClass) {
  GateRun run;
  run.Set("FIXTURE_STACK", "driver=fixture-image,toolkit=fixture-image");
  run.Matrix(Entry("fixture.convolution") + ", " + Entry("fixture.toolkit") + ", " + Entry("fixture.driver"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.report["root_cause"]["case"], "fixture.driver");
  EXPECT_EQ(result.Outcome("fixture.convolution[i=0]"), "blocked");
  EXPECT_EQ(result.Outcome("fixture.cudnn"), "blocked");
  EXPECT_EQ(result.Case("fixture.cudnn")["blocked_by"], "fixture.driver");
}

TEST(OutcomeTest, TheRootCauseHasTheLineToTypeAndWhoItIsNot) {
  GateRun run;
  run.Set("FIXTURE_STACK", "cudnn=fixture-command");
  run.Matrix(Entry("fixture.convolution"));
  const GateResult result = run.Run({"--summary", run.Path("summary.md"), "--html", run.Path("page.html")});
  const json& root = result.report["root_cause"];
  EXPECT_EQ(root["command"], "ENV A=b");
  EXPECT_EQ(root["where"], "image");
  EXPECT_EQ(root["excluded"], "the driver: fixture.driver passed");
  EXPECT_THAT(result.out, HasSubstr("\n  excluded    " + root["excluded"].get<std::string>() + "\n"));
  EXPECT_THAT(result.out, HasSubstr("\n  Dockerfile  ENV A=b\n"));
  EXPECT_THAT(run.Read("summary.md"), HasSubstr("- **Dockerfile** `ENV A=b`"));
  EXPECT_THAT(run.Read("page.html"),
              HasSubstr("<dt>Dockerfile</dt><dd><code class=\"command\">ENV A=b</code></dd>"));
  EXPECT_THAT(result.junit, HasSubstr("Dockerfile: ENV A=b"));

  run.Set("FIXTURE_STACK", "cudnn=fail");
  const GateResult bare = run.Run();
  EXPECT_TRUE(bare.report["root_cause"]["command"].is_null());
  EXPECT_TRUE(bare.report["root_cause"]["where"].is_null());
  run.Set("FIXTURE_STACK", "driver=fail");
  EXPECT_EQ(run.Run().report["root_cause"]["excluded"], "the image's libraries: fixture.toolkit passed");
}

TEST(OutcomeTest, TheReportedLineStandsInThePlaceOfTheDeclaredOne) {
  const auto line_of = [](const std::string& how) {
    GateRun run;
    run.Matrix(Entry("fixture.line", "\"params\": {\"how\": \"" + how + "\"}"));
    const GateResult result = run.Run({"--summary", run.Path("summary.md")});
    EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
    const json& root = result.report["root_cause"];
    const json finding = result.Case("fixture.line[how=" + how + "]")["findings"][0];
    const std::string command = root.value("command", ""), where = root.value("where", "");
    EXPECT_EQ(root["detail"], "seen here");
    EXPECT_EQ(finding.value("command", "") + finding.value("where", ""), command + where);
    EXPECT_EQ(result.Events("Finding").at(0)["finding"].value("command", ""), command);
    EXPECT_THAT(result.out, HasSubstr(" " + command + "\n"));
    EXPECT_THAT(run.Read("summary.md"), HasSubstr("`" + command + "`"));
    return where + ": " + command;
  };
  EXPECT_EQ(line_of("image"), "image: RUN pip install 'a==1.*'");
  EXPECT_EQ(line_of("host"), "host: fix");
  // What may not be shown is dropped; the finding is not, and the line that it is declared with stands.
  for (const char* how : {"empty", "lines", "escape", "bytes", "long", "nowhere"})
    EXPECT_EQ(line_of(how), "image: ENV A=b") << how;
}

TEST(OutcomeTest, AWaivedFailureStaysVisibleAndClosesNoGate) {
  GateRun run;
  const char* waiver =
      R"(, "waivers": [{"case": "fixture.fail*", "slug": "expectation-failed", "reason": "known",
      "owner": "me", "expires": "2099-01-01"}])";
  run.Matrix(kPass + Entry("fixture.fail"), 20, waiver);
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.Outcome("fixture.fail[i=0]"), "failed");
  EXPECT_EQ(result.report["totals"]["waived"], 1);
}

TEST(OutcomeTest, AnExpiredWaiverClosesTheGate) {
  GateRun run;
  run.Matrix(kPass + Entry("fixture.fail", R"("required": false)"), 20,
             R"(, "waivers": [{"case": "fixture.fail*", "slug": "expectation-failed", "reason": "old",
                 "owner": "me", "expires": "2020-01-01"}])");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.report["root_cause"]["slug"], "waiver-expired");
}

TEST(OutcomeTest, AnEntryOfWhichNothingPassedIsAFailureEvenIfItsSkipsAreAllowed) {
  GateRun run;
  run.Matrix(kPass + Entry("fixture.skip_shared", R"("axes": {"i": [1, 3]}, "allow_skip": ["unsupported"])"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.report["root_cause"]["slug"], "no-engine");
}

TEST(OutcomeTest, AFilterThatSelectsNothingIsNotGreen) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  EXPECT_THAT(run.Run({"--filter", "nothing.at.all"}).exit_code, testing::AnyOf(2, 4));
}

TEST(OutcomeTest, ReportOnlyExitsZeroAndSaysThatItGatesNothing) {
  GateRun run;
  run.Matrix(Entry("fixture.fail"));
  const GateResult result = run.Run({"--report-only"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.report["exit_code"], 1);
  EXPECT_THAT(result.out, HasSubstr("NOT GATING"));
}

TEST(OutcomeTest, RetriesAreVisibleAndRed) {
  GateRun run;
  run.Matrix(Entry("fixture.flaky"));
  const GateResult result = run.Run({"--retries", "2"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.Errors("fixture.flaky[file=flaky]").find("flaky") != std::string::npos, true);
  EXPECT_THAT(result.Flags("fixture.flaky[file=flaky]"), Contains("flaky"));
  EXPECT_EQ(result.Events("AttemptFinished").size(), 2u);
}

TEST(OutcomeTest, AFlakyCaseIsAcceptedOnlyWhereTheMatrixSaysSo) {
  GateRun run;
  run.Matrix(Entry("fixture.flaky", R"("allow_flaky": true)"));
  const GateResult result = run.Run({"--retries", "1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.Flags("fixture.flaky[file=flaky]"), Contains("flaky"));
}

TEST(OutcomeTest, ParametersOfEveryTypeArriveAsTheMatrixGaveThem) {
  GateRun run;
  run.Matrix(Entry("fixture.typed", R"("params": {"flag": true, "count": -3, "ratio": 0.25, "word": "spoken",
      "numbers": [1, 2, 3], "words": ["x", "y"], "shape": "small"})"),
             20,
             R"(, "shapes": {"small": {"x": [1, 2, 3, 4], "pad": 2}}, "image": {"toolkit": ">=12.0 <13"})");
  const GateResult result = run.Run();
  EXPECT_EQ(result.report["cases"][0]["outcome"], "passed") << result.out << result.err;
}

TEST(OutcomeTest, MeasurementsAndAttachmentsReachTheReports) {
  GateRun run;
  run.Matrix(Entry("fixture.reports"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_GE(result.Case("fixture.reports")["measurements"].size(), 2u);
  const std::vector<json> attached = result.Events("Attachment");
  ASSERT_EQ(attached.size(), 1u);
  EXPECT_EQ(run.Read("report/" + attached[0]["path"].get<std::string>()), "attached text\n");
}

}  // namespace
}  // namespace cudnn_ci
