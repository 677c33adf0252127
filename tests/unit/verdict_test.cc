// The verdict, row by row: outcomes and blame, exit codes and their precedence, runs that are not whole.
#include <gmock/gmock.h>

#include <csignal>
#include <set>

#include "golden_messages.h"
#include "model/verdict/attribution.h"
#include "model/verdict/summary.h"
#include "model/verdict/verdict.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

std::string RootSlug(const Verdict& verdict) {
  return verdict.root_cause ? verdict.root_cause->finding.slug : "none";
}

// A case that failed alone, and what the harness said of it after another GPU had its turn.
Verdict AfterAnotherGpu(const std::vector<Finding>& alone, const std::vector<Finding>& elsewhere,
                        const std::vector<Finding>& said) {
  const CaseRef ref{"conv.a", ""};
  RunBuilder b;
  b.Pass("conv.b");
  b.Plan("conv.a");
  b.Attempt(ref, Failed{}, alone);
  b.Attempt(ref, Failed{}, elsewhere, AttemptMode::kCrossDevice);
  for (const Finding& finding : said) b.Add(FindingReported{ref, finding});
  b.Add(CaseFinished{ref, Failed{}, 0.25, {}});
  return b.Judged();
}

// What GPUs say of one another comes before what the case alone looks like.
TEST(Verdict, TheAnswerOfAnotherGpuDecidesWhoseFaultAFailureIs) {
  const std::vector<Finding> alone = {Wrong("wrong-value", Blame::kImage)};
  std::vector<Finding> said = {Wrong("order-dependent", Blame::kUndetermined),
                               Wrong("gpu-computes-wrong", Blame::kRunner)};
  EXPECT_EQ(AfterAnotherGpu(alone, {}, said).exit_code, 3);
  said.push_back(Wrong("fails-on-another-gpu", Blame::kImage));
  const Verdict both = AfterAnotherGpu(alone, {}, said);
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_EQ(both.root_cause->finding.slug, "fails-on-another-gpu");
}

TEST(Verdict, WhatACheckSaysOfItsGpuHidesNoErrorOfTheImages) {
  const Finding gpu = Wrong("gpu-computes-wrong", Blame::kRunner);
  const Finding image = Wrong("out-of-bounds-write", Blame::kImage);
  EXPECT_EQ(AfterAnotherGpu({image, gpu}, {}, {}).exit_code, 1);
  EXPECT_EQ(AfterAnotherGpu({gpu}, {}, {}).exit_code, 3);
  EXPECT_EQ(AfterAnotherGpu({image}, {gpu}, {}).exit_code, 1) << "that is of the other GPU";
  EXPECT_EQ(AfterAnotherGpu({gpu}, {image}, {}).exit_code, 3) << "and so is this";
  EXPECT_EQ(AfterAnotherGpu({gpu}, {gpu}, {}).exit_code, 3) << "one error, not one and a note";
}

int64_t WarningsOf(const Summary& summary) {
  int64_t warnings = 0;
  for (const CaseRecord& record : summary.cases)
    for (const Finding& finding : record.findings) warnings += finding.severity == Severity::kWarning ? 1 : 0;
  return warnings;
}

TEST(Warnings, OfAnEndedRunThreeCausesStayAndTheRestAreNotes) {
  RunBuilder b;
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
    Finding finding = Wrong(std::string("odd-") + (*id < 'c' ? "ab" : id), Blame::kImage);
    finding.severity = Severity::kWarning;
    if (*id == 'f') finding.command = "RUN repair", finding.where = Where::kImage;
    b.Plan(id);
    b.End(id, Passed{}, {finding});
  }
  const Summary ended = b.Summarize();
  EXPECT_EQ(WarningsOf(ended), 3);
  EXPECT_EQ(ended.cases[5].findings[0].severity, Severity::kWarning) << "it has something to type";
  EXPECT_EQ(ended.cases[0].findings[0].severity, Severity::kWarning);
  EXPECT_EQ(ended.cases[1].findings[0].severity, Severity::kNote) << "the same cause";
  b.finished = false;
  EXPECT_EQ(WarningsOf(b.Summarize()), 6);
}

