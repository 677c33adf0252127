// The summary in Markdown: what it says, and that no text of a run can become more than text.
#include "report/summary_report.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "report/formats.h"
#include "report/own_reports.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Markdown(const RunBuilder& b) {
  const Summary summary = b.Summarize();
  LastScreenOptions options;
  options.reports = {"cudnn-ci-report/junit.xml"};
  return SummaryMarkdown(summary, Judge(summary), options);
}

TEST(SummaryReport, SaysWhatTheLastScreenSays) {
  RunBuilder b;
  b.Fail("cudnn.version[subject=system]", Wrong("mixed", Blame::kImage, "9.1 beside 9.2"), Layer::kCudnn);
  b.Pass("conv.a");
  const std::string text = Markdown(b);
  EXPECT_THAT(text, StartsWith("<!--cudnn-ci summary-->\n## FAILED: the image is at fault\n\n- **image** `"));
  EXPECT_THAT(text, HasSubstr("\n- **root cause** `image.mixed: what mixed is`\n"));
  EXPECT_THAT(text, HasSubstr("\n- **evidence** `9.1 beside 9.2`\n"));
  EXPECT_THAT(text, HasSubstr("\n- **who acts** `the owner of the image`\n"));
  EXPECT_THAT(text, HasSubstr("\n- **retry** `no: "));
  EXPECT_THAT(text, HasSubstr("\n- **reproduce** `cudnn-ci --matrix matrices/cu12.json --case "
                              "'cudnn.version[subject=system]'`\n"));
  EXPECT_THAT(text, HasSubstr("\n- **reports** `cudnn-ci-report/junit.xml`\n"));
  EXPECT_THAT(text, testing::EndsWith("\n`verdict: failed (exit 1)`\n"));
  EXPECT_TRUE(BeginsSummary(text));
}

TEST(SummaryReport, APassShowsItsWarnings) {
  RunBuilder b;
  b.Plan("cudnn.version[subject=system]", Layer::kCudnn);
  b.End("cudnn.version[subject=system]", Passed{},
        {{"known-regression", Severity::kWarning, Blame::kImage, "9.1.0", "", "", ""}});
  b.run.warnings = {OtherNotice("a file is writable by others")};
  EXPECT_THAT(Markdown(b), HasSubstr("\n- **warnings** `1 x image.known-regression: 9.1.0`\n"
                                     "  - `a file is writable by others`\n\n- **cases** "));
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
  LastScreenOptions options;
  options.baseline = std::make_shared<const RunView>(ViewOf(before.Summarize()));
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
