// The last screen. See last_screen.h.
#include "report/last_screen.h"

#include <map>
#include <utility>

#include "base/text.h"
#include "model/fact_keys.h"
#include "model/merge.h"
#include "report/attestation.h"
#include "report/case_text.h"
#include "report/compare.h"
#include "report/finding_lists.h"
#include "report/parts_text.h"
#include "report/skip_table.h"
#include "report/suspects.h"
#include "report/text_page.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMaxTableRows = 20;

std::string Counted(int64_t count, const char* what) { return std::to_string(count) + " " + what; }

std::string CountsText(const Totals& t) {
  std::string judged = Counted(t.passed, "passed");
  if (t.failed) judged += ", " + Counted(t.failed, "failed");
  if (t.errored) judged += ", " + Counted(t.errored, "errored");
  if (t.waived) judged += ", of which " + Counted(t.waived, "waived");
  std::string text = Counted(t.planned, "planned: ") + Counted(t.passed + t.failed + t.errored, "judged") +
                     " (" + judged + ")";
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
                 (root.finding.summary.empty() ? "" : ": " + CleanLine(root.finding.summary, 300)));
  if (!root.case_id.empty()) page->Verbatim("in", root.case_id);
  if (!root.finding.detail.empty()) page->Item("evidence", CleanLine(root.finding.detail, 1000));
  for (const CaseRecord& record : summary.cases) {
    if (root.case_id.empty() || DisplayId(record.plan.ref) != root.case_id) continue;
    const AttemptRecord* attempt = DecidingAttempt(record);
    if (!attempt) break;
    const std::vector<std::string> lines = ExpectationLines(*attempt);
    for (size_t i = 0; i < lines.size() && i < 3; ++i) {
      if (CleanLine(lines[i], 4000) != CleanLine(root.finding.detail, 4000))
        page->Item("", CleanLine(lines[i], 500));
    }
    break;
  }
  if (const std::string other = ExcludedSuspect(summary, verdict); !other.empty())
    page->Item("excluded", other);
  page->Item("who acts", WhoActs(verdict.blame));
  if (!root.finding.remedy.empty()) page->Item("what to do", CleanLine(root.finding.remedy, 1000));
  if (!root.finding.command.empty())
    page->Verbatim(PlaceOf(root.finding.where), CleanLine(root.finding.command, 1000));
  if (!root.finding.link.empty()) page->Verbatim("see", root.finding.link);
}

