// The console and the last screen, as a person sees them; golden files are the screens themselves.
#include "report/console.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "golden_file.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

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

void ExpectNarrow(const std::string& text) {
  for (const std::string& line : Split(text, '\n')) {
    if (line.find("  reproduce") != 0) {
      EXPECT_LE(line.size(), 110u) << line;
    }
  }
}

std::string Screen(const RunBuilder& b) {
  const Summary summary = b.Summarize();
  LastScreenOptions options;
  options.reports = {"cudnn-ci-report/junit.xml", "cudnn-ci-report/report.json"};
  return LastScreen(summary, Judge(summary), options);
}

RunBuilder PassingRun() {
  RunBuilder b;
  b.run.not_gated = {OtherNotice("framework: the matrix promises none"),
                     OtherNotice("/opt/other/lib/libcudnn.so.8: found, but belongs to no subject")};
  b.waivers = {{"conv.*bfloat16*", "wrong-value", "NVBUG 1234567", "ana@example.org", "2026-06-30"}};
  b.Pass("driver.load").Pass("toolkit.version").Pass("cudnn.create[subject=system]");
  for (const char* dtype : {"float16", "float32"}) {
    const std::string id =
        std::string("conv.forward[api=legacy,dtype=") + dtype + ",layout=nhwc,shape=resnet_stem]";
    b.Plan(id, Layer::kConvolution, "gpu0").entry = 9;
    b.End(CaseRef{id, "gpu0"}, Passed{});
  }
  for (const char* layout : {"nchw", "nhwc"}) {
    const std::string id = std::string("conv.forward[api=graph,dtype=fp8_e4m3,layout=") + layout + "]";
    CasePlanned& planned = b.Plan(id, Layer::kConvolution, "gpu0");
    planned.allow_skip = {SkipKind::kUnsupported};
    planned.entry = 9;
    b.End(CaseRef{id, "gpu0"},
          Skipped{SkipKind::kUnsupported, "compute capability 8.9", "compute capability 8.0"});
  }
  const CaseRef waived{"conv.forward[api=graph,dtype=bfloat16,layout=nchw]", "gpu0"};
  b.Plan(waived.id, Layer::kConvolution, "gpu0").entry = 9;
  b.End(waived, Failed{}, {Wrong("wrong-value", Blame::kImage, "1 of 4096 elements differ")});
  return b;
}

RunBuilder ImageAtFault() {
  RunBuilder b;
  b.Pass("driver.load").Pass("toolkit.version");
  const CaseRef cudnn{"cudnn.versions[subject=system]", ""};
  b.Plan(cudnn.id, Layer::kCudnn);
  b.End(cudnn, Failed{},
        {{"cudnn-mixed-versions", Severity::kError, Blame::kImage,
          "libcudnn.so.9.1.0 is 9.1.0, but libcudnn_ops.so.9 is 9.2.1 (/usr/local/lib/libcudnn_ops.so.9.2.1)",
          "the cuDNN sub-libraries that load together are of different versions",
          "Image owner: remove the second copy from /usr/local/lib, or put the wanted one first in the "
          "loader's path.",
          "https://docs.nvidia.com/deeplearning/cudnn/"}});
  const CaseRef crash{"conv.forward[api=legacy,dtype=float16,layout=nhwc,shape=resnet_stem]", "gpu0"};
  b.Plan(crash.id, Layer::kConvolution, "gpu0");
  const Errored error{ErrorKind::kCrashed, "SIGBUS in step algo=1", CrashSite::kImage};
  b.Add(AttemptStarted{crash, 1, 4, AttemptMode::kAlone}).Add(StepReached{crash, "algo=1"});
  b.Add(AttemptFinished{crash, 1, 4, error, 0.8, "loading engines\nBus error",
                        "signal 7 at 0x7f00deadbeef in libcudnn_cnn.so.9"});
  b.Add(CaseFinished{crash, error, 0.8, {}});
  for (const char* id : {"conv.dgrad", "conv.wgrad"}) b.Plan(id), b.End(id, Blocked{cudnn.id});
  return b;
}

