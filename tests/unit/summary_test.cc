// The fold, and the parts of the verdict that need the whole run: waivers, empty entries, blocked chains.
#include "model/verdict/summary.h"

#include <gtest/gtest.h>

#include "model/verdict/attribution.h"
#include "model/verdict/verdict.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

const Skipped kUnsupported{SkipKind::kUnsupported, "bfloat16", "compute capability 7.0"};

std::string RootSlug(const Verdict& verdict) {
  return verdict.root_cause ? verdict.root_cause->finding.slug : "none";
}

Waiver MakeWaiver(const std::string& expires) {
  return {"conv.*", "wrong-value", "known bug", "ana", expires};
}

TEST(FoldTest, KeepsAttemptsApartAndFindingsOnce) {
  RunBuilder b;
  b.Plan("conv.a", Layer::kConvolution);
  const Finding finding = Wrong("wrong-value", Blame::kImage);
  b.Attempt({"conv.a", ""}, Failed{}, {finding}, AttemptMode::kShared);
  b.Add(AttemptStarted{{"conv.a", ""}, 2, 7, AttemptMode::kConfirm});
  b.Add(ExpectationFailed{{"conv.a", ""}, "a.cc", 3, "y == 1"});
  b.Add(FindingReported{{"conv.a", ""}, finding});
  b.Add(AttemptFinished{{"conv.a", ""}, 2, 7, Failed{}, 0.5, "output", ""});
  b.Add(CaseFinished{{"conv.a", ""}, Failed{}, 0.75, {Flag::kConfirmed}});
  const Summary summary = b.Summarize();
  const CaseRecord& record = summary.cases.at(0);
  ASSERT_EQ(record.attempts.size(), 2u);
  EXPECT_EQ(record.findings.size(), 1u);
  EXPECT_EQ(record.attempts[0].findings.size(), 1u);
  EXPECT_EQ(record.attempts[0].mode, AttemptMode::kShared);
  EXPECT_TRUE(record.attempts[0].expectations.empty());
  EXPECT_EQ(record.attempts[1].worker, 7);
  EXPECT_EQ(record.attempts[1].output, "output");
  EXPECT_EQ(record.attempts[1].expectations.at(0).what, "y == 1");
  EXPECT_DOUBLE_EQ(record.seconds, 0.75);
}

TEST(FoldTest, KeepsStepsAndMeasurementsOfTheLastAttempt) {
  RunBuilder b;
  b.Plan("conv.a");
  b.Add(AttemptStarted{{"conv.a", ""}, 1, 1, AttemptMode::kAlone});
  b.Add(Measured{{"conv.a", ""}, "ms", 1, "ms", "lower"});
  b.Add(StepReached{{"conv.a", ""}, "old"});
  b.Add(AttemptStarted{{"conv.a", ""}, 2, 2, AttemptMode::kRetry});
  b.Add(Measured{{"conv.a", ""}, "ms", 2, "ms", "lower"});
  for (int i = 0; i < 100; ++i) b.Add(StepReached{{"conv.a", ""}, "step=" + std::to_string(i)});
  const Summary summary = b.Summarize();
  ASSERT_EQ(summary.cases[0].measurements.size(), 1u);
  EXPECT_EQ(summary.cases[0].measurements[0].value, 2);
  ASSERT_EQ(summary.cases[0].steps.size(), 64u);
  EXPECT_EQ(summary.cases[0].steps.back(), "step=99");
}

TEST(FoldTest, FindsCasesByIdAndDevice) {
  RunBuilder b;
  b.Plan("conv.a", Layer::kConvolution, "gpu0");
  b.Plan("conv.a", Layer::kConvolution, "gpu1");
  b.End(CaseRef{"conv.a", "gpu1"}, Failed{});
  const Summary summary = b.Summarize();
  ASSERT_EQ(summary.cases.size(), 2u);
  EXPECT_FALSE(summary.Find({"conv.a", "gpu0"})->finished);
  EXPECT_TRUE(summary.Find({"conv.a", "gpu1"})->finished);
  EXPECT_EQ(summary.Find({"conv.a", "gpu2"}), nullptr);
}

