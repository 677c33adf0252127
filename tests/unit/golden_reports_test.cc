// What the reports of the canonical runs hold, as golden files; each other test of a report is about what one
// run cannot show. CONTRIBUTING.md has the command that takes new ones.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <regex>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "canonical_runs.h"
#include "golden_file.h"
#include "report/assets/assets.h"
#include "report/formats/console.h"
#include "report/formats/formats.h"
#include "report/record/journal_line.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

RunSummaryOptions ScreenOptions() {
  RunSummaryOptions options;
  options.reports = {"cudnn-ci-report/junit.xml", "cudnn-ci-report/report.json"};
  return options;
}

std::string Screen(const RunBuilder& b) {
  const Summary summary = b.Summarize();
  std::string screen = RunSummary(summary, Judge(summary), ScreenOptions());
  for (const std::string& line : Split(screen, '\n')) {
    if (line.find("  reproduce") != 0) {
      EXPECT_LE(line.size(), 110u) << line;
    }
  }
  return screen;
}

// Plays a run to a reporter.
void Play(const RunBuilder& b, Reporter* reporter) {
  Fold fold;
  for (const Event& event : b.Events()) {
    fold.Apply(event);
    ASSERT_TRUE(reporter->OnEvent(event, fold.summary()).ok());
  }
  ASSERT_TRUE(reporter->Finish(fold.summary()).ok());
}

std::string Report(const RunBuilder& b, const std::string& name) {
  const Scratch scratch;
  ReportSettings settings;
  settings.screen = ScreenOptions();
  for (const std::unique_ptr<Reporter>& reporter : MakeReporters({{name, scratch.File("report")}}, settings))
    Play(b, reporter.get());
  return ReadSmallFile(scratch.File("report"), 16 << 20);
}

void Replace(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size())
    text->replace(at, from.size(), to);
}

TEST(Golden, Screens) {
  ExpectGolden("runs/passed.screen.txt", Screen(PassingRun()));
  ExpectGolden("runs/runner.screen.txt", Screen(RunnerAtFault()));
}

TEST(Golden, Console) {
  const Scratch scratch;
  const Fd file(open(scratch.File("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ConsoleOptions options;
  options.screen = ScreenOptions();
  ConsoleReporter reporter(file.get(), options);
  Play(ImageAtFault(), &reporter);
  const std::string log = ReadSmallFile(scratch.File("log"), 1 << 20);
  EXPECT_NE(log.find(Screen(ImageAtFault())), std::string::npos);
  ExpectGolden("runs/image.console.txt", log);
}

// The report with the summary, which other golden files show, as a word.
std::string WithoutScreen(std::string report,
                          const std::vector<std::pair<std::string, std::string>>& escapes) {
  std::string screen = Screen(ImageAtFault());
  for (const auto& [from, to] : escapes) Replace(&screen, from, to);
  EXPECT_NE(report.find(screen), std::string::npos);
  Replace(&report, screen, "LAST SCREEN\n");
  return report;
}

// The properties of a case on one line.
TEST(Golden, Junit) {
  const std::string junit = WithoutScreen(Report(ImageAtFault(), "junit"), {{"&", "&amp;"}});
  ExpectGolden("runs/image.junit.xml", std::regex_replace(junit, std::regex("\n +(</?propert)"), " $1"));
}

// A case on one line.
TEST(Golden, Json) {
  const std::string json = Report(ImageAtFault(), "json");
  ExpectGolden("runs/image.report.json",
               std::regex_replace(json, std::regex("\n {3,}|\n {2}(?=[}\\]])"), " "));
}

TEST(Golden, Summary) { ExpectGolden("runs/image.summary.md", Report(ImageAtFault(), "summary")); }

TEST(Golden, Attestation) { ExpectGolden("runs/passed.statement.json", Report(PassingRun(), "attestation")); }

// Without the page's style and script, which others write; a case on a line.
TEST(Golden, Html) {
  std::string html =
      WithoutScreen(Report(ImageAtFault(), "html"), {{"&", "&amp;"}, {"'", "&#39;"}, {"\"", "&quot;"}});
  Replace(&html, kPageStyle, "STYLE");
  Replace(&html, kReportScript, "SCRIPT");
  Replace(&html, "},{", "},\n{");
  ExpectGolden("runs/image.report.html", std::regex_replace(html, std::regex("'sha256-[^']*'"), "'SHA256'"));
}

// Without the chain: its hashes would change in each line behind one that changed.
TEST(Golden, Journal) {
  std::string journal, chain;
  for (const Event& event : ImageAtFault().Events()) journal += EncodeEvent(event, &chain);
  ExpectGolden("runs/image.journal.jsonl",
               std::regex_replace(journal, std::regex(R"("h":"[0-9a-f]{16}")"), R"("h":"CHAIN")"));
}

}  // namespace
}  // namespace cudnn_ci