TEST(VerdictTest, PassesWhenEveryRequiredCasePassed) {
  RunBuilder b;
  b.Pass("driver.load");
  b.Plan("conv.a").required = false;
  b.End("conv.a", Failed{}, {Wrong("wrong-value", Blame::kImage)});
  const Verdict verdict = b.Judged();
  EXPECT_EQ(verdict.kind, VerdictKind::kPassed);
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_TRUE(verdict.complete);
  EXPECT_FALSE(verdict.root_cause.has_value());
}

TEST(VerdictTest, WarningsAndNotesOfAPassDoNotCount) {
  RunBuilder b;
  b.Plan("conv.a");
  Finding warning = Wrong("slow", Blame::kImage);
  warning.severity = Severity::kWarning;
  b.End("conv.a", Passed{}, {warning});
  EXPECT_EQ(b.Judged().exit_code, 0);
}

struct BlameRow {
  const char* name;
  Outcome outcome;
  Layer layer;
  int exit_code;
  const char* slug;
};

class BlameTest : public testing::TestWithParam<BlameRow> {};

TEST_P(BlameTest, OfAnOutcomeWithoutFinding) {
  RunBuilder b;
  b.Pass("driver.other");
  b.Plan("conv.a", GetParam().layer);
  b.End("conv.a", GetParam().outcome);
  EXPECT_EQ(b.Judged().exit_code, GetParam().exit_code);
  EXPECT_EQ(RootSlug(b.Judged()), GetParam().slug);
}

Outcome Error(ErrorKind kind) { return Errored{kind, "detail"}; }

INSTANTIATE_TEST_SUITE_P(
    Table, BlameTest,
    testing::Values(
        BlameRow{"failed", Failed{}, Layer::kConvolution, 1, "expectation-failed"},
        BlameRow{"failed_driver", Failed{}, Layer::kDriver, 3, "expectation-failed"},
        BlameRow{"crashed", Error(ErrorKind::kCrashed), Layer::kCudnn, 6, "crashed"},
        BlameRow{"crashed_image", Errored{ErrorKind::kCrashed, "x", CrashSite::kImage}, Layer::kCudnn, 1,
                 "crashed"},
        BlameRow{"crashed_plugin", Errored{ErrorKind::kCrashed, "x", CrashSite::kHarness}, Layer::kDriver, 5,
                 "crashed"},
        BlameRow{"crashed_driver", Error(ErrorKind::kCrashed), Layer::kDriver, 3, "crashed"},
        BlameRow{"timed_out", Error(ErrorKind::kTimedOut), Layer::kCudnn, 1, "timed-out"},
        BlameRow{"timed_out_driver", Error(ErrorKind::kTimedOut), Layer::kDriver, 3, "timed-out"},
        BlameRow{"exited", Error(ErrorKind::kExited), Layer::kCudnn, 5, "exited-early"},
        BlameRow{"protocol", Error(ErrorKind::kProtocol), Layer::kCudnn, 5, "protocol-violation"},
        BlameRow{"out_of_memory", Error(ErrorKind::kOutOfMemory), Layer::kCudnn, 1, "out-of-memory"},
        BlameRow{"output_limit", Error(ErrorKind::kOutputLimit), Layer::kCudnn, 5, "output-limit"},
        BlameRow{"process_limit", Error(ErrorKind::kProcessLimit), Layer::kCudnn, 5, "process-limit"},
        BlameRow{"process_limit_of_a_command", Errored{ErrorKind::kProcessLimit, "detail", CrashSite::kImage},
                 Layer::kCudnn, 1, "process-limit"},
        BlameRow{"plugin_load", Error(ErrorKind::kPluginLoad), Layer::kDriver, 5, "plugin-load"},
        BlameRow{"device_lost", Error(ErrorKind::kDeviceLost), Layer::kConvolution, 3, "device-lost"},
        BlameRow{"abandoned", Error(ErrorKind::kAbandoned), Layer::kConvolution, 3, "abandoned"},
        BlameRow{"cancelled", Error(ErrorKind::kCancelled), Layer::kConvolution, 6, "cancelled"},
        BlameRow{"skipped", Skipped{SkipKind::kMemory, "8 GiB", "2 GiB"}, Layer::kOther, 4,
                 "skip-not-allowed"},
        BlameRow{"not_run", NotRun{"reason"}, Layer::kOther, 6, "not-run"}),
    [](const testing::TestParamInfo<BlameRow>& row) { return std::string(row.param.name); });

