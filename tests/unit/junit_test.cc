// JUnit: valid for the strictest reader whatever bytes come in, counted right, red until the end.
#include "report/formats/junit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>
#include <random>
#include <regex>

#include "base/file.h"
#include "junit_text.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

class JunitTest : public testing::Test {
 protected:
  JunitTest() : folder_(testing::TempDir() + "junit_test." + std::to_string(getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~JunitTest() override { std::filesystem::remove_all(folder_); }

  // Whether xmllint takes it; in the strict profile with the schema of the Jenkins xunit plugin.
  bool IsValid(const std::string& text, bool strict) {
    const std::string path = folder_ + "/candidate.xml";
    std::ofstream(path, std::ios::binary) << text;
    std::string command = "xmllint --noout ";
    if (strict) command += "--schema " CUDNN_CI_GOLDEN_DIR "/junit-10.xsd ";
    command += path + " > " + folder_ + "/xmllint.log 2>&1";
    const bool valid = std::system(command.c_str()) == 0;
    if (!valid) ADD_FAILURE() << ReadSmallFile(folder_ + "/xmllint.log") << text.substr(0, 2000);
    return valid;
  }

  std::string folder_;
};

// Every outcome, with `text` wherever a text comes from outside.
RunBuilder Everything(const std::string& text) {
  RunBuilder b;
  b.run.hostname = b.run.image = b.run.matrix_path = b.run.command_line = text;
  b.run.facts["system"][text] = text;
  b.run.partial = b.run.not_gated = b.run.warnings = {OtherNotice(text)};
  b.waivers = {{"conv.waived", "wrong-value", text, text, "2027-01-01"}};
  b.Pass("driver.load");
  b.Fail("conv.failed" + text, Wrong("wrong-value", Blame::kImage, text));
  b.Fail("conv.waived", Wrong("wrong-value", Blame::kImage, text));
  b.Plan("conv.skipped"), b.End("conv.skipped", Skipped{SkipKind::kVersion, text, text});
  b.Plan("conv.blocked"), b.End("conv.blocked", Blocked{text});
  b.Plan("conv.not_run");
  b.Plan("conv.stopped"), b.End("conv.stopped", NotRun{text});
  for (const char* id : {"conv.errored", "conv.flaky"}) {
    const CaseRef ref{id, ""};
    b.Plan(id).allow_flaky = true;
    b.Attempt(ref, Errored{ErrorKind::kCrashed, text}, {Wrong("crashed" + text, Blame::kImage, text)});
    b.Attempt(ref, Failed{}, {}, AttemptMode::kConfirm);
    b.Add(AttemptStarted{ref, 3, 3, AttemptMode::kRetry});
    b.Add(StepReached{ref, text}).Add(ExpectationFailed{ref, "conv/a" + text, 12, text});
    b.Add(Measured{ref, text, 1.5, text, "lower"}).Add(Attached{ref, text, text, text});
    const Outcome last =
        std::string(id) == "conv.flaky" ? Outcome(Passed{}) : Errored{ErrorKind::kExited, text};
    b.Add(AttemptFinished{ref, 3, 3, last, 0.5, text, text}).Add(CaseFinished{ref, last, 1, {Flag::kFlaky}});
  }
  return b;
}

TEST_F(JunitTest, EveryPhaseIsValidInBothProfiles) {
  const Summary whole = Everything("text").Summarize();
  RunBuilder planned;
  planned.finished = false;
  planned.Plan("conv.a"), planned.Plan("driver.load", Layer::kDriver, "gpu1");
  for (const bool strict : {true, false}) {
    for (const bool final : {true, false}) {
      for (const Summary& summary : {Summary{}, planned.Summarize(), whole}) {
        const std::string text = Render(summary, strict, final);
        EXPECT_TRUE(IsValid(text, strict));
        ExpectCountersMatch(text);
      }
    }
  }
}

TEST_F(JunitTest, HostileBytesLoseNoCase) {
  std::mt19937 random(3);
  static const char* const kBad[] = {
      "]]>", "\x1b[31m",     "&#27;", "<",  "\xff", "\xef\xbf\xbf", "[[ATTACHMENT|/etc/passwd]]",
      "\r",  "\xed\xa0\x80", "\"'&",  "--", "\n\n", "<?xml?>",      "\xc0\x80"};
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (int i = 0; i < 30; ++i) {
      bytes +=
          random() % 3 == 0 ? kBad[random() % std::size(kBad)] : std::string(1, static_cast<char>(random()));
    }
    const Summary summary = Everything(bytes).Summarize();
    const bool strict = round % 2 == 0;
    const std::string text = Render(summary, strict);
    ASSERT_TRUE(IsValid(text, strict)) << round;
    EXPECT_EQ(CountOf(text, "<testcase "), summary.cases.size() + 1);
    for (size_t at = 0; (at = text.find("<system-out>", at)) != std::string::npos; ++at) {
      const std::string output = text.substr(at, text.find("</system-out>", at) - at);
      EXPECT_EQ(output.find("[[ATTACHMENT|/etc"), std::string::npos) << output;
    }
    ExpectCountersMatch(text);
  }
}

TEST_F(JunitTest, ACaseHasAtMostOneResult) {
  const std::string text = Render(Everything("text").Summarize());
  const std::regex one_case("<testcase [\\s\\S]*?(/>|</testcase>)");
  for (std::sregex_iterator at(text.begin(), text.end(), one_case), end; at != end; ++at) {
    const std::string element = (*at)[0];
    EXPECT_LE(CountOf(element, "<failure ") + CountOf(element, "<error ") + CountOf(element, "<skipped "),
              1u);
    EXPECT_LE(CountOf(element, "<system-out>"), 1u);
  }
}

TEST_F(JunitTest, TheHostIsTheRunsAndElseThisOne) {
  RunBuilder b;
  b.Pass("conv.a");
  b.run.hostname = "";
  char own[256] = "";
  ASSERT_EQ(gethostname(own, sizeof own - 1), 0);
  EXPECT_NE(Render(b.Summarize()).find(" hostname=\"" + std::string(own) + "\""), std::string::npos);
}

TEST_F(JunitTest, TheVerdictCaseIsRedUntilARunPassed) {
  RunBuilder b;
  b.Pass("conv.a");
  EXPECT_EQ(CountOf(Render(b.Summarize()), "<failure ") + CountOf(Render(b.Summarize()), "<error "), 0u);
  const std::string running = Render(b.Summarize(), false, false);
  EXPECT_EQ(CountOf(running, "<error "), 1u);
  EXPECT_NE(running.find("type=\"undetermined.not-run\""), std::string::npos);
  b.finished = false;
  EXPECT_NE(Render(b.Summarize()).find("type=\"undetermined.not-run\""), std::string::npos);
  b.finished = true;
  b.Fail("driver.load", Wrong("no-driver", Blame::kRunner, "libcuda.so.1 is missing"), Layer::kDriver);
  const std::string red = Render(b.Summarize());
  EXPECT_NE(red.find("<error message=\"no-driver: libcuda.so.1 is missing\" type=\"runner.no-driver\""),
            std::string::npos);
  EXPECT_NE(red.find("verdict: failed (exit 3)"), std::string::npos);
}

TEST_F(JunitTest, HugeTextsStaySmall) {
  RunBuilder b;
  const CaseRef ref{"conv.a", ""};
  b.Plan("conv.a");
  const std::string huge(2 << 20, '<');
  b.Add(AttemptStarted{ref, 1, 1, AttemptMode::kAlone}).Add(ExpectationFailed{ref, huge, 1, huge});
  b.Add(FindingReported{ref, Wrong("wrong-value", Blame::kImage, huge)});
  b.Add(AttemptFinished{ref, 1, 1, Failed{}, 1, huge, huge}).Add(CaseFinished{ref, Failed{}, 1, {}});
  const std::string text = Render(b.Summarize());
  EXPECT_LT(text.size(), size_t{1} << 20);
  EXPECT_TRUE(IsValid(text, false));
}

// German numbers for streams; C's own locale follows where the system has it.
struct GermanNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(JunitTest, NumbersHaveAPointInEveryLocale) {
  RunBuilder b = Everything("text");
  for (int i = 0; i < 1200; ++i) b.Pass("conv.c" + std::to_string(i));
  const std::string before = Render(b.Summarize());
  const std::locale classic = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  const std::string after = Render(b.Summarize());
  std::setlocale(LC_ALL, "C");
  std::locale::global(classic);
  EXPECT_EQ(before, after);
}

TEST_F(JunitTest, ManyCasesMakeSeveralFilesAndOldOnesGo) {
  const std::string path = folder_ + "/junit.xml";
  JunitOptions options;
  options.cases_per_file = 4;
  RunBuilder b;
  for (int i = 0; i < 10; ++i) b.Pass("conv.c" + std::to_string(i));
  JunitReporter reporter(path, options);
  ASSERT_TRUE(reporter.Finish(b.Summarize()).ok());
  size_t cases = 0;
  for (size_t number = 1; number <= 3; ++number) {
    const std::string text = ReadSmallFile(JunitPath(path, number), 1 << 20);
    EXPECT_TRUE(IsValid(text, false));
    ExpectCountersMatch(text);
    EXPECT_LE(CountOf(text, "<testcase "), 4u);
    EXPECT_GE(CountOf(text, "<testcase "), 1u);
    EXPECT_EQ(CountOf(text, "name=\"run_id\""), 1u) << "once a file, not once a suite";
    cases += CountOf(text, "<testcase ");
  }
  EXPECT_EQ(cases, 11u);
  std::ofstream(folder_ + "/junit-4.xml") << "somebody else's";
  ASSERT_TRUE(reporter.Open().ok());
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/junit-2.xml"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/junit-3.xml"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/junit-4.xml"));
}

TEST_F(JunitTest, AFurtherFileReplacesNobodyElses) {
  JunitOptions options;
  options.cases_per_file = 4;
  RunBuilder b;
  for (int i = 0; i < 10; ++i) b.Pass("conv.c" + std::to_string(i));
  std::ofstream(folder_ + "/junit-2.xml") << "somebody else's";
  JunitReporter reporter(folder_ + "/junit.xml", options);
  const Status status = reporter.Finish(b.Summarize());
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find("junit-2.xml: "), std::string::npos) << status.error();
  EXPECT_EQ(ReadSmallFile(folder_ + "/junit-2.xml"), "somebody else's");
  EXPECT_EQ(ReadSmallFile(folder_ + "/junit.xml").find("PASSED"), std::string::npos)
      << "green, and not whole";
}

