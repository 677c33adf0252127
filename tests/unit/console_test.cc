// The console and the summary: their bounds, and what cannot be seen in golden_reports_test.cc.
#include "report/formats/console.h"
#include "report/text/run_text.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "canonical_runs.h"
#include "golden_messages.h"
#include "mentions.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;

// A reporter that writes to a pipe's end, and what came out of the other.
class ConsoleTest : public testing::Test {
 protected:
  ConsoleTest() : path_(testing::TempDir() + "console_test." + std::to_string(getpid())) {
    file_ = Fd(mkstemp((path_ += ".XXXXXX").data()));
  }
  ~ConsoleTest() override { unlink(path_.c_str()); }
  std::string Output() const { return ReadSmallFile(path_, 64 << 20); }
  void Play(const RunBuilder& b, const ConsoleOptions& options) {
    ConsoleReporter reporter(file_.get(), options);
    Fold fold;
    for (const Event& event : b.Events()) {
      fold.Apply(event);
      ASSERT_TRUE(reporter.OnEvent(event, fold.summary()).ok());
    }
    ASSERT_TRUE(reporter.Finish(fold.summary()).ok());
  }

  std::string path_;
  Fd file_;
};

std::string Screen(const RunBuilder& b) {
  const Summary summary = b.Summarize();
  RunSummaryOptions options;
  options.reports = {"cudnn-ci-report/junit.xml", "cudnn-ci-report/report.json"};
  return RunSummary(summary, Judge(summary), options);
}

TEST(RunSummaryTest, EndsWithTheVerdict) {
  RunBuilder b;
  b.Fail("conv.a", Wrong("wrong-value", Blame::kImage));
  const auto last_line = [&] { return Split(Trim(Screen(b)), '\n').back(); };
  EXPECT_EQ(last_line(), "verdict: failed (exit 1)");
  b.run.partial = {OtherNotice("shard 2/4")};
  EXPECT_EQ(last_line(), "verdict: failed (exit 1), partial: shard 2/4; not a verdict on the whole image");
  b.run.partial.clear();
  b.run.report_only = true;
  EXPECT_EQ(last_line(), "verdict: failed (exit 0), NOT GATING: --report-only hides exit 1");
}

TEST(RunSummaryTest, APassSaysWhatItStandsOn) {
  const auto headline = [](const RunBuilder& b) {
    const Summary summary = b.Summarize();
    return Headline(summary, Judge(summary));
  };
  RunBuilder b;
  b.Pass("conv.a");
  EXPECT_EQ(headline(b), "PASSED: every required case passed");
  b.Plan("conv.b").allow_skip = {SkipKind::kMemory};
  b.End("conv.b", Skipped{SkipKind::kMemory, "8 GiB", "2 GiB"});
  EXPECT_EQ(headline(b), "PASSED: 1 of 2 required cases passed, 1 left out as the matrix allows");
  b.waivers = {{"conv.c", "wrong-value", "known", "ana", "2026-12-31"}};
  b.Fail("conv.c", Wrong("wrong-value", Blame::kImage));
  EXPECT_EQ(headline(b),
            "PASSED: 1 of 3 required cases passed, 1 left out as the matrix allows, 1 failed and waived");
  RunBuilder waived;
  waived.waivers = b.waivers;
  waived.Fail("conv.c", Wrong("wrong-value", Blame::kImage));
  EXPECT_EQ(headline(waived), "PASSED: 0 of 1 required cases passed, 1 failed and waived");
  RunBuilder optional;
  optional.Plan("conv.d").required = false;
  optional.End("conv.d", Passed{});
  EXPECT_EQ(headline(optional), "PASSED: no case is required; 1 optional passed");
}