TEST(VerdictTest, ADeclaredFindingOverridesTheBlameOfTheOutcome) {
  RunBuilder b;
  b.Plan("conv.a", Layer::kConvolution);
  b.End("conv.a", Errored{ErrorKind::kCrashed, "SIGSEGV"}, {Wrong("device-lost", Blame::kRunner)});
  EXPECT_EQ(b.Judged().exit_code, 3);
}

TEST(VerdictTest, PrecedenceOfEveryCombinationOfClasses) {
  const std::vector<std::pair<Blame, int>> order = {{Blame::kImage, 1},
                                                    {Blame::kHarness, 5},
                                                    {Blame::kRunner, 3},
                                                    {Blame::kUndetermined, 6},
                                                    {Blame::kMatrix, 4}};
  for (unsigned mask = 1; mask < 32; ++mask) {
    for (const bool reversed : {false, true}) {
      RunBuilder b;
      b.Pass("driver.load");
      int expected = 0;
      for (size_t n = 0; n < order.size(); ++n) {
        const size_t i = reversed ? order.size() - 1 - n : n;
        if (!(mask & (1u << i))) continue;
        b.Fail("conv.c" + std::to_string(i), Wrong("slug" + std::to_string(i), order[i].first));
      }
      for (size_t i = order.size(); i-- > 0;) {
        if (mask & (1u << i)) expected = order[i].second;
      }
      EXPECT_EQ(b.Judged().exit_code, expected) << "classes " << mask;
    }
  }
}

TEST(VerdictTest, KindFollowsTheClass) {
  const std::vector<std::pair<Blame, VerdictKind>> rows = {{Blame::kImage, VerdictKind::kFailed},
                                                           {Blame::kHarness, VerdictKind::kFailed},
                                                           {Blame::kRunner, VerdictKind::kFailed},
                                                           {Blame::kUndetermined, VerdictKind::kInconclusive},
                                                           {Blame::kMatrix, VerdictKind::kNotGated}};
  for (const auto& [blame, kind] : rows) {
    RunBuilder b;
    b.Fail("conv.a", Wrong("slug", blame));
    EXPECT_EQ(b.Judged().kind, kind);
    EXPECT_EQ(b.Judged().blame, blame);
  }
}

// ---- "report the bug" ----

std::string RetryTextOf(const std::string& slug, Blame blame) {
  RunBuilder b;
  b.Pass("driver.load");
  b.Fail("conv.a", Wrong(slug, blame));
  return RetryText(b.Summarize(), b.Judged());
}