TEST(FoldTest, FindsEachOfManyCasesAndTakesNoneTwice) {
  RunBuilder b;
  for (int i = 0; i < 3000; ++i)
    b.Plan("conv.c" + std::to_string(i), Layer::kConvolution, i % 2 ? "gpu1" : "");
  b.Plan("conv.c7", Layer::kDriver, "gpu1");
  const Summary summary = b.Summarize();
  ASSERT_EQ(summary.cases.size(), 3000u);
  for (int i = 0; i < 3000; ++i)
    EXPECT_EQ(summary.Find({"conv.c" + std::to_string(i), i % 2 ? "gpu1" : ""}),
              &summary.cases[static_cast<size_t>(i)]);
  EXPECT_EQ(summary.Find({"conv.c7", ""}), nullptr);
  EXPECT_EQ(summary.Find({"conv.c7", "gpu1"})->plan.layer, Layer::kConvolution);
  EXPECT_EQ(Summary{}.Find({"conv.c7", ""}), nullptr);
}

TEST(FoldTest, KeepsTheAttemptOfAPassOnlyIfThereIsSomethingToTell) {
  RunBuilder b;
  b.Pass("conv.plain");
  b.Plan("conv.warned");
  Finding warning = Wrong("slow", Blame::kImage);
  warning.severity = Severity::kWarning;
  b.End("conv.warned", Passed{}, {warning});
  b.Plan("conv.again");
  b.Attempt({"conv.again", ""}, Failed{});
  b.End("conv.again", Passed{}, {}, {Flag::kFlaky});
  const Summary summary = b.Summarize();
  EXPECT_TRUE(summary.cases[0].attempts.empty());
  EXPECT_EQ(summary.cases[0].seconds, 0.25);
  EXPECT_EQ(summary.cases[1].attempts.size(), 1u);
  EXPECT_EQ(summary.cases[2].attempts.size(), 2u);
}

TEST(FoldTest, KeepsEveryAttemptOfACaseThatHadSeveral) {
  RunBuilder b;
  b.Plan("conv.a");
  b.Attempt({"conv.a", ""}, Passed{}, {}, AttemptMode::kShared);
  b.Add(AttemptStarted{{"conv.a", ""}, 2, 2, AttemptMode::kConfirm});
  b.Add(AttemptFinished{{"conv.a", ""}, 2, 2, Passed{}, 0.5, "", ""});
  b.Add(CaseFinished{{"conv.a", ""}, Passed{}, 1, {}});
  EXPECT_EQ(b.Summarize().cases.at(0).attempts.size(), 2u);
}

TEST(FoldTest, AnErrorOfACaseNobodyPlannedIsNotLost) {
  RunBuilder b;
  b.Pass("conv.a");
  b.Add(FindingReported{{"conv.unplanned", ""}, Wrong("wrong-value", Blame::kImage)});
  EXPECT_EQ(b.Judged().exit_code, 1);
}

TEST(CountTest, EveryOutcomeInItsPlace) {
  RunBuilder b;
  b.waivers = {MakeWaiver("2026-12-31")};
  b.Pass("conv.a").Pass("conv.b");
  b.Fail("conv.c", Wrong("wrong-value", Blame::kImage));
  b.Plan("conv.d"), b.End("conv.d", Errored{ErrorKind::kCrashed, "SIGSEGV"});
  b.Plan("conv.e"), b.End("conv.e", kUnsupported);
  b.Plan("conv.f"), b.End("conv.f", Blocked{"conv.d"});
  b.Plan("conv.g");
  const Totals totals = Count(b.Summarize());
  EXPECT_EQ(totals.planned, 7);
  EXPECT_EQ(totals.passed, 2);
  EXPECT_EQ(totals.failed, 1);
  EXPECT_EQ(totals.errored, 1);
  EXPECT_EQ(totals.skipped, 1);
  EXPECT_EQ(totals.blocked, 1);
  EXPECT_EQ(totals.not_run, 1);
  EXPECT_EQ(totals.waived, 1);
}

TEST(WaiverTest, CoversOnlyFailuresOfWhichEveryErrorIsWaived) {
  RunBuilder b;
  b.waivers = {MakeWaiver("2026-01-31")};  // its last day is the day of the run
  b.Pass("driver.load").Fail("conv.a", Wrong("wrong-value", Blame::kImage));
  EXPECT_EQ(b.Judged().exit_code, 0);
  EXPECT_EQ(b.Summarize().cases[1].waived_by, "ana until 2026-01-31: known bug");

  b.Plan("conv.b");
  b.End("conv.b", Failed{}, {Wrong("wrong-value", Blame::kImage), Wrong("other", Blame::kRunner)});
  const Verdict verdict = b.Judged();
  EXPECT_EQ(verdict.exit_code, 3) << "only the error that is not waived counts";
  EXPECT_EQ(RootSlug(verdict), "other");
}