void AddNotJudged(const Summary& summary, Page* page) {
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

// What a green verdict stands on.
std::string PassedText(const Summary& summary) {
  const RequiredTotals required = CountRequired(summary);
  if (required.planned == 0)
    return "no case is required; " + Counted(Count(summary).passed, "optional passed");
  if (required.passed == required.planned) return "every required case passed";
  std::string text =
      "of " + Counted(required.planned, "required cases ") + Counted(required.passed, "passed");
  if (required.left_out > 0) text += ", " + Counted(required.left_out, "left out as the matrix allows");
  if (required.waived > 0) text += ", " + Counted(required.waived, "failed and waived");
  return text;
}

// A recorded command line, whose words are quoted as ShellQuote does, without the words that are `word`.
std::string WithoutWord(const std::string& command, std::string_view word) {
  std::string out;
  size_t begin = 0;
  bool quoted = false;
  for (size_t i = 0; i <= command.size(); ++i) {
    const bool escaped = !quoted && i > 0 && command[i - 1] == '\\';
    if (i < command.size() && command[i] == '\'' && !escaped) quoted = !quoted;
    if (i < command.size() && (quoted || command[i] != ' ')) continue;
    const std::string_view one = std::string_view(command).substr(begin, i - begin);
    if (one != word) out.append(out.empty() ? "" : " ").append(one);
    begin = i + 1;
  }
  return out;
}

// A recorded command line, for one case alone.
std::string WithCase(const std::string& command_line, const std::string& case_id) {
  std::string command = CleanLine(command_line, 4000);
  // It would choose other cases, by reports that are not there any more.
  if (!case_id.empty()) command = WithoutWord(command, "--rerun-failed");
  const std::string option = " --case " + ShellQuote(CleanLine(case_id, 1000));
  if (command.empty() || case_id.empty() || command.find(option) != std::string::npos) return command;
  return command + option;
}

// Whether the line from outside is that of the launcher that has started this run. Then it is the only one:
// the command line was typed in a container that is gone.
bool IsOfLauncher(const RunStarted& run) {
  return !run.container_command.empty() && run.container_command.rfind("docker run ", 0) != 0;
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

std::string SubjectText(const Summary& summary, const SubjectInfo& subject) {
  std::string text = subject.name == subject.spec ? subject.name : subject.name + " (" + subject.spec + ")";
  const std::string version = FindFact(summary, subject.name, kCudnnVersionFact);
  const std::string path = FindFact(summary, subject.name, kCudnnPathFact);
  text +=
      version.empty() && path.empty() ? ": cuDNN not found" : ": cuDNN " + (version.empty() ? "?" : version);
  return path.empty() ? text : text + " at " + path;
}

}  // namespace

std::string FindFact(const Summary& summary, const std::string& subject, const std::string& key) {
  if (!summary.run) return "";
  for (const auto& [name, map] : summary.run->facts) {
    const auto fact = map.find(key);
    if ((subject.empty() || subject == name) && fact != map.end() && !fact->second.empty())
      return fact->second;
  }
  return "";
}

std::vector<std::pair<std::string, std::string>> Judged(const Summary& summary) {
  std::vector<std::pair<std::string, std::string>> judged;
  if (!summary.run) return judged;
  const RunStarted& run = *summary.run;
  const auto fact_or = [&](const char* key) {
    const std::string fact = FindFact(summary, "", key);
    return fact.empty() ? std::string("not found") : fact;
  };
  judged.emplace_back("image", run.image.empty() ? "unidentified" : run.image);
  for (const SubjectInfo& subject : run.subjects)
    judged.emplace_back("subject", SubjectText(summary, subject));
  judged.emplace_back("toolkit", fact_or(kToolkitVersionFact));
  for (const DeviceInfo& device : run.devices) {
    judged.emplace_back(
        "gpu", device.name + ": " + device.model + ", compute capability " + device.compute_capability);
  }
  if (run.devices.empty()) judged.emplace_back("gpu", "none was found");
  const std::string drivers = DriversOfParts(run);
  judged.emplace_back("driver", drivers.empty() ? fact_or(kDriverVersionFact) : drivers);
  judged.emplace_back("matrix", run.matrix_name + " (" + run.matrix_path + ", sha256 " +
                                    run.matrix_sha256.substr(0, 16) + ")");
  if (const VersionTable& table = run.compatibility; !table.as_of.empty())
    judged.emplace_back("versions", "facts as of " + table.as_of + ", sha256 " + table.sha256.substr(0, 16));
  if (summary.workers_per_gpu > 1)
    judged.emplace_back("times", "of GPUs that up to " + std::to_string(summary.workers_per_gpu) +
                                     " warm workers used at a time");
  for (auto& line : PartsJudged(run)) judged.push_back(std::move(line));
  return judged;
}

std::string Headline(const Summary& summary, const Verdict& verdict) {
  switch (verdict.kind) {
    case VerdictKind::kPassed:
      return "PASSED: " + PassedText(summary);
    case VerdictKind::kNotGated:
      return "NOT GATED: the matrix is at fault";
    case VerdictKind::kInconclusive:
      return verdict.complete ? "INCONCLUSIVE: whose fault it is cannot be told"
                              : "INCONCLUSIVE: the run did not judge every case";
    case VerdictKind::kInterrupted:
      return "INTERRUPTED: the run was ended from outside";
    case VerdictKind::kFailed:
      break;
  }
  if (verdict.blame == Blame::kRunner) return "FAILED: the runner is at fault, the image is not judged";
  return verdict.blame == Blame::kHarness ? "FAILED: cudnn-ci or a plugin is at fault"
                                          : "FAILED: the image is at fault";
}

std::string VerdictLine(const Summary& summary, const Verdict& verdict) {
  std::string line = std::string("verdict: ") + Name(verdict.kind);
  const bool report_only = summary.run && summary.run->report_only;
  line += " (exit " + std::to_string(report_only ? 0 : verdict.exit_code) + ")";
  if (report_only) {
    line += ", NOT GATING: --report-only";
    if (verdict.exit_code != 0) line += " hides exit " + std::to_string(verdict.exit_code);
  }
  if (summary.run && !summary.run->partial.empty()) {
    line += ", partial: " + CleanLine(PartialText(summary.run->partial), 120) +
            "; not a verdict on the whole image";
  }
  return line;
}

std::string Reproduction(const Summary& summary, const std::string& case_id) {
  if (!summary.run) return "";
  const RunStarted& run = *summary.run;
  std::string there;
  if (const RunPart* part = PartOfCase(run, case_id, &there)) return WithCase(part->command_line, there);
  return WithCase(IsOfLauncher(run) ? run.container_command : run.command_line, case_id);
}

std::string ContainerReproduction(const Summary& summary, const std::string& case_id) {
  if (!summary.run || IsOfLauncher(*summary.run)) return "";
  std::string there;
  const bool of_part = PartOfCase(*summary.run, case_id, &there) != nullptr;
  return WithCase(summary.run->container_command, of_part ? there : case_id);
}

namespace {

// Where the reports are; of a statement that cannot be made, why.
void AddReports(const Summary& summary, const Verdict& verdict, const LastScreenOptions& options,
                Page* page) {
  const std::string none = options.attestation.empty() ? "" : WhyNoStatement(summary, verdict);
  bool first = true;
  for (const std::string& report : options.reports) {
    if (!none.empty() && report == options.attestation) continue;
    page->Verbatim(first ? "reports" : "", report);
    first = false;
  }
  if (!none.empty()) page->Item("statement", "none: " + none);
}

}  // namespace

const char* WhoActs(Blame blame) {
  switch (blame) {
    case Blame::kImage:
      return "the owner of the image";
    case Blame::kRunner:
      return "the owner of the runner";
    case Blame::kHarness:
      return "the owner of cudnn-ci or of the plugin named";
    case Blame::kMatrix:
      return "the owner of the matrix";
    case Blame::kUndetermined:
      break;
  }
  return "whoever runs the pipeline: whose fault it is cannot be told from this run";
}

void PutLastScreen(const Summary& summary, const Verdict& verdict, const LastScreenOptions& options,
                   Page* page) {
  for (const auto& [label, value] : Judged(summary)) page->Item(label, value);
  if (summary.run) AddEnvironment(*summary.run, page);
  page->Gap();
  if (verdict.root_cause) {
    AddRootCause(summary, verdict, page);
    AddLines("also", OtherErrorLines(summary, *verdict.root_cause), page);
  }
  const std::vector<std::string> warnings = WarningLines(summary);
  AddLines("warnings", warnings, page);
  if (verdict.root_cause || !warnings.empty()) page->Gap();
  const std::vector<std::string> table = PartsTable(summary, kMaxTableRows);
  for (const std::string& line : table) page->Line("  " + line);
  if (!table.empty()) page->Gap();
  page->Item("cases", CountsText(Count(summary)));
  AddNotJudged(summary, page);
  if (options.baseline)
    for (const auto& [label, value] :
         CompareLines(Compare(*options.baseline, ViewOf(summary)), *options.baseline, kMaxListed))
      page->Item(label, value);
  page->Item("retry", RetryText(summary, verdict));
  if (verdict.root_cause) {
    const std::string command = Reproduction(summary, verdict.root_cause->case_id);
    if (!command.empty()) page->Verbatim("reproduce", command);
    const std::string outside = ContainerReproduction(summary, verdict.root_cause->case_id);
    if (!outside.empty()) page->Verbatim("with docker", outside);
  }
  AddReports(summary, verdict, options, page);
  if (!summary.report_failure.empty()) page->Item("report error", summary.report_failure);
}

std::string LastScreen(const Summary& summary, const Verdict& verdict, const LastScreenOptions& options) {
  TextPage page(options.width);
  const char* on = verdict.kind == VerdictKind::kPassed ? "\x1b[1;32m" : "\x1b[1;31m";
  const std::string headline = Headline(summary, verdict), last = VerdictLine(summary, verdict);
  page.Line("");
  page.Line(options.color ? on + headline + "\x1b[0m" : headline);
  page.Gap();
  PutLastScreen(summary, verdict, options, &page);
  page.Gap();
  page.Line(options.color ? on + last + "\x1b[0m" : last);
  return page.Take();
}

}  // namespace cudnn_ci