TEST(RunSummaryTest, OtherErrorsStandInLayerOrderAndTheRunnersIsNeverCut) {
  RunBuilder b;
  for (const char* slug : {"z", "y", "x", "w", "v", "u", "t", "s", "r", "q"})
    b.Fail(std::string("conv.") + slug, Wrong(slug, Blame::kImage), Layer::kConvolution);
  b.Fail("toolkit.b", Wrong("of-the-toolkit", Blame::kImage), Layer::kToolkit);
  b.Fail("toolkit.c", Wrong("second", Blame::kImage), Layer::kToolkit);
  b.Add(FindingReported{{}, Wrong("gpu-is-shared", Blame::kRunner)});
  const std::string screen = Screen(b);
  const size_t also = screen.find("also        1 x image.second");
  ASSERT_NE(also, std::string::npos) << screen;
  EXPECT_LT(also, screen.find("1 x image.z"));
  EXPECT_LT(screen.find("1 x image.z"), screen.find("1 x image.y"));
  EXPECT_NE(screen.find("1 x runner.gpu-is-shared"), std::string::npos) << screen;
  EXPECT_EQ(screen.find("image.q"), std::string::npos);
  EXPECT_NE(screen.find("and 3 more reasons"), std::string::npos) << screen;
}

TEST(RunSummaryTest, ThreeWarningsAreShownAndTheOthersAreNotes) {
  RunBuilder b;
  for (int i = 0; i < 30; ++i) {
    const std::string id = "conv.c" + std::to_string(i);
    b.Plan(id, Layer::kConvolution);
    b.End(id, Passed{}, {Warned("w" + std::to_string(i / 2), Blame::kImage, std::string(5000, 'x'))});
  }
  Finding with_line = Warned("has-a-line", Blame::kImage);
  with_line.command = "RUN repair", with_line.where = Where::kImage;
  b.End("conv.c29", Passed{}, {with_line});
  b.Add(FindingReported{{}, Warned("gpu-is-shared", Blame::kRunner)});
  b.run.warnings.assign(20, OtherNotice("words"));
  const std::string screen = Screen(b);
  EXPECT_LT(screen.size(), 6000u);
  GoldenMessages("console.txt")
      .Row("warnings",
           screen.substr(screen.find("warnings "), screen.find("  cases ") - screen.find("warnings ")));
  EXPECT_THAT(screen, Mentions("runner.gpu-is-shared", "image.has-a-line", "RUN repair", " 19 ", " 30;"));
}

TEST(RunSummaryTest, OneCauseIsOneWarning) {
  RunBuilder b;
  for (const char* id : {"image.a", "image.b"}) {
    b.Plan(id);
    b.End(id, Passed{}, {Warned("slow-start", Blame::kImage, id)});
  }
  const std::string screen = Screen(b);
  EXPECT_NE(screen.find("warnings    image.slow-start: image.a\n"), std::string::npos) << screen;
  EXPECT_EQ(screen.find("image.b"), std::string::npos) << screen;
  EXPECT_NE(screen.find("notes       1; "), std::string::npos) << screen;
}

TEST(RunSummaryTest, TextsFromOutsideCannotSteerATerminal) {
  RunBuilder b;
  b.run.image = "\x1b[2J\x1b]0;title\x07image\r\n::error::x";
  b.Fail("conv.a", Wrong("wrong-value", Blame::kImage, "\x1b[31mred\n::error::detail"));
  const std::string screen = Screen(b);
  EXPECT_EQ(screen.find('\x1b'), std::string::npos);
  EXPECT_EQ(screen.find("\n::"), std::string::npos);
}

// GitHub's runner trims a line before it looks for "::" and finds "##[" anywhere in it:
// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
TEST_F(ConsoleTest, NothingOfTheImageIsACommandOfThePipeline) {
  // Of a long text each line that is wrapped begins with a command.
  std::string words = "seen\n::error::forged ##[error]b ####[group]c";
  for (size_t i = 0; i < 80; ++i) words += " ::notice::" + std::string(i % 40, 'b');
  // Blanks to a trim that knows Unicode, and what a comparison by a language's rules passes over.
  words += "\n\u00a0::error::x\n\u3000 \u200b::error::y\n\t::error::z";
  RunBuilder b;
  b.run.image = "x ##[debug]" + words;
  b.Fail("conv.a ##[x]", Wrong("wrong-value", Blame::kImage, words));
  b.Fail("conv.azure", Wrong("wrong-value", Blame::kImage, "x ##vso[task.complete result=Succeeded;]"));
  b.Fail("conv.teamcity", Wrong("wrong-value", Blame::kImage, "###teamcity[buildStatus status='SUCCESS']"));
  b.Add(FindingReported{{}, Wrong("gpu-is-shared", Blame::kRunner, words)});
  ConsoleOptions options;
  options.verbosity = Verbosity::kVerbose;
  Play(b, options);
  for (const std::string& line : Split(Output(), '\n')) {
    const auto seen = std::find_if(line.begin(), line.end(), [](char c) { return c > ' ' && c < 0x7F; });
    EXPECT_NE(line.substr(static_cast<size_t>(seen - line.begin()), 2), "::") << line;
    for (const char* command : {"##[", "##vso[", "##teamcity["})
      EXPECT_EQ(line.find(command), std::string::npos) << line;
  }
  EXPECT_NE(Output().find("::error::forged"), std::string::npos);  // in the middle of a line it is a text
  EXPECT_NE(Output().find("\\x3A:notice::"), std::string::npos);
  EXPECT_NE(Output().find("#\\x23[error]b"), std::string::npos);
  EXPECT_NE(Output().find("x #\\x23vso[task."), std::string::npos);
}