TEST(WaiverTest, MatchesThePlainIdAndTheIdWithDevice) {
  for (const char* pattern : {"conv.a", "conv.a@gpu1"}) {
    RunBuilder b;
    b.waivers = {{pattern, "wrong-value", "r", "o", "2026-12-31"}};
    b.Pass("driver.load");
    b.Plan("conv.a", Layer::kConvolution, "gpu1");
    b.End(CaseRef{"conv.a", "gpu1"}, Failed{}, {Wrong("wrong-value", Blame::kImage)});
    EXPECT_EQ(b.Judged().exit_code, 0) << pattern;
  }
}

TEST(WaiverTest, OfTheFirstDeviceByNameIsOfThatAlone) {
  for (const char* device : {"gpu0", "gpu1"}) {
    RunBuilder b;
    b.waivers = {{"conv.a@gpu0", "wrong-value", "r", "o", "2026-12-31"}};
    b.Pass("driver.load");
    b.Plan("conv.a", Layer::kConvolution, device);
    b.End(CaseRef{"conv.a", device}, Failed{}, {Wrong("wrong-value", Blame::kImage)});
    EXPECT_EQ(b.Judged().exit_code, device == std::string("gpu0") ? 0 : 1) << device;
  }
}

TEST(WaiverTest, AnExpiredOneIsTheMatrixsFaultBesideTheFailureItself) {
  RunBuilder b;
  b.waivers = {MakeWaiver("2026-01-30")};
  b.Pass("driver.load").Fail("conv.a", Wrong("wrong-value", Blame::kImage));
  EXPECT_EQ(b.Judged().exit_code, 1);
  const std::vector<Finding> closing = RunLevelFindings(b.Summarize());
  ASSERT_EQ(closing.size(), 1u);
  EXPECT_EQ(closing[0].slug, "waiver-expired");
  EXPECT_EQ(closing[0].blame, Blame::kMatrix);

  b.waivers.push_back(MakeWaiver("2026-12-31"));
  EXPECT_TRUE(RunLevelFindings(b.Summarize()).empty()) << "a newer waiver took its place";
  EXPECT_EQ(b.Judged().exit_code, 0);
}

TEST(WaiverTest, AnExpiredOneOfAnotherFindingStaysExpired) {
  RunBuilder b;
  b.waivers = {MakeWaiver("2026-01-30"), {"conv.*", "other", "known bug", "ana", "2026-12-31"}};
  b.Pass("conv.a");
  EXPECT_EQ(b.Judged().exit_code, 4);
}

// A crash whose place is not known may be accepted; the next one, in the image's own library, is another.
TEST(WaiverTest, ABlameThatIsGivenMustMatch) {
  for (const char* blame : {"", "image", "undetermined"}) {
    RunBuilder b;
    b.waivers = {{"conv.*", "crashed", "known bug", "ana", "2026-12-31", blame}};
    b.Pass("driver.load").Fail("conv.a", Wrong("crashed", Blame::kImage));
    const bool other = std::string(blame) == "undetermined";
    EXPECT_EQ(b.Judged().exit_code, other ? 1 : 0) << blame;
    EXPECT_EQ(b.Summarize().cases[1].waived_by.empty(), other) << blame;
  }
}

TEST(WaiverTest, OneOfAnotherBlameDoesNotRenewAnExpiredOne) {
  RunBuilder b;
  b.waivers = {{"conv.*", "crashed", "known", "ana", "2026-01-30", "image"},
               {"conv.*", "crashed", "known", "ana", "2026-12-31", "undetermined"}};
  b.Pass("conv.a");
  EXPECT_EQ(b.Judged().exit_code, 4);
  EXPECT_NE(b.Judged().root_cause->finding.detail.find(" image.crashed "), std::string::npos);
  for (const char* blame : {"", "image"}) {
    b.waivers[1].blame = blame;
    EXPECT_EQ(b.Judged().exit_code, 0) << blame;
  }
}

TEST(WaiverTest, WithoutADayNoneIsKnownToHold) {
  for (const char* timestamp : {"", "2026-01", "yesterday"}) {
    RunBuilder b;
    b.run.timestamp = timestamp;
    b.waivers = {MakeWaiver("2026-12-31")};
    b.Pass("driver.load").Fail("conv.a", Wrong("wrong-value", Blame::kImage));
    EXPECT_EQ(b.Judged().exit_code, 1) << timestamp;
  }
}

