// What goes to standard output and what to standard error: reports by `-`, how much is printed, and what is
// said of a word that nobody knows.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Streams : public testing::Test {
 protected:
  Streams() { run_.Matrix(Entry("fixture.pass") + ", " + Entry("fixture.fail")); }
  GateResult Command(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--matrix", "matrix.json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_.Command(words);
  }
  GateRun run_;
};

TEST_F(Streams, JsonGoesToStandardOutputAndNothingElseDoes) {
  const GateResult result = Command({"--json", "-"});
  EXPECT_EQ(result.exit_code, 1);
  const json report = json::parse(result.out);
  EXPECT_EQ(report["verdict"], "failed");
  EXPECT_EQ(report["cases"].size(), 2u);
  EXPECT_THAT(result.err, HasSubstr("\nverdict: failed (exit 1)"));
  EXPECT_THAT(result.err, HasSubstr("[ FAILED ] fixture.fail[i=0]"));
  EXPECT_FALSE(run_.Exists("cudnn-ci-report")) << "as with a single file";
}

TEST_F(Streams, JunitGoesThereBesideTheFolder) {
  const GateResult result = run_.Run({"--junit=-"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"));
  EXPECT_THAT(result.out, HasSubstr("</testsuites>"));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
  EXPECT_FALSE(run_.Exists("report/junit.xml"));
  EXPECT_FALSE(run_.Exists("-"));
  EXPECT_EQ(result.report["verdict"], "failed");
}

TEST_F(Streams, AReportThatCannotBePrintedIsNoGreenRun) {
  run_.Matrix(Entry("fixture.pass"));
  run_.Before({"sh", "-c", "exec \"$@\" > /dev/full", "sh"});
  const GateResult result = run_.Run({"--json", "-"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err, HasSubstr(": json: "));
  EXPECT_THAT(result.junit, HasSubstr("report-not-written")) << "and no other report stays green";
}

TEST_F(Streams, ASummaryIsWrittenWhereItsOptionSays) {
  EXPECT_EQ(run_.Run({"--summary", "summary.md"}).exit_code, 1);
  const std::string summary = run_.Read("summary.md");
  EXPECT_THAT(summary, StartsWith("<!--cudnn-ci summary-->\n## FAILED: "));
  EXPECT_THAT(summary, HasSubstr("fixture.fail[i=0]"));
  EXPECT_FALSE(run_.Exists("report/summary.md"));
  EXPECT_EQ(run_.Command({"report", "report/journal.jsonl", "--summary", "again.md"}).exit_code, 1);
  EXPECT_THAT(run_.Read("again.md"), StartsWith("<!--cudnn-ci summary-->\n## FAILED: "));
  EXPECT_TRUE(run_.Exists("report/report.json"));
  run_.Write("theirs.md", "# somebody's\n");
  EXPECT_EQ(run_.Run({"--summary", "theirs.md"}).exit_code, 2);
  EXPECT_EQ(run_.Read("theirs.md"), "# somebody's\n");
}

TEST_F(Streams, QuietIsTheSummaryAndVerboseIsAll) {
  const GateResult quiet = run_.Run({"--quiet"});
  EXPECT_THAT(quiet.out, StartsWith("\nFAILED: "));
  EXPECT_THAT(run_.Run({"--verbose"}).out, HasSubstr("[ PASSED ] fixture.pass[i=0]"));
  EXPECT_EQ(run_.Run({"--quiet", "--verbose"}).exit_code, 2);
}

TEST_F(Streams, ColorsAreAskedFor) {
  const char* red = "\x1b[1;31m";
  EXPECT_THAT(run_.Run().out, Not(HasSubstr(red)));
  EXPECT_THAT(run_.Run({"--color", "always"}).out, HasSubstr(red));
  EXPECT_THAT(run_.Command({"report", "report/journal.jsonl", "--color=always"}).out, HasSubstr(red));
  run_.Set("FORCE_COLOR", "1");
  const GateResult forced = run_.Run();
  EXPECT_THAT(forced.out, HasSubstr(red));
  EXPECT_THAT(forced.junit, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run_.Run({"--color=never"}).out, Not(HasSubstr(red)));
  EXPECT_EQ(run_.Run({"--color", "perhaps"}).exit_code, 2);
}

// Of a folder that somebody else has named. CSI, U+009B and U+202E command a terminal.
TEST_F(Streams, PathsOfReportsCommandNoTerminal) {
  const GateResult result =
      Command({"--output-dir", "esc\x1b[31mX\xc2\x9b\xe2\x80\xae", "--summary", "summary.md"});
  EXPECT_EQ(result.exit_code, 1);
  for (const std::string& text : {result.out + result.err, run_.Read("summary.md")})
    for (const char* command : {"\x1b", "\xc2\x9b", "\xe2\x80\xae"})
      EXPECT_THAT(text, Not(HasSubstr(command)));
  EXPECT_THAT(result.out, HasSubstr("/junit.xml"));
}

TEST_F(Streams, DiagnosticsCommandNoPipelineAndShowNoSecret) {
  run_.Set("MY_TOKEN", "hunter2hunter2supersecret");
  const GateResult split = run_.Command({"--matrix", "h\x1b[munter2hunter2supersecret.json"});
  EXPECT_EQ(split.exit_code, 2);
  EXPECT_THAT(split.err, Not(HasSubstr("hunter2")));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--matrix", "##[add-mask]zz"},
                                                {"compare", "##[add-mask]zz", "b"},
                                                {"##[add-mask]zz"}})
    EXPECT_THAT(run_.Command(words).err, Not(HasSubstr("##["))) << words.front();
}

// A report from elsewhere whose case is called like a command to GitHub.
TEST_F(Streams, AComparisonCommandsNoPipeline) {
  ASSERT_EQ(run_.Run().exit_code, 1);
  const std::string report = run_.Read("report/report.json"), id = "fixture.fail[i=0]";
  std::string forged = report;
  for (size_t at = 0; (at = forged.find(id, at)) != std::string::npos; at += 2)
    forged.replace(at, id.size(), "::error::x##[y");
  run_.Write("forged.json", forged);
  for (const char* form : {"--markdown", "--quiet"}) {
    std::vector<std::string> words = {"compare", "report/report.json", "forged.json"};
    if (form == std::string("--markdown")) words.emplace_back(form);
    const GateResult result = run_.Command(words);
    EXPECT_THAT(result.out, HasSubstr("error::x"));
    EXPECT_THAT(result.out, Not(HasSubstr("##["))) << form;
    EXPECT_THAT(result.out, Not(testing::ContainsRegex("\n *::"))) << form;
  }
}

TEST(Suggestions, OfOptionsAndCommands) {
  GateRun run;
  const auto said = [&](const std::vector<std::string>& words) {
    const GateResult result = run.Command(words);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_EQ(said({"--matrxi", "m.json"}),
            "cudnn-ci: unknown option --matrxi; did you mean '--matrix'? (see cudnn-ci --help)\n");
  EXPECT_THAT(said({"--output-dri=report"}), HasSubstr(" '--output-dir'?"));
  EXPECT_THAT(said({"report", "a.jsonl", "--requir", "t4"}),
              HasSubstr(" '--require'? (see cudnn-ci report --help)\n"));
  EXPECT_THAT(said({"self-tset"}), HasSubstr(" 'self-test'?"));
  EXPECT_THAT(said({"--nonsense"}), Not(HasSubstr("'")));
}

// All that the launcher's own help lists and the gate does not have.
TEST(Suggestions, OfTheLaunchersOptions) {
  GateRun run;
  const std::string help = run.Command({"--help"}).out;
  std::istringstream launcher(run.Command({"run", "--help"}).out);
  int count = 0;
  for (std::string line; std::getline(launcher, line);) {
    if (line.rfind("  --", 0) != 0) continue;  // a line of its usage
    const std::string option = line.substr(2, line.find(' ', 2) - 2);
    if (help.find(option + " ") != std::string::npos || option == "--summary") continue;
    ++count;
    EXPECT_THAT(run.Command({option, "x"}).err,
                testing::ContainsRegex("; " + option + " [a-z ]*cudnn-ci run IMAGE"))
        << line;
  }
  EXPECT_GE(count, 9);
  EXPECT_THAT(run.Command({"--keep-entrypoint"}).err,
              testing::ContainsRegex("; --keep-entrypoint [a-z ]*cudnn-ci run IMAGE "));
}

}  // namespace
}  // namespace cudnn_ci