RunBuilder RunnerAtFault() {
  RunBuilder b;
  b.run.devices.clear();
  b.run.facts["system"].erase("driver.version");
  b.run.partial = {OtherNotice("filtered")};
  b.Fail("driver.load",
         {"driver-too-old", Severity::kError, Blame::kRunner,
          "the driver is 470.57.02, the fleet promises >=525.60.13",
          "the host's driver is older than the runner's contract",
          "Runner owner: update the driver of this machine.", ""},
         Layer::kDriver);
  b.Plan("cudnn.create[subject=system]"), b.End("cudnn.create[subject=system]", Blocked{"driver.load"});
  b.Plan("conv.forward"), b.End("conv.forward", Blocked{"cudnn.create[subject=system]"});
  return b;
}

TEST(LastScreenTest, LooksAsItShould) {
  ExpectGolden("screen_passed.txt", Screen(PassingRun()));
  ExpectGolden("screen_image.txt", Screen(ImageAtFault()));
  ExpectGolden("screen_runner.txt", Screen(RunnerAtFault()));
  for (const RunBuilder& b : {PassingRun(), ImageAtFault(), RunnerAtFault()}) ExpectNarrow(Screen(b));
}

TEST(LastScreenTest, SaysOfWhatDayTheVersionFactsAre) {
  RunBuilder b;
  EXPECT_EQ(Screen(b).find("  versions "), std::string::npos);
  b.run.compatibility = {"2026-11-20", "/t/compatibility.json", std::string(64, 'a')};
  EXPECT_NE(Screen(b).find("\n  versions    facts as of 2026-11-20, sha256 aaaaaaaaaaaaaaaa\n"),
            std::string::npos)
      << Screen(b);
}