// Only what somebody has programmed wrongly: cudnn-ci, or the author of a plugin.
TEST(RetryTest, ABugIsToBeReportedOnlyWhereItIsOne) {
  const std::set<std::string> bugs = {
      "exited-early",    "protocol-violation", "output-limit", "process-limit",  "uncaught-exception",
      "checked-nothing", "undeclared-finding", "worker-exit",  "leaked-process", "evidence-dropped"};
  std::set<std::string> told;
  GoldenMessages golden("retry.txt");
  for (const FindingInfo& info : HarnessFindings()) {
    if (info.declared_by == "cudnn-ci-run") continue;  // the launcher's: its remedies say it
    EXPECT_THAT(info.remedy + info.summary, testing::Not(testing::HasSubstr(" bug"))) << info.slug;
    const std::string text = golden.Row(info.slug, RetryTextOf(info.slug, info.blame));
    if (text.find(" bug") != std::string::npos) told.insert(info.slug);
  }
  EXPECT_EQ(told, bugs);
  // What a plugin declares of itself, and whatever crashes in its code or in cudnn-ci's.
  for (const char* slug : {"of-a-plugin", "crashed"})
    EXPECT_THAT(RetryTextOf(slug, Blame::kHarness), testing::HasSubstr(" bug"));
  for (const Blame blame : {Blame::kImage, Blame::kRunner, Blame::kMatrix, Blame::kUndetermined})
    EXPECT_THAT(RetryTextOf("of-a-plugin", blame), testing::Not(testing::HasSubstr("bug")));
}

TEST(RetryTest, WhatIsToBeRepairedIsSaid) {
  EXPECT_THAT(RetryTextOf("report-not-written", Blame::kHarness), testing::HasSubstr("make room"));
  EXPECT_THAT(RetryTextOf("plugin-load", Blame::kHarness), testing::HasSubstr("repair"));
  EXPECT_THAT(RetryTextOf("libc-unfit", Blame::kHarness), testing::HasSubstr("ci/bundle"));
}

// What a second runner does not change is not sent to one, nor is it the image's fault.
TEST(RetryTest, ARunThatWasCutShortNeedsMoreOfWhatItLacked) {
  const std::pair<const char*, Blame> causes[] = {{"time-limit", Blame::kUndetermined},
                                                  {"part-missing", Blame::kUndetermined},
                                                  {"out-of-memory", Blame::kImage}};
  for (const auto& [slug, blame] : causes) {
    RunBuilder b;
    b.Fail("conv.a", Wrong(slug, blame));
    EXPECT_EQ(b.Judged().retry, Retry::kUseless) << slug;
    EXPECT_THAT(RetryTextOf(slug, blame),
                testing::AllOf(testing::HasSubstr("first "), testing::Not(testing::HasSubstr("at fault"))));
  }
  EXPECT_THAT(RetryTextOf("time-limit", Blame::kUndetermined), testing::HasSubstr("--time-limit"));
  EXPECT_THAT(RetryTextOf("out-of-memory", Blame::kImage), testing::HasSubstr("memory"));
  for (const char* slug : {"killed-from-outside", "not-run", "subject-unreadable"})
    EXPECT_THAT(RetryTextOf(slug, Blame::kUndetermined),
                testing::AllOf(testing::StartsWith("yes, once"), testing::Not(testing::HasSubstr("image"))));
  RunBuilder other;
  other.Fail("driver.a", Wrong("out-of-memory", Blame::kRunner));
  EXPECT_EQ(other.Judged().retry, Retry::kElsewhere) << "a runner with too little";
}

TEST(RootCauseTest, IsTheFirstInLayerOrderThenPlanOrderOfTheDecidingClass) {
  RunBuilder b;
  b.Add(FindingReported{{}, Wrong("about-run", Blame::kImage)});
  b.Fail("conv.a", Wrong("third", Blame::kImage), Layer::kConvolution);
  b.Fail("toolkit.b", Wrong("first", Blame::kImage), Layer::kToolkit);
  b.Fail("toolkit.c", Wrong("second", Blame::kImage), Layer::kToolkit);
  b.Fail("driver.d", Wrong("runners", Blame::kRunner), Layer::kDriver);
  EXPECT_EQ(RootSlug(b.Judged()), "first");
  EXPECT_EQ(b.Judged().root_cause->ref.id, "toolkit.b");
}