TEST(WaiverTest, AnErrorThatComesAfterTheCasesEndUndoesIt) {
  RunBuilder b;
  b.waivers = {MakeWaiver("2026-12-31")};
  b.Pass("driver.load").Fail("conv.a", Wrong("wrong-value", Blame::kImage));
  b.Add(FindingReported{{"conv.a", ""}, Wrong("crashed", Blame::kImage)});
  EXPECT_EQ(b.Summarize().cases[1].waived_by, "");
  EXPECT_EQ(b.Judged().exit_code, 1);
}

TEST(WaiverTest, AnExpiredOneClosesTheGateEvenIfNothingFailsAnyMore) {
  RunBuilder b;
  b.waivers = {MakeWaiver("2020-01-01")};
  b.Pass("conv.a");
  EXPECT_EQ(b.Judged().exit_code, 4);
}

TEST(WaiverTest, AnOptionalCaseWithAnExpiredWaiverGivesTheMatrixsExitCode) {
  RunBuilder b;
  b.waivers = {MakeWaiver("2026-01-30")};
  b.Pass("driver.load");
  b.Plan("conv.a").required = false;
  b.End("conv.a", Failed{}, {Wrong("wrong-value", Blame::kImage)});
  EXPECT_EQ(b.Judged().exit_code, 4);
}

RunBuilder SkippingEntry(bool one_passes) {
  RunBuilder b;
  b.Pass("driver.load");
  for (const char* dtype : {"float16", "bfloat16"}) {
    for (const char* layout : {"nchw", "nhwc"}) {
      const std::string id = std::string("conv.forward[dtype=") + dtype + ",layout=" + layout + "]";
      CasePlanned& planned = b.Plan(id);
      planned.entry = 9;
      planned.allow_skip = {SkipKind::kUnsupported};
      planned.params = {{"dtype", std::string(dtype)}, {"shape", std::string("stem")}};
      const bool passes = std::string(dtype) == "float16" || (one_passes && std::string(layout) == "nhwc");
      b.End(id, passes ? Outcome(Passed{}) : Outcome(kUnsupported));
    }
  }
  return b;
}

TEST(NoEngineTest, AnEntryWhereNothingOfOneTypePassedIsTheImagesFault) {
  const Verdict verdict = SkippingEntry(false).Judged();
  EXPECT_EQ(verdict.exit_code, 1);
  ASSERT_EQ(RootSlug(verdict), "no-engine");
  const std::string& detail = verdict.root_cause->finding.detail;
  for (const char* part : {"conv.forward", "dtype=bfloat16", "shape=stem", "compute capability 7.0"}) {
    EXPECT_NE(detail.find(part), std::string::npos) << detail;
  }
  EXPECT_EQ(SkippingEntry(true).Judged().exit_code, 0);
}

// Cases of one type and shape, left out by skips of these kinds.
RunBuilder LeftOutBy(const std::vector<SkipKind>& kinds) {
  RunBuilder b;
  b.Pass("driver.load");
  for (size_t i = 0; i < kinds.size(); ++i) {
    const std::string id = "conv.forward[i=" + std::to_string(i) + "]";
    CasePlanned& planned = b.Plan(id);
    planned.entry = 9;
    planned.allow_skip = {SkipKind::kUnsupported, SkipKind::kAbsent, SkipKind::kMemory, SkipKind::kVersion};
    b.End(id, Skipped{kinds[i], "what it needs", "what it saw"});
  }
  return b;
}

// One skip of another kind does not make it a pass.
TEST(NoEngineTest, IsAnyMixtureWithWhatIsUnsupported) {
  constexpr SkipKind kNo = SkipKind::kUnsupported;
  for (const SkipKind other : {SkipKind::kAbsent, SkipKind::kVersion, SkipKind::kMemory}) {
    for (const auto& kinds : {std::vector{kNo, kNo, other}, std::vector{other, kNo}}) {
      const Verdict verdict = LeftOutBy(kinds).Judged();
      EXPECT_EQ(RootSlug(verdict), "no-engine") << Name(other);
      // With more memory it might have run: nobody is known to be at fault.
      EXPECT_EQ(verdict.exit_code, other == SkipKind::kMemory ? 6 : 1) << Name(other);
      const std::string& detail = verdict.root_cause->finding.detail;
      EXPECT_NE(detail.find(std::string("1 ") + Name(other)), std::string::npos) << detail;
      EXPECT_NE(detail.find(" unsupported"), std::string::npos) << detail;
    }
  }
}

