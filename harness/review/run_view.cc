// What a finished run says. See run_view.h.
#include "review/run_view.h"

#include <algorithm>
#include <array>
#include <variant>

#include "base/file.h"
#include "base/text.h"
#include "model/record/fact_keys.h"
#include "model/verdict/attribution.h"
#include "model/verdict/verdict.h"
#include "model/verdict/warnings.h"
#include "report/record/journal.h"
#include "report/record/read_report.h"
#include "report/text/case_text.h"
#include "report/text/run_text.h"

namespace cudnn_ci {
namespace {

constexpr std::array<const char*, 6> kStandings = {"passed",  "failed",  "waived",
                                                   "skipped", "blocked", "not run"};

// `has_errors`: something is held against it whatever its outcome.
Standing StandingOf(const CaseRecord& record, bool has_errors) {
  if (!record.waived_by.empty()) return Standing::kWaived;
  // In the order of Outcome.
  constexpr std::array<Standing, std::variant_size_v<Outcome>> kOfOutcome = {
      Standing::kNotRun,  Standing::kPassed,  Standing::kFailed,
      Standing::kSkipped, Standing::kBlocked, Standing::kFailed};
  const Standing standing = kOfOutcome.at(record.outcome.index());
  return standing == Standing::kPassed && has_errors ? Standing::kFailed : standing;
}

std::string CauseText(const std::string& name, const std::string& detail) {
  return SingleLine(detail.empty() ? name : name + ": " + detail, 400);
}

void AddOnce(const std::string& text, std::vector<std::string>* texts) {
  if (std::find(texts->begin(), texts->end(), text) == texts->end()) texts->push_back(text);
}

bool IsNotAllowed(const CaseView& one, bool allowed) {
  return one.standing == Standing::kSkipped && one.required && !allowed;
}

void AddLibrary(const std::string& label, const std::string& value, RunView* view) {
  view->libraries.emplace_back(SingleLine(label, 200), value.empty() ? "not found" : SingleLine(value, 400));
}

}  // namespace

const char* Name(Standing standing) { return kStandings.at(static_cast<size_t>(standing)); }

RunView ViewOf(const Summary& summary) { return ViewOf(summary, Judge(summary)); }

RunView ViewOf(const Summary& summary, const Verdict& verdict) {
  RunView view;
  view.verdict = Name(verdict.kind);
  view.blame = verdict.kind == VerdictKind::kPassed ? "" : Name(verdict.blame);
  view.exit_code = verdict.exit_code;
  view.complete = verdict.complete;
  view.planned = summary.plan_end.has_value();
  view.workers_per_gpu = summary.workers_per_gpu;
  if (verdict.root_cause) {
    view.headline_cause =
        CauseText(FindingName(verdict.root_cause->finding), verdict.root_cause->finding.detail);
    view.root_case = verdict.root_cause->ref;
  }
  if (summary.run) {
    const RunStarted& run = *summary.run;
    view.report_only = run.report_only;
    view.partial = SingleLine(PartialText(run.partial), 400);
    view.image = SingleLine(run.image, 1000);  // 500 with tag and digest at most
    view.matrix = SingleLine(run.matrix_name, 100);
    view.matrix_path = SingleLine(run.matrix_path, 4000);
    view.matrix_sha256 = SingleLine(run.matrix_sha256, 100);
    view.version = SingleLine(run.version, 40);
    view.timestamp = SingleLine(run.timestamp, 40);
    for (const std::string& sentence : SentencesOf(run.warnings))
      view.warnings.insert(SingleLine(sentence, 400));
    view.driver = SingleLine(FindFact(summary, "", kDriverVersionFact), 100);
    for (const DeviceInfo& device : run.devices) view.gpus.push_back(SingleLine(device.model, 100));
    AddLibrary("toolkit", FindFact(summary, "", kToolkitVersionFact), &view);
    for (const SubjectInfo& subject : run.subjects) {
      AddLibrary("cuDNN of " + subject.name, FindFact(summary, subject.name, kCudnnVersionFact), &view);
      AddLibrary("cuDNN of " + subject.name + " from", FindFact(summary, subject.name, kCudnnPathFact),
                 &view);
    }
  }
  for (const Finding& finding : summary.run_findings)
    if (finding.severity == Severity::kError)
      view.run_errors.emplace(SingleLine(FindingName(finding), 200), SingleLine(finding.detail, 400));
  for (const WarningCause& cause : RankedWarnings(summary))
    view.warnings.insert(SingleLine(FindingName(*cause.finding), 200));
  for (const CaseRecord& record : summary.cases) {
    CaseView& one = view.cases[record.plan.ref];
    one.reason = ReasonLine(summary, record);
    one.standing = StandingOf(record, !one.reason.empty());
    one.required = record.plan.required;
    one.skip_not_allowed = IsNotAllowed(one, IsAllowedSkip(record));
    if (std::holds_alternative<Failed>(record.outcome) || std::holds_alternative<Errored>(record.outcome))
      for (const Finding& finding : ErrorFindings(record)) AddOnce(FindingName(finding), &one.errors);
    one.speed = SpeedsOf(record.measurements);
  }
  return view;
}

Result<RunView> ReadRun(const std::string& path) {
  RunView view;
  if (ReadSmallFile(path, 64).compare(0, 6, "{\"v\":\"") == 0) {
    const Result<std::vector<Event>> events = ReadJournal(path);
    if (!events.ok()) return Error{events.error()};
    view = ViewOf(FoldEvents(*events));
  } else {
    const Result<ReportedRun> reported = ReadReport(path);
    if (!reported.ok()) return Error{reported.error()};
    view = ViewOf(reported->summary, reported->verdict);
  }
  view.source = CleanLine(path, 400);
  return view;
}

}  // namespace cudnn_ci
