// The summary of a run. See run_summary.h.
#include "report/formats/run_summary.h"

#include <map>
#include <utility>

#include "base/text.h"
#include "report/formats/attestation.h"
#include "report/text/case_text.h"
#include "report/text/finding_lists.h"
#include "report/text/parts_text.h"
#include "report/text/reproduction.h"
#include "report/text/run_text.h"
#include "report/text/skip_table.h"
#include "report/text/suspects.h"
#include "report/text/text_page.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMaxTableRows = 20;

std::string Counted(int64_t count, const char* what) { return std::to_string(count) + " " + what; }

std::string CountsText(const Totals& t) {
  std::string ran = Counted(t.passed, "passed");
  if (t.failed) ran += ", " + Counted(t.failed, "failed");
  if (t.errored) ran += ", " + Counted(t.errored, "errored");
  if (t.waived) ran += "; " + Counted(t.waived, "of these waived");
  std::string text =
      Counted(t.planned, "planned: ") + Counted(t.passed + t.failed + t.errored, "run") + " (" + ran + ")";
  if (t.blocked) text += ", " + Counted(t.blocked, "blocked");
  if (t.skipped) text += ", " + Counted(t.skipped, "skipped");
  if (t.not_run) text += ", " + Counted(t.not_run, "not run");
  return text;
}

// The first beside the label, the others below it.
void AddLines(const char* label, const std::vector<std::string>& lines, Page* page) {
  for (size_t i = 0; i < lines.size(); ++i) page->Item(i == 0 ? label : "", lines[i]);
}

// Equal reasons once, with how many cases they stand for.
void AddGrouped(const std::map<std::string, int64_t>& groups, const char* label, Page* page) {
  std::vector<std::string> lines;
  for (const auto& [reason, count] : groups) lines.push_back(std::to_string(count) + " x " + reason);
  AddLines(label, Shortened(std::move(lines), "more reasons"), page);
}

void AddRootCause(const Summary& summary, const Verdict& verdict, Page* page) {
  const RootCause& root = *verdict.root_cause;
  page->Item("root cause",
             FindingName(root.finding) +
                 (root.finding.summary.empty() ? "" : ": " + SingleLine(root.finding.summary, 300)));
  if (!root.ref.empty()) page->Verbatim("in", DisplayId(root.ref));
  if (!root.finding.detail.empty()) page->Item("evidence", SingleLine(root.finding.detail, 1000));
  const CaseRecord* record = summary.Find(root.ref);
  if (const AttemptRecord* attempt = record ? DecidingAttempt(*record) : nullptr) {
    const std::vector<std::string> lines = ExpectationLines(*attempt);
    for (size_t i = 0; i < lines.size() && i < 3; ++i) {
      if (SingleLine(lines[i], 4000) != SingleLine(root.finding.detail, 4000))
        page->Item("", SingleLine(lines[i], 500));
    }
  }
  if (const std::string other = ExcludedSuspect(summary, verdict); !other.empty())
    page->Item("excluded", other);
  page->Item("who acts", OwnerOf(verdict));
  if (!root.finding.remedy.empty()) page->Item("what to do", SingleLine(root.finding.remedy, 1000));
  if (!root.finding.command.empty())
    page->Verbatim(PlaceOf(root.finding.where), SingleLine(root.finding.command, 1000));
  if (!root.finding.link.empty()) page->Verbatim("see", root.finding.link);
}

// Whether there was anything to add.
bool AddWarnings(const Summary& summary, Page* page) {
  const std::vector<WarningLine> warnings = WarningLines(summary);
  for (size_t i = 0; i < warnings.size(); ++i) {
    page->Item(i == 0 ? "warnings" : "", warnings[i].text);
    if (!warnings[i].command.empty()) page->Verbatim(warnings[i].place, warnings[i].command);
  }
  const std::string notes = NotesLine(summary);
  if (!notes.empty()) page->Item("notes", notes);
  return !warnings.empty() || !notes.empty();
}

void AddNotTested(const Summary& summary, Page* page) {
  std::map<std::string, int64_t> skipped;
  std::vector<std::string> waived;
  for (const CaseRecord& record : summary.cases) {
    if (std::holds_alternative<Skipped>(record.outcome)) ++skipped[ReasonLine(summary, record)];
    if (!record.waived_by.empty()) waived.push_back(DisplayId(record.plan.ref) + " by " + record.waived_by);
  }
  if (summary.run) AddLines("not gated", Shortened(SentencesOf(summary.run->not_gated), "more"), page);
  if (skipped.size() > kMaxListed)
    PutSkipTable(summary, page);
  else
    AddGrouped(skipped, "skipped", page);
  AddLines("waived", Shortened(std::move(waived), "more"), page);
}

// Who has set which variable, a line for each.
void AddEnvironment(const RunStarted& run, Page* page) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [name, by] : run.environment) names[by].push_back(name);
  bool first = true;
  for (const auto& [by, of] : names) {
    page->Item(first ? "environment" : "", by + ": " + Join(of, ", "));
    first = false;
  }
}

// Where the reports are; of a statement that cannot be made, why.
void AddReports(const Summary& summary, const Verdict& verdict, const RunSummaryOptions& options,
                Page* page) {
  const std::string none = options.attestation.empty() ? "" : NoStatementReason(summary, verdict);
  bool first = true;
  for (const std::string& report : options.reports) {
    if (!none.empty() && report == options.attestation) continue;
    page->Verbatim(first ? "reports" : "", report);
    first = false;
  }
  if (!none.empty()) page->Item("statement", "none: " + none);
}

}  // namespace

void PutRunSummary(const Summary& summary, const Verdict& verdict, const RunSummaryOptions& options,
                   Page* page) {
  for (const auto& [label, value] : Judged(summary)) page->Item(label, value);
  if (summary.run) AddEnvironment(*summary.run, page);
  page->Gap();
  if (verdict.root_cause) {
    AddRootCause(summary, verdict, page);
    AddLines("also", OtherErrorLines(summary, *verdict.root_cause), page);
  }
  if (AddWarnings(summary, page) || verdict.root_cause) page->Gap();
  const std::vector<std::string> table = PartsTable(summary, kMaxTableRows);
  for (const std::string& line : table) page->Line("  " + line);
  if (!table.empty()) page->Gap();
  page->Item("cases", CountsText(Count(summary)));
  AddNotTested(summary, page);
  if (options.since)
    for (const auto& [label, value] : options.since(summary)) page->Item(label, value);
  page->Item("retry", RetryText(summary, verdict));
  if (verdict.root_cause) {
    const std::string command = Reproduction(summary, verdict.root_cause->ref);
    if (!command.empty()) page->Verbatim("reproduce", command);
    const std::string outside = ContainerReproduction(summary, verdict.root_cause->ref);
    if (!outside.empty()) page->Verbatim("with docker", outside);
  }
  AddReports(summary, verdict, options, page);
  if (!summary.report_failure.empty()) page->Item("report error", summary.report_failure);
}

std::string RunSummary(const Summary& summary, const Verdict& verdict, const RunSummaryOptions& options) {
  TextPage page(options.width);
  const char* on = verdict.kind == VerdictKind::kPassed ? "\x1b[1;32m" : "\x1b[1;31m";
  const std::string headline = Headline(summary, verdict), last = VerdictLine(summary, verdict);
  page.Line("");
  page.Line(options.color ? on + headline + "\x1b[0m" : headline);
  page.Gap();
  PutRunSummary(summary, verdict, options, &page);
  page.Gap();
  page.Line(options.color ? on + last + "\x1b[0m" : last);
  return page.Take();
}

}  // namespace cudnn_ci