TEST(NoEngineTest, IsNotWhatTheMatrixAllowsToLackWithoutIt) {
  using enum SkipKind;
  for (const auto& kinds : {std::vector{kAbsent}, std::vector{kVersion, kAbsent},
                            std::vector{kMemory, kMemory}, std::vector{kMemory, kVersion}})
    EXPECT_EQ(LeftOutBy(kinds).Judged().exit_code, 0) << Name(kinds[0]);
}

// Nor does one that an allowed skip blocks, which was not run either.
TEST(NoEngineTest, CountsWhatAnAllowedSkipBlocks) {
  for (const bool passes : {false, true}) {
    RunBuilder b = LeftOutBy({SkipKind::kUnsupported});
    CasePlanned& blocker = b.Plan("cudnn.plans");
    blocker.allow_skip = {SkipKind::kVersion};
    b.End("cudnn.plans", Skipped{SkipKind::kVersion, "9.8", "9.1"});
    CasePlanned& blocked = b.Plan("conv.forward[i=7]");
    blocked.entry = 9;
    blocked.allow_skip = {SkipKind::kVersion};
    b.End("conv.forward[i=7]", passes ? Outcome(Passed{}) : Outcome(Blocked{"cudnn.plans"}));
    EXPECT_EQ(b.Judged().exit_code, passes ? 0 : 1) << passes;
  }
}

// What one subject's cuDNN can run says nothing of another's.
TEST(NoEngineTest, IsOfEachSubjectByItself) {
  for (const bool one_subject : {false, true}) {
    RunBuilder b;
    b.run.subjects = {{"system", "loader"}, {"venv", "python:/venv/bin/python"}};
    b.Pass("driver.load");
    for (const char* subject : {"system", "venv"}) {
      const std::string id = std::string("conv.forward[subject=") + subject + "]";
      CasePlanned& planned = b.Plan(id);
      planned.entry = 9;
      planned.subject = one_subject ? "system" : subject;
      planned.allow_skip = {SkipKind::kUnsupported};
      b.End(id, std::string(subject) == "system" ? Outcome(Passed{}) : Outcome(kUnsupported));
    }
    const Verdict verdict = b.Judged();
    EXPECT_EQ(verdict.exit_code, one_subject ? 0 : 1);
    if (one_subject) continue;
    ASSERT_EQ(RootSlug(verdict), "no-engine");
    const std::string& detail = verdict.root_cause->finding.detail;
    EXPECT_NE(detail.find("conv.forward subject=venv: "), std::string::npos) << detail;
  }
}

TEST(NoEngineTest, IsReportedOnceWhenTheRunnerReportsItToo) {
  RunBuilder b = SkippingEntry(false);
  const std::vector<Finding> closing = RunLevelFindings(b.Summarize());
  ASSERT_EQ(closing.size(), 1u);
  b.Add(FindingReported{{}, closing[0]});
  EXPECT_EQ(b.Summarize().run_findings.size(), 1u);
  EXPECT_EQ(b.Judged().exit_code, 1);
}

TEST(NoEngineTest, SaysNothingOfAPart) {
  RunBuilder b = SkippingEntry(false);
  b.run.partial = {OtherNotice("filtered")};
  EXPECT_TRUE(RunLevelFindings(b.Summarize()).empty());
  EXPECT_EQ(b.Judged().exit_code, 0);
}

TEST(NoEngineTest, SaysNothingOfOptionalOrUnfinishedEntries) {
  RunBuilder b;
  b.Pass("driver.load");
  CasePlanned& optional = b.Plan("conv.a");
  optional.required = false;
  optional.allow_skip = {SkipKind::kUnsupported};
  b.End("conv.a", kUnsupported);
  EXPECT_EQ(b.Judged().exit_code, 0);
  CasePlanned& required = b.Plan("conv.b");
  required.allow_skip = {SkipKind::kUnsupported};
  b.Plan("conv.c").entry = required.entry;
  b.End("conv.b", kUnsupported);
  EXPECT_TRUE(RunLevelFindings(b.Summarize()).empty());
}