TEST(LastScreenTest, EndsWithTheVerdict) {
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

TEST(LastScreenTest, APassSaysWhatItStandsOn) {
  const auto headline = [](const RunBuilder& b) {
    const Summary summary = b.Summarize();
    return Headline(summary, Judge(summary));
  };
  RunBuilder b;
  b.Pass("conv.a");
  EXPECT_EQ(headline(b), "PASSED: every required case passed");
  b.Plan("conv.b").allow_skip = {SkipKind::kMemory};
  b.End("conv.b", Skipped{SkipKind::kMemory, "8 GiB", "2 GiB"});
  EXPECT_EQ(headline(b), "PASSED: of 2 required cases 1 passed, 1 left out as the matrix allows");
  b.waivers = {{"conv.c", "wrong-value", "known", "ana", "2026-12-31"}};
  b.Fail("conv.c", Wrong("wrong-value", Blame::kImage));
  EXPECT_EQ(headline(b),
            "PASSED: of 3 required cases 1 passed, 1 left out as the matrix allows, 1 failed and waived");
  RunBuilder waived;
  waived.waivers = b.waivers;
  waived.Fail("conv.c", Wrong("wrong-value", Blame::kImage));
  EXPECT_EQ(headline(waived), "PASSED: of 1 required cases 0 passed, 1 failed and waived");
  RunBuilder optional;
  optional.Plan("conv.d").required = false;
  optional.End("conv.d", Passed{});
  EXPECT_EQ(headline(optional), "PASSED: no case is required; 1 optional passed");
}

TEST(LastScreenTest, OtherErrorsStandInLayerOrderAndTheRunnersIsNeverCut) {
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

Finding Warned(const std::string& slug, Blame blame, const std::string& detail = "seen") {
  Finding finding = Wrong(slug, blame, detail);
  finding.severity = Severity::kWarning;
  return finding;
}

TEST(LastScreenTest, APassShowsItsWarnings) {
  RunBuilder b;
  b.Pass("driver.load");
  EXPECT_EQ(Screen(b).find("warnings"), std::string::npos) << Screen(b);
  for (const char* id : {"cudnn.version[subject=a]", "cudnn.version[subject=b]"}) {
    b.Plan(id, Layer::kCudnn);
    // Twice in one case: of two GPUs.
    b.End(id, Passed{},
          {Warned("known-regression", Blame::kImage, std::string("9.1.0 ") + id),
           Warned("known-regression", Blame::kImage, "9.1.0 on gpu1")});
  }
  EXPECT_NE(Screen(b).find("0123456789abcdef)\n\n"
                           "  warnings    2 x image.known-regression: 9.1.0 cudnn.version[subject=a]\n\n"
                           "  cases       3 planned: 3 judged (3 passed)\n"),
            std::string::npos)
      << Screen(b);
}

TEST(LastScreenTest, WarningsStandBesideARootCauseInLayerOrder) {
  RunBuilder b;
  b.waivers = {{"conv.waived", "accepted", "known", "ana", "2026-12-31"}};
  b.Plan("conv.a", Layer::kConvolution);
  b.End("conv.a", Failed{},
        {Warned("odd", Blame::kImage), Wrong("wrong-value", Blame::kImage), Wrong("other", Blame::kImage)});
  b.Plan("driver.devices", Layer::kDriver);
  Finding note = Warned("ecc-off", Blame::kRunner);
  note.severity = Severity::kNote;
  b.End("driver.devices", Passed{}, {Warned("xid-logged", Blame::kRunner, ""), note});
  b.Fail("conv.waived", Wrong("accepted", Blame::kImage));
  b.Add(FindingReported{{}, Warned("of-the-run", Blame::kUndetermined)});
  b.run.warnings = {OtherNotice("m.json:3:5: the waiver for \"conv.*\" matches no case")};
  EXPECT_NE(Screen(b).find("  also        1 x image.other\n"
                           "  warnings    1 x runner.xid-logged: what xid-logged is\n"
                           "              1 x image.odd: seen\n"
                           "              1 x undetermined.of-the-run: seen\n"
                           "              m.json:3:5: the waiver for \"conv.*\" matches no case\n\n"
                           "  cases "),
            std::string::npos)
      << Screen(b);
}

TEST(LastScreenTest, WarningsAreBoundedAndTheRunnersAreNeverCut) {
  RunBuilder b;
  for (int i = 0; i < 30; ++i) {
    const std::string id = "conv.c" + std::to_string(i);
    b.Plan(id, Layer::kConvolution);
    b.End(id, Passed{}, {Warned("w" + std::to_string(i), Blame::kImage, std::string(5000, 'x'))});
  }
  b.Add(FindingReported{{}, Warned("gpu-is-shared", Blame::kRunner)});
  b.run.warnings.assign(20, OtherNotice("a sentence"));
  const std::string screen = Screen(b);
  EXPECT_LT(screen.size(), 6000u);
  EXPECT_NE(screen.find("1 x image.w7:\n"), std::string::npos) << screen;
  EXPECT_EQ(screen.find("1 x image.w8:"), std::string::npos) << screen;
  EXPECT_NE(screen.find("1 x runner.gpu-is-shared: seen\n"
                        "              and 22 more kinds of warnings\n"
                        "              a sentence\n"),
            std::string::npos)
      << screen;
  EXPECT_NE(screen.find("a sentence\n              and 12 more about the run\n"), std::string::npos)
      << screen;
}

TEST(LastScreenTest, TextsFromOutsideCannotSteerATerminal) {
  RunBuilder b;
  b.run.image = "\x1b[2J\x1b]0;title\x07image\r\n::error::x";
  b.Fail("conv.a", Wrong("wrong-value", Blame::kImage, "\x1b[31mred\n::error::detail"));
  const std::string screen = Screen(b);
  EXPECT_EQ(screen.find('\x1b'), std::string::npos);
  EXPECT_EQ(screen.find("\n::"), std::string::npos);
}

TEST(LastScreenTest, ReproducesTheRootCausesCase) {
  RunBuilder b;
  b.Fail("conv.a[x=1]", Wrong("wrong-value", Blame::kImage));
  EXPECT_NE(Screen(b).find("cudnn-ci --matrix matrices/cu12.json --case 'conv.a[x=1]'"), std::string::npos);
}

// GitHub's runner trims a line before it looks for "::" and finds "##[" anywhere in it:
// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
TEST_F(ConsoleTest, NothingOfTheImageIsACommandOfThePipeline) {
  // Of a long text each line that is wrapped begins with a command.
  std::string words = "seen\n::error::forged ##[error]b ####[group]c";
  for (size_t i = 0; i < 80; ++i) words += " ::notice::" + std::string(i % 40, 'b');
  RunBuilder b;
  b.run.image = "x ##[debug]" + words;
  b.Fail("conv.a ##[x]", Wrong("wrong-value", Blame::kImage, words));
  b.Add(FindingReported{{}, Wrong("gpu-is-shared", Blame::kRunner, words)});
  ConsoleOptions options;
  options.verbosity = Verbosity::kVerbose;
  Play(b, options);
  for (const std::string& line : Split(Output(), '\n')) {
    EXPECT_NE(Trim(line).substr(0, 2), "::") << line;
    EXPECT_EQ(line.find("##["), std::string::npos) << line;
  }
  EXPECT_NE(Output().find("::error::forged"), std::string::npos);  // in the middle of a line it is a text
  EXPECT_NE(Output().find("\\x3A:notice::"), std::string::npos);
  EXPECT_NE(Output().find("#\\x23[error]b"), std::string::npos);
}

TEST_F(ConsoleTest, ALogHasOneLinePerFinishedCase) {
  Play(ImageAtFault(), ConsoleOptions{});
  ExpectGolden("console_image.txt", Output());
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
  EXPECT_NE(output.find("further ones are in the reports only"), std::string::npos);
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
  EXPECT_NE(output.find("): blocked by driver.load\n[BLOCKED ] conv.other: blocked by driver.other\n"),
            std::string::npos)
      << output;
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
  EXPECT_NE(Output().find("running: conv.slow (gpu0) for 31 s in step engine=17"), std::string::npos)
      << Output();
}

TEST_F(ConsoleTest, AFullDiskIsAnErrorNotADeath) {
  Fd full(open("/dev/full", O_WRONLY));
  ConsoleReporter reporter(full.get(), ConsoleOptions{});
  const Status status = reporter.Finish(PassingRun().Summarize());
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find("No space left"), std::string::npos);
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

TEST_F(ConsoleTest, QuietIsTheLastScreenAlone) {
  ConsoleOptions options;
  options.verbosity = Verbosity::kQuiet;
  Play(ImageAtFault(), options);
  const Summary summary = ImageAtFault().Summarize();
  EXPECT_EQ(Output(), LastScreen(summary, Judge(summary), {}));
}

TEST_F(ConsoleTest, VerboseHasALineForEveryCase) {
  RunBuilder b;
  for (int i = 0; i < 5; ++i) b.Pass("conv.a" + std::to_string(i));
  b.Plan("conv.warns");
  Finding warning = Wrong("odd", Blame::kImage, "looks odd");
  warning.severity = Severity::kWarning;
  b.End("conv.warns", Passed{}, {warning});
  ConsoleOptions options;
  options.compact_above = 2;
  options.verbosity = Verbosity::kVerbose;
  Play(b, options);
  for (int i = 0; i < 5; ++i)
    EXPECT_NE(Output().find("[ PASSED ] conv.a" + std::to_string(i)), std::string::npos) << i;
  EXPECT_NE(Output().find("warning: odd: looks odd\n"), std::string::npos) << Output();
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
