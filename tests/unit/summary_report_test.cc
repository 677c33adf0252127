// The summary in Markdown: what it says, and that no text of a run can become more than text.
#include "report/formats/summary_report.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "report/formats/formats.h"
#include "report/record/own_reports.h"
#include "report/text/run_text.h"
#include "review/compare.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Markdown(const RunBuilder& b) {
  const Summary summary = b.Summarize();
  RunSummaryOptions options;
  options.reports = {"cudnn-ci-report/junit.xml", "cudnn-ci-report/report.html"};
  return SummaryMarkdown(summary, Judge(summary), options);
}

// What the run says it tested under this label.
std::string Tested(const RunBuilder& b, const std::string& label) {
  for (const auto& [name, value] : Judged(b.Summarize()))
    if (name == label) return value;
  return "";
}

TEST(SummaryReport, TextsOfARunStayTexts) {
  RunBuilder b;
  b.run.matrix_name = "`[x](http://example.com)` @everybody";
  b.Fail("conv.a", Wrong("odd", Blame::kImage, "a``b\n## heading\n<script>`"));
  const std::string text = Markdown(b);
  EXPECT_THAT(text, HasSubstr("**evidence** ``` a``b ## heading <script>` ```\n"));
  EXPECT_THAT(text, HasSubstr("**matrix** `` `[x](http://example.com)` @everybody ("));
  EXPECT_THAT(text, Not(HasSubstr("\n## heading")));
}

TEST(SummaryReport, OfAReportThatIsNotThereThePipelinesOwnerActs) {
  RunBuilder b;
  b.Pass("conv.a");
  b.Add(FindingReported{
      {}, HarnessFinding("report-not-written", "html: cannot write cudnn-ci-report/report.html: no room")});
  const std::string text = Markdown(b);
  EXPECT_THAT(OwnerOf(b.Judged()), EndsWith(" pipeline"));
  EXPECT_THAT(b.Judged().root_cause->finding.remedy, StartsWith("Pipeline "));
  EXPECT_THAT(text, Not(HasSubstr("plugin")));
}

// Who acts and what to do name the same owner.
TEST(SummaryReport, TheOwnerIsTheRemedys) {
  for (const FindingInfo& info : HarnessFindings()) {
    Verdict verdict;
    verdict.blame = info.blame;
    verdict.root_cause = RootCause{};
    verdict.root_cause->finding.slug = info.slug;
    const bool is_pipelines = info.remedy.starts_with("Pipeline ");
    if (info.blame == Blame::kUndetermined && !is_pipelines) continue;
    EXPECT_EQ(std::string_view(OwnerOf(verdict)).ends_with(" pipeline"), is_pipelines) << info.slug;
  }
}

TEST(SummaryReport, WhatNobodyLookedAtIsNotCalledMissing) {
  RunBuilder b;
  b.run.facts.clear();
  b.run.devices.clear();
  b.Pass("conv.a");
  for (const char* label : {"toolkit", "gpu", "driver", "subject"})
    EXPECT_THAT(Tested(b, label), EndsWith(" found"));

  b.Plan("plugin.facts[plugin=toolkit,subject=system]");
  b.End("plugin.facts[plugin=toolkit,subject=system]", Errored{ErrorKind::kOutOfMemory, "used up"});
  EXPECT_THAT(Tested(b, "toolkit"), AllOf(StartsWith("unknown"), HasSubstr("plugin.facts")));
  for (const char* label : {"gpu", "driver", "subject"}) EXPECT_THAT(Tested(b, label), EndsWith(" found"));

  RunBuilder early;
  early.run.facts = {{"system", {{"toolkit.version", "12.4"}}}};
  early.run.devices.clear();
  early.plan_ended = early.finished = false;
  early.Add(RunCancelled{CancelReason::kTimeLimit, 0});
  EXPECT_EQ(Tested(early, "toolkit"), "12.4");
  for (const char* label : {"gpu", "driver"}) EXPECT_THAT(Tested(early, label), StartsWith("unknown"));
  EXPECT_THAT(Tested(early, "subject"), Not(HasSubstr("found")));
  EXPECT_THAT(OwnerOf(early.Judged()), EndsWith(" pipeline"));

  RunBuilder obstacle;  // no process could be started to look
  obstacle.run.facts.clear();
  obstacle.run.devices.clear();
  obstacle.Add(FindingReported{{}, HarnessFinding("worker-not-started", "a limit")});
  for (const char* label : {"toolkit", "gpu", "driver", "subject"})
    EXPECT_THAT(Tested(obstacle, label), EndsWith(" looked at"));
}

TEST(SummaryReport, ComparesWithTheBaseline) {
  RunBuilder before, after;
  before.Pass("conv.a");
  after.Fail("conv.a", Wrong("odd", Blame::kImage));
  RunSummaryOptions options;
  options.since = ChangesSince(std::make_shared<const RunView>(ViewOf(before.Summarize())));
  const Summary summary = after.Summarize();
  EXPECT_THAT(SummaryMarkdown(summary, Judge(summary), options), HasSubstr("\n- **since** `"));
}

TEST(SummaryReport, IsAFileOfOursThatCanBeWithdrawn) {
  const std::string path = testing::TempDir() + "summary." + std::to_string(getpid()) + ".md";
  RunBuilder b;
  b.Pass("conv.a");
  SummaryReporter reporter(path, {});
  ASSERT_TRUE(reporter.Finish(b.Summarize()).ok());
  EXPECT_TRUE(IsOwnReport(path));
  reporter.Withdraw();
  EXPECT_FALSE(std::filesystem::exists(path));
  // Nothing else is replaced.
  ASSERT_TRUE(WriteFileAtomically(path, "somebody's").ok());
  EXPECT_FALSE(reporter.Finish(b.Summarize()).ok());
  reporter.Withdraw();
  EXPECT_EQ(ReadSmallFile(path), "somebody's");
  unlink(path.c_str());
}

}  // namespace
}  // namespace cudnn_ci