TEST(BlockedTest, CountsThroughARequiredBlocker) {
  RunBuilder b;
  b.Fail("driver.load", Wrong("no-driver", Blame::kRunner), Layer::kDriver);
  b.Plan("cudnn.create"), b.End("cudnn.create", Blocked{"driver.load"});
  b.Plan("conv.a"), b.End("conv.a", Blocked{"cudnn.create"});
  const Summary summary = b.Summarize();
  EXPECT_FALSE(IsRed(summary, summary.cases[1]));
  EXPECT_FALSE(IsRed(summary, summary.cases[2]));
  EXPECT_EQ(RootBlocker(summary, summary.cases[2]), &summary.cases[0]);
  EXPECT_EQ(Judge(summary).exit_code, 3);
  EXPECT_EQ(Judge(summary).root_cause->ref.id, "driver.load");
}

TEST(BlockedTest, ByAnOptionalOrWaivedCaseIsRedWithItsClass) {
  for (const bool waived : {false, true}) {
    RunBuilder b;
    b.Pass("driver.load");
    if (waived) b.waivers = {{"cudnn.create", "no-driver", "r", "o", "2026-12-31"}};
    b.Plan("cudnn.create").required = waived;
    b.End("cudnn.create", Failed{}, {Wrong("no-driver", Blame::kRunner)});
    b.Plan("conv.a"), b.End("conv.a", Blocked{"cudnn.create"});
    b.Plan("conv.b"), b.End("conv.b", Blocked{"conv.a"});
    const Verdict verdict = b.Judged();
    EXPECT_EQ(verdict.exit_code, 3) << waived;
    EXPECT_EQ(verdict.root_cause->ref.id, "conv.a");
    EXPECT_EQ(RootSlug(verdict), waived ? "blocked-by-waived" : "no-driver");
    if (!waived) continue;
    const Finding& finding = verdict.root_cause->finding;
    EXPECT_EQ(finding.detail,
              "needs cudnn.create, which failed with runner.no-driver; that is waived by "
              "o until 2026-12-31: r");
    EXPECT_NE(finding.remedy.find("\"required\": false"), std::string::npos);
  }
}

TEST(BlockedTest, ByASkipTheBlockerAllowsNeedsTheSameAllowance) {
  for (const bool allowed : {false, true}) {
    RunBuilder b;
    b.Pass("driver.load");
    b.Pass("cudnn.create[subject=other]");
    CasePlanned& blocker = b.Plan("cudnn.create");
    blocker.allow_skip = {SkipKind::kUnsupported};
    blocker.entry = 1;  // the entry of which another case passed
    b.End("cudnn.create", kUnsupported);
    CasePlanned& blocked = b.Plan("conv.a");
    if (allowed) blocked.allow_skip = {SkipKind::kUnsupported};
    b.End("conv.a", Blocked{"cudnn.create"});
    EXPECT_EQ(b.Judged().exit_code, allowed ? 0 : 4);
  }
}

TEST(BlockedTest, ByNothingKnownOrInACircleIsNeverGreen) {
  RunBuilder b;
  b.Pass("driver.load");
  b.Plan("conv.a"), b.End("conv.a", Blocked{"conv.b"});
  b.Plan("conv.b"), b.End("conv.b", Blocked{"conv.a"});
  EXPECT_EQ(b.Judged().exit_code, 6);
  RunBuilder c;
  c.Pass("driver.load");
  c.Plan("conv.a"), c.End("conv.a", Blocked{"nowhere"});
  EXPECT_EQ(c.Judged().exit_code, 6);
}

TEST(BlockedTest, FindsTheBlockerOnTheSameDeviceFirst) {
  RunBuilder b;
  b.run.devices.push_back({"gpu1", "GPU-1", "NVIDIA H200", "9.0"});
  b.Plan("cudnn.create", Layer::kCudnn, "gpu0"), b.End(CaseRef{"cudnn.create", "gpu0"}, Passed{});
  b.Plan("cudnn.create", Layer::kCudnn, "gpu1");
  b.End(CaseRef{"cudnn.create", "gpu1"}, Failed{}, {Wrong("no-device", Blame::kRunner)});
  b.Plan("conv.a", Layer::kConvolution, "gpu1"), b.End(CaseRef{"conv.a", "gpu1"}, Blocked{"cudnn.create"});
  const Summary summary = b.Summarize();
  EXPECT_EQ(RootBlocker(summary, summary.cases[2]), &summary.cases[1]);
  EXPECT_EQ(Judge(summary).root_cause->ref, (CaseRef{"cudnn.create", "gpu1"}));
}

}  // namespace
}  // namespace cudnn_ci