TEST_F(ConsoleTest, AHugeLogIsNotFlooded) {
  RunBuilder b;
  for (int i = 0; i < 3000; ++i) b.Pass("conv.c" + std::to_string(i));
  b.Fail("conv.bad", Wrong("wrong-value", Blame::kImage));
  for (int i = 0; i < 3000; ++i) {
    const std::string id = "conv.d" + std::to_string(i);
    b.Plan(id), b.End(id, Skipped{SkipKind::kUnsupported, "sm_90", "sm_80"});
  }
  Play(b, ConsoleOptions{});
  const std::string output = Output();
  EXPECT_LT(Split(output, '\n').size(), 250u);
  EXPECT_EQ(output.find("[ PASSED ]"), std::string::npos);
  EXPECT_NE(output.find("[ FAILED ] conv.bad"), std::string::npos);
  EXPECT_THAT(output, HasSubstr("[SKIPPED ] further ")) << "ones are in the reports only";
  EXPECT_NE(output.find("/6001] 1 failed\n"), std::string::npos);
}

TEST_F(ConsoleTest, WhatOneCaseBlocksSharesALine) {
  RunBuilder b;
  b.Fail("driver.load", Wrong("wrong-value", Blame::kImage));
  for (int i = 0; i < 300; ++i) {
    const std::string id = "conv.d" + std::to_string(i);
    b.Plan(id), b.End(id, Blocked{"driver.load"});
  }
  b.Plan("conv.other"), b.End("conv.other", Blocked{"driver.other"});
  Play(b, ConsoleOptions{});
  const std::string output = Output();
  EXPECT_NE(output.find("[BLOCKED ] 300 cases ("), std::string::npos) << output;
  EXPECT_THAT(output, HasSubstr(" driver.load\n[BLOCKED ] conv.other: ")) << "one line";
  EXPECT_THAT(output, Mentions("conv.other:", "driver.other"));
}

TEST_F(ConsoleTest, ATerminalShowsOneLineAndKeepsWhatFailed) {
  ConsoleOptions options;
  options.terminal = options.color = true;
  options.width = 60;
  Play(ImageAtFault(), options);
  const std::string output = Output();
  EXPECT_EQ(output.find("[ PASSED ]"), std::string::npos);
  EXPECT_NE(output.find("\r\x1b[K"), std::string::npos);
  EXPECT_NE(output.find("\x1b[31m[ FAILED ]\x1b[0m cudnn.versions"), std::string::npos);
}