TEST(RootCauseTest, FindingsAboutTheRunComeAfterThoseOfCases) {
  RunBuilder b;
  b.Add(FindingReported{{}, Wrong("about-run", Blame::kImage)});
  b.Pass("conv.a");
  EXPECT_EQ(RootSlug(b.Judged()), "about-run");
  EXPECT_EQ(b.Judged().root_cause->ref, CaseRef{});
  b.Fail("framework.b", Wrong("of-case", Blame::kImage), Layer::kOther);
  EXPECT_EQ(RootSlug(b.Judged()), "of-case");
}

TEST(RootCauseTest, AMissingSubjectComesBeforeItsConsequences) {
  RunBuilder b;
  b.Add(FindingReported{{}, HarnessFinding("subject-missing", "vendored: /opt/cudnn: no such folder")});
  b.Fail("cudnn.load", Wrong("cudnn-missing", Blame::kImage), Layer::kCudnn);
  EXPECT_EQ(RootSlug(b.Judged()), "subject-missing");
  b.Fail("toolkit.load", Wrong("toolkit-missing", Blame::kImage), Layer::kToolkit);
  EXPECT_EQ(RootSlug(b.Judged()), "toolkit-missing") << "of a layer below it";
  RunBuilder foreign;
  foreign.Add(FindingReported{{}, HarnessFinding("subject-for-other-processor", "built for aarch64")});
  foreign.Fail("cudnn.load", Wrong("cudnn-missing", Blame::kImage), Layer::kCudnn);
  EXPECT_EQ(RootSlug(foreign.Judged()), "subject-for-other-processor");
}

TEST(RootCauseTest, AMissingSubjectComesBeforeWhatItsOwnToolkitChecksSay) {
  RunBuilder b;
  b.Add(FindingReported{{}, HarnessFinding("subject-missing", "/opt/venv: no such file", "venv")});
  b.Plan("toolkit.runtime[subject=venv]", Layer::kToolkit).subject = "venv";
  b.End("toolkit.runtime[subject=venv]", Failed{}, {Wrong("toolkit-missing", Blame::kImage)});
  EXPECT_EQ(RootSlug(b.Judged()), "subject-missing");
  RunBuilder other;
  other.Add(FindingReported{{}, HarnessFinding("subject-missing", "/opt/venv: no such file", "venv")});
  other.Plan("toolkit.runtime[subject=ven]", Layer::kToolkit).subject = "ven";
  other.End("toolkit.runtime[subject=ven]", Failed{}, {Wrong("toolkit-missing", Blame::kImage)});
  EXPECT_EQ(RootSlug(other.Judged()), "toolkit-missing") << "another subject's";
}

TEST(SkipTest, IsAllowedByKind) {
  for (const bool right_kind : {true, false}) {
    RunBuilder b;
    b.Pass("conv.a[layout=nchw]");
    CasePlanned& planned = b.Plan("conv.a[layout=nhwc]");
    planned.entry = 0;  // of the same entry as the case that passed
    planned.allow_skip = {right_kind ? SkipKind::kVersion : SkipKind::kAbsent};
    b.End("conv.a[layout=nhwc]", Skipped{SkipKind::kVersion, "9.2", "9.1"});
    EXPECT_EQ(b.Judged().exit_code, right_kind ? 0 : 4);
  }
}

TEST(FlakyTest, PassesOnlyWhereTheMatrixAllowsIt) {
  for (const bool allowed : {true, false}) {
    RunBuilder b;
    b.Plan("conv.a").allow_flaky = allowed;
    b.Attempt({"conv.a", ""}, Failed{}, {Wrong("wrong-value", Blame::kImage)});
    b.End("conv.a", Passed{}, {}, {Flag::kFlaky});
    EXPECT_EQ(b.Judged().exit_code, allowed ? 0 : 1) << "a red is never washed green";
  }
  RunBuilder b;
  b.Plan("conv.a");
  b.End("conv.a", Passed{}, {}, {Flag::kFlaky});
  EXPECT_EQ(b.Judged().exit_code, 6);
  EXPECT_EQ(RootSlug(b.Judged()), "flaky");
}