TEST_F(JunitTest, IsRewrittenAtPlanEndThenAtMostEveryFiveSeconds) {
  const std::string path = folder_ + "/junit.xml";
  JunitReporter reporter(path, JunitOptions{});
  ASSERT_TRUE(reporter.Open().ok());
  const auto cases = [&] { return CountOf(ReadSmallFile(path, 1 << 20), "<testcase "); };
  EXPECT_EQ(cases(), 1u);
  RunBuilder b;
  b.Plan("conv.a");
  Fold fold;
  for (const Event& event : b.Events()) {
    if (std::holds_alternative<RunFinished>(event.body)) continue;
    fold.Apply(event);
    ASSERT_TRUE(reporter.OnEvent(event, fold.summary()).ok());
  }
  EXPECT_EQ(cases(), 2u);
  Event ended{9, 1000, CaseFinished{{"conv.a", ""}, Failed{}, 1, {}}};
  fold.Apply(ended);
  ASSERT_TRUE(reporter.OnEvent(ended, fold.summary()).ok());
  EXPECT_EQ(CountOf(ReadSmallFile(path, 1 << 20), "<failure "), 0u) << "too early";
  ASSERT_TRUE(reporter.OnTick(60'000, fold.summary()).ok());
  EXPECT_EQ(CountOf(ReadSmallFile(path, 1 << 20), "<failure "), 1u);
}

TEST_F(JunitTest, AFolderThatIsGoneIsAnErrorWithTheReason) {
  JunitReporter reporter(folder_ + "/gone/junit.xml", JunitOptions{});
  const Status status = reporter.Open();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find("gone/junit.xml"), std::string::npos) << status.error();
}

TEST(JunitPathTest, PutsTheNumberBeforeTheExtension) {
  EXPECT_EQ(JunitPath("a.b/junit.xml", 1), "a.b/junit.xml");
  EXPECT_EQ(JunitPath("a.b/junit.xml", 2), "a.b/junit-2.xml");
  EXPECT_EQ(JunitPath("a.b/junit", 12), "a.b/junit-12");
}

}  // namespace
}  // namespace cudnn_ci