TEST_F(ConsoleTest, SilenceIsBrokenByAHeartbeat) {
  ConsoleReporter reporter(file_.get(), ConsoleOptions{});
  RunBuilder b;
  b.finished = false;
  b.Plan("conv.slow", Layer::kConvolution, "gpu0");
  b.Add(AttemptStarted{{"conv.slow", "gpu0"}, 1, 1, AttemptMode::kAlone});
  b.Add(StepReached{{"conv.slow", "gpu0"}, "engine=17"});
  Fold fold;
  for (const Event& event : b.Events()) {
    fold.Apply(event);
    ASSERT_TRUE(reporter.OnEvent(event, fold.summary()).ok());
  }
  const std::string before = Output();
  ASSERT_TRUE(reporter.OnTick(14'000, fold.summary()).ok());
  EXPECT_EQ(Output(), before);
  ASSERT_TRUE(reporter.OnTick(31'100, fold.summary()).ok());
  EXPECT_THAT(Output(), Mentions("conv.slow (gpu0)", "31 s", "step engine=17"));
}

TEST_F(ConsoleTest, AFullDiskIsAnErrorNotADeath) {
  Fd full(open("/dev/full", O_WRONLY));
  ConsoleReporter reporter(full.get(), ConsoleOptions{});
  const Status status = reporter.Finish(PassingRun().Summarize());
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find(strerror(ENOSPC)), std::string::npos);
}

TEST_F(ConsoleTest, AClosedPipeEndsTheOutputAndIsNoFailure) {
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Fd reader(ends[0]), writer(ends[1]);
  ConsoleReporter reporter(writer.get(), ConsoleOptions{});
  reader = Fd();
  EXPECT_TRUE(reporter.Finish(PassingRun().Summarize()).ok());
  EXPECT_TRUE(reporter.Finish(PassingRun().Summarize()).ok());
}

TEST_F(ConsoleTest, NoColorIsRespected) {
  const Fd terminal(posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_TRUE(terminal.valid());
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  unsetenv("FORCE_COLOR");
  EXPECT_TRUE(DetectConsole(terminal.get()).terminal);
  EXPECT_TRUE(DetectConsole(terminal.get()).color);
  setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(DetectConsole(terminal.get()).terminal);
  EXPECT_FALSE(DetectConsole(terminal.get()).color);
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(DetectConsole(terminal.get()).color) << "set, but empty";
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(DetectConsole(terminal.get()).terminal);
}

TEST_F(ConsoleTest, ColorsCanBeForcedAndTheOptionDecides) {
  setenv("TERM", "dumb", 1);
  unsetenv("NO_COLOR");
  const auto colored = [&](Color color) { return DetectConsole(file_.get(), color).color; };
  EXPECT_TRUE(colored(Color::kAlways));
  for (const char* force : {"1", "true", "3"}) {
    setenv("FORCE_COLOR", force, 1);
    EXPECT_TRUE(colored(Color::kAuto)) << force;
    EXPECT_FALSE(colored(Color::kNever)) << force;
  }
  for (const char* force : {"", "0", "false"}) {
    setenv("FORCE_COLOR", force, 1);
    EXPECT_FALSE(colored(Color::kAuto)) << force;
  }
  setenv("FORCE_COLOR", "1", 1);
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(colored(Color::kAuto)) << "who wants none is heard first";
  EXPECT_TRUE(colored(Color::kAlways));
  unsetenv("FORCE_COLOR");
  unsetenv("NO_COLOR");
}

TEST_F(ConsoleTest, QuietIsTheSummaryAlone) {
  ConsoleOptions options;
  options.verbosity = Verbosity::kQuiet;
  Play(ImageAtFault(), options);
  const Summary summary = ImageAtFault().Summarize();
  EXPECT_EQ(Output(), RunSummary(summary, Judge(summary), {}));
}

TEST_F(ConsoleTest, VerboseHasALineForEveryCase) {
  RunBuilder b;
  for (int i = 0; i < 5; ++i) b.Pass("conv.a" + std::to_string(i));
  b.Plan("conv.warns");
  Finding warning = Wrong("odd", Blame::kImage, "odd");
  warning.severity = Severity::kWarning;
  b.End("conv.warns", Passed{}, {warning});
  ConsoleOptions options;
  options.compact_above = 2;
  options.verbosity = Verbosity::kVerbose;
  Play(b, options);
  for (int i = 0; i < 5; ++i)
    EXPECT_NE(Output().find("[ PASSED ] conv.a" + std::to_string(i)), std::string::npos) << i;
  EXPECT_NE(Output().find(" odd: odd\n"), std::string::npos) << Output();
}

TEST_F(ConsoleTest, AFileIsNoTerminal) {
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  unsetenv("FORCE_COLOR");
  EXPECT_FALSE(DetectConsole(file_.get()).terminal);
  EXPECT_FALSE(DetectConsole(file_.get()).color);
}

}  // namespace
}  // namespace cudnn_ci