TEST(FlakyTest, AnOrderDependentPassIsUndetermined) {
  RunBuilder b;
  b.Plan("conv.a").allow_flaky = true;
  b.End("conv.a", Passed{}, {}, {Flag::kOrderDependent});
  EXPECT_EQ(b.Judged().exit_code, 6);
  EXPECT_EQ(RootSlug(b.Judged()), "order-dependent");
}

TEST(IncompleteTest, IsNeverGreen) {
  for (int what = 0; what < 4; ++what) {
    RunBuilder b;
    b.Pass("conv.a");
    if (what == 0) b.finished = false;
    if (what == 1) b.plan_ended = false;
    if (what == 2) b.unrecorded = 1;
    if (what == 3) b.Plan("conv.b").required = false;
    const Verdict verdict = b.Judged();
    EXPECT_EQ(verdict.exit_code, 6) << what;
    EXPECT_EQ(verdict.kind, VerdictKind::kInconclusive);
    EXPECT_FALSE(verdict.complete);
    EXPECT_EQ(RootSlug(verdict), "not-run");
  }
  EXPECT_EQ(Judge(Summary{}).exit_code, 6);
}

TEST(IncompleteTest, WhatWasFoundStillDecides) {
  RunBuilder b;
  b.finished = false;
  b.Fail("conv.a", Wrong("wrong-value", Blame::kImage));
  b.Plan("conv.b");
  EXPECT_EQ(b.Judged().exit_code, 1);
  EXPECT_FALSE(b.Judged().complete);
}

TEST(CancelledTest, ASignalDecidesTheExitCodeWhateverElse) {
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    RunBuilder b;
    b.Fail("conv.a", Wrong("wrong-value", Blame::kImage));
    b.Plan("conv.b");
    b.Add(RunCancelled{CancelReason::kSignal, signal});
    EXPECT_EQ(b.Judged().exit_code, code);
    EXPECT_EQ(b.Judged().kind, VerdictKind::kInterrupted);
    EXPECT_EQ(RootSlug(b.Judged()), "wrong-value");
  }
}

TEST(CancelledTest, ASignalAfterAnotherReasonDecidesTheExitCode) {
  RunBuilder b;
  b.Fail("conv.a", Wrong("wrong-value", Blame::kImage));
  b.Plan("conv.b");
  b.Add(RunCancelled{CancelReason::kFailFast}).Add(RunCancelled{CancelReason::kSignal, SIGINT});
  EXPECT_EQ(b.Judged().exit_code, 130);
  b.Add(RunCancelled{CancelReason::kSignal, SIGTERM});
  EXPECT_EQ(b.Judged().exit_code, 130) << "the first signal stands";
}

TEST(CancelledTest, NoSignalNumberMakesAGreenExit) {
  for (const int signal : {-128, 128, 0, 1 << 30}) {
    RunBuilder b;
    b.Pass("conv.a");
    b.Add(RunCancelled{CancelReason::kSignal, signal});
    EXPECT_EQ(b.Judged().exit_code, 6) << signal;
  }
}

TEST(CancelledTest, TheTimeLimitIsUndetermined) {
  RunBuilder b;
  b.Pass("conv.a");
  b.Plan("conv.b");
  b.Add(RunCancelled{CancelReason::kTimeLimit});
  EXPECT_EQ(b.Judged().exit_code, 6);
  EXPECT_EQ(RootSlug(b.Judged()), "time-limit");
  b.Fail("conv.c", Wrong("wrong-value", Blame::kRunner));
  EXPECT_EQ(b.Judged().exit_code, 3);
}

TEST(CancelledTest, FailFastAddsNoClassOfItsOwn) {
  RunBuilder b;
  b.Fail("conv.a", Wrong("skip", Blame::kMatrix));
  b.Plan("conv.b");
  b.Plan("conv.c"), b.End("conv.c", Blocked{"conv.b"});
  b.Add(RunCancelled{CancelReason::kFailFast});
  EXPECT_EQ(b.Judged().exit_code, 4) << "not 6, which would win over the matrix";
}

