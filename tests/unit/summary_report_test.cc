// The summary in Markdown: what it says, and that no text of a run can become more than text.
#include "report/formats/summary_report.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "report/formats/formats.h"
#include "report/record/own_reports.h"
#include "review/compare.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Markdown(const RunBuilder& b) {
  const Summary summary = b.Summarize();
  RunSummaryOptions options;
  options.reports = {"cudnn-ci-report/junit.xml"};
  return SummaryMarkdown(summary, Judge(summary), options);
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