TEST(CancelledTest, FailFastWithoutAFailureIsNotGreen) {
  RunBuilder b;
  b.Pass("conv.a");
  b.Plan("conv.b");
  b.Add(RunCancelled{CancelReason::kFailFast});
  EXPECT_EQ(b.Judged().exit_code, 6);
}

// In a merged run a blocker may have passed in another part than the one where it blocked.
TEST(BlockedTest, ByWhatPassedElsewhereIsNotGreen) {
  RunBuilder b;
  b.Pass("driver.load").Pass("conv.a");
  b.Plan("conv.b"), b.End("conv.b", Blocked{"driver.load"});
  const Verdict verdict = b.Judged();
  EXPECT_EQ(verdict.exit_code, 6);
  ASSERT_TRUE(verdict.root_cause);
  EXPECT_EQ(verdict.root_cause->finding.slug, "not-run");
  EXPECT_EQ(verdict.root_cause->finding.detail, "blocked by driver.load, which passed elsewhere");
  EXPECT_EQ(verdict.root_cause->ref.id, "conv.b");
}

TEST(EmptyTest, AnEmptyPlanIsNotGated) {
  RunBuilder b;
  EXPECT_EQ(b.Judged().exit_code, 4);
  EXPECT_EQ(b.Judged().kind, VerdictKind::kNotGated);
  EXPECT_EQ(RootSlug(b.Judged()), "nothing-selected");
}

TEST(EmptyTest, ARunInWhichNothingPassedIsNotGreen) {
  RunBuilder b;
  b.Plan("conv.a").required = false;
  b.End("conv.a", Skipped{SkipKind::kAbsent, "a library", "none"});
  EXPECT_EQ(b.Judged().exit_code, 4);
}

TEST(EmptyTest, AnOptionalPassShowsNothingWhereAllThatIsRequiredWasLeftOut) {
  RunBuilder b;
  b.Plan("conv.a").allow_skip = {SkipKind::kAbsent};
  b.End("conv.a", Skipped{SkipKind::kAbsent, "a library", "none"});
  b.Plan("conv.b").required = false;
  b.End("conv.b", Passed{});
  EXPECT_EQ(b.Judged().exit_code, 4);
  EXPECT_EQ(RootSlug(b.Judged()), "nothing-selected");
  b.Pass("conv.c");
  EXPECT_EQ(b.Judged().exit_code, 0);
  const RequiredTotals required = CountRequired(b.Summarize());
  EXPECT_EQ(required.planned, 2);
  EXPECT_EQ(required.passed, 1);
  EXPECT_EQ(required.left_out, 1);
}

TEST(EmptyTest, APlanOfOptionalCasesAloneIsJudgedByThem) {
  RunBuilder b;
  b.Plan("conv.b").required = false;
  b.End("conv.b", Passed{});
  EXPECT_EQ(b.Judged().exit_code, 0);
}

TEST(ReportFailureTest, CountsOnlyWhenNothingElseIsRed) {
  RunBuilder b;
  b.Pass("conv.a");
  Summary summary = b.Summarize();
  summary.report_failure = "junit: cannot write junit.xml: No space left on device";
  EXPECT_EQ(Judge(summary).exit_code, 5);
  EXPECT_EQ(RootSlug(Judge(summary)), "report-not-written");
  b.Fail("conv.b", Wrong("skip", Blame::kMatrix));
  summary = b.Summarize();
  summary.report_failure = "junit: ...";
  EXPECT_EQ(Judge(summary).exit_code, 4);
}

TEST(PartialTest, ExitsByItsOwnCases) {
  RunBuilder b;
  b.run.partial = {OtherNotice("filtered")};
  b.Pass("conv.a");
  EXPECT_EQ(b.Judged().exit_code, 0);
}

}  // namespace
}  // namespace cudnn_ci
