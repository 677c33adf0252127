// What a finished run says. See run_view.h.
#include "review/run_view.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "model/record/fact_keys.h"
#include "model/verdict/attribution.h"
#include "model/verdict/verdict.h"
#include "report/record/journal.h"
#include "report/record/own_reports.h"
#include "report/text/case_text.h"
#include "report/text/finding_lists.h"
#include "report/text/run_text.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;

constexpr size_t kMaxReport = size_t{256} << 20;
constexpr std::array<const char*, 6> kStandings = {"passed",  "failed",  "waived",
                                                   "skipped", "blocked", "not run"};

// An outcome by its name in report.json, and whether something is held against it all the same.
Standing StandingOf(std::string_view outcome, bool has_errors, bool waived) {
  if (waived) return Standing::kWaived;
  if (outcome == "passed") return has_errors ? Standing::kFailed : Standing::kPassed;
  if (outcome == "failed" || outcome == "errored") return Standing::kFailed;
  if (outcome == "skipped") return Standing::kSkipped;
  return outcome == "blocked" ? Standing::kBlocked : Standing::kNotRun;
}

std::string CauseText(const std::string& name, const std::string& detail) {
  return SingleLine(detail.empty() ? name : name + ": " + detail, 400);
}

void AddOnce(const std::string& text, std::vector<std::string>* texts) {
  if (std::find(texts->begin(), texts->end(), text) == texts->end()) texts->push_back(text);
}

// Read with its type, whatever is there: a report from elsewhere may hold anything.
std::string Text(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto place = object.find(key);
  return place != object.end() && place->is_string() ? CleanText(place->get_ref<const std::string&>()) : "";
}

const json& Child(const json& object, const char* key) {
  static const json kNone;
  if (!object.is_object()) return kNone;
  const auto place = object.find(key);
  return place == object.end() ? kNone : *place;
}

bool IsSet(const json& object, const char* key) {
  const json& child = Child(object, key);
  return child.is_boolean() && child.get<bool>();
}

bool IsError(const json& finding) { return Text(finding, "severity") == Name(Severity::kError); }

bool IsNotAllowed(const CaseView& one, bool allowed) {
  return one.standing == Standing::kSkipped && one.required && !allowed;
}

void AddLibrary(const std::string& label, const std::string& value, RunView* view) {
  view->libraries.emplace_back(SingleLine(label, 200), value.empty() ? "not found" : SingleLine(value, 400));
}

// The names of the findings that count against the case, each once: as ErrorFindings has them.
std::vector<std::string> ErrorNames(const json& one) {
  std::vector<std::string> names, decisive;
  const std::string code = Text(one, "reason_code");
  for (const json& finding : Child(one, "findings")) {
    if (!IsError(finding)) continue;
    const std::string slug = Text(finding, "slug");
    const std::string name = SingleLine(Text(finding, "blame") + "." + slug, 200);
    AddOnce(name, &names);
    if (slug == code && IsDecisiveSlug(code)) AddOnce(name, &decisive);
  }
  return decisive.empty() ? names : decisive;
}

CaseView CaseOf(const json& one) {
  CaseView view;
  view.reason = SingleLine(Text(one, "reason"));
  view.standing = StandingOf(Text(one, "outcome"), !view.reason.empty(), !Text(one, "waived").empty());
  if (const std::string outcome = Text(one, "outcome"); outcome == "failed" || outcome == "errored")
    view.errors = ErrorNames(one);
  view.required = !Child(one, "required").is_boolean() || IsSet(one, "required");
  view.skip_not_allowed = IsNotAllowed(view, IsSet(Child(one, "skip"), "allowed"));
  for (const json& m : Child(one, "measurements")) {
    const json& value = Child(m, "value");
    if (!value.is_number()) continue;
    if (const auto speed = SpeedOf(value.get<double>(), Text(m, "unit"), Text(m, "goal")))
      view.speed[SpeedName(Text(m, "name"))] = *speed;
  }
  return view;
}

void ReadJudged(const json& judged, RunView* view) {
  view->image = SingleLine(Text(judged, "image"), 400);
  view->driver = SingleLine(Text(judged, "driver"), 100);
  view->matrix = SingleLine(Text(Child(judged, "matrix"), "name"), 100);
  view->matrix_path = SingleLine(Text(Child(judged, "matrix"), "path"), 4000);
  view->matrix_sha256 = SingleLine(Text(Child(judged, "matrix"), "sha256"), 100);
  view->planned = !Text(judged, "plan_sha256").empty();
  for (const json& gpu : Child(judged, "gpu")) view->gpus.push_back(SingleLine(Text(gpu, "model"), 100));
  AddLibrary("toolkit", Text(judged, "toolkit"), view);
  for (const json& subject : Child(judged, "subjects")) {
    const std::string name = Text(subject, "name");
    AddLibrary("cuDNN of " + name, Text(subject, "cudnn"), view);
    AddLibrary("cuDNN of " + name + " from", Text(subject, "cudnn_path"), view);
  }
}

// The warnings among the findings of a case or of the run.
void ReadWarnings(const json& findings, RunView* view) {
  for (const json& finding : findings)
    if (Text(finding, "severity") == Name(Severity::kWarning))
      view->warnings.insert(SingleLine(Text(finding, "blame") + "." + Text(finding, "slug"), 200));
}

Result<RunView> FromJson(const std::string& path) {
  const Result<std::string> text = ReadFile(path, kMaxReport);
  if (!text.ok()) return Error{text.error()};
  const json report = json::parse(*text, nullptr, false);
  if (Text(report, "schema") != kReportSchema)
    return Error{path + ": is neither a journal nor a report.json of this version (" + kReportSchema + ")"};
  if (!Child(report, "cases").is_array() || !Child(report, "exit_code").is_number_integer())
    return Error{path + ": is no whole report"};
  RunView view;
  view.source = CleanLine(path, 400);
  view.verdict = SingleLine(Text(report, "verdict"), 40);
  view.blame = SingleLine(Text(report, "blame"), 40);
  view.exit_code = report["exit_code"].get<int>();
  view.complete = IsSet(report, "complete");
  view.report_only = IsSet(report, "report_only");
  view.partial = SingleLine(Text(report, "partial"), 400);
  view.version = SingleLine(Text(Child(report, "run"), "version"), 40);
  view.timestamp = SingleLine(Text(Child(report, "run"), "timestamp"), 40);
  if (const json& workers = Child(Child(report, "run"), "workers_per_gpu"); workers.is_number_integer())
    view.workers_per_gpu = workers.get<int64_t>();
  const json& cause = Child(report, "root_cause");
  if (cause.is_object()) {
    view.headline_cause = CauseText(Text(cause, "blame") + "." + Text(cause, "slug"), Text(cause, "detail"));
    view.root_case = SingleLine(Text(cause, "case"), 400);
  }
  for (const json& finding : Child(report, "findings"))
    if (IsError(finding))
      view.run_errors.emplace(SingleLine(Text(finding, "blame") + "." + Text(finding, "slug"), 200),
                              SingleLine(Text(finding, "detail"), 400));
  ReadJudged(Child(report, "judged"), &view);
  ReadWarnings(Child(report, "findings"), &view);
  for (const json& sentence : Child(report, "warnings"))
    if (sentence.is_string()) view.warnings.insert(CleanLine(sentence.get<std::string>(), 400));
  for (const json& one : report["cases"]) {
    ReadWarnings(Child(one, "findings"), &view);
    const std::string device = SingleLine(Text(one, "device"), 60);
    CaseView& added = view.cases[DisplayId({SingleLine(Text(one, "id"), 4000), device})] = CaseOf(one);
    added.on_gpu0 = device == "gpu0";
  }
  return view;
}

}  // namespace

const char* Name(Standing standing) { return kStandings.at(static_cast<size_t>(standing)); }

RunView ViewOf(const Summary& summary) {
  RunView view;
  const Verdict verdict = Judge(summary);
  view.verdict = Name(verdict.kind);
  view.blame = verdict.kind == VerdictKind::kPassed ? "" : Name(verdict.blame);
  view.exit_code = verdict.exit_code;
  view.complete = verdict.complete;
  view.planned = summary.plan_end.has_value();
  view.workers_per_gpu = summary.workers_per_gpu;
  if (verdict.root_cause) {
    view.headline_cause =
        CauseText(FindingName(verdict.root_cause->finding), verdict.root_cause->finding.detail);
    view.root_case = SingleLine(verdict.root_cause->case_id, 400);
  }
  if (summary.run) {
    const RunStarted& run = *summary.run;
    view.report_only = run.report_only;
    view.partial = SingleLine(PartialText(run.partial), 400);
    view.image = SingleLine(run.image, 400);
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
  for (const FindingGroup& group : Warnings(summary)) view.warnings.insert(SingleLine(group.name, 200));
  for (const CaseRecord& record : summary.cases) {
    CaseView& one = view.cases[DisplayId(record.plan.ref)];
    one.reason = ReasonLine(summary, record);
    one.standing = StandingOf(Name(record.outcome), !one.reason.empty(), !record.waived_by.empty());
    one.required = record.plan.required;
    one.on_gpu0 = record.plan.ref.device == "gpu0";
    one.skip_not_allowed = IsNotAllowed(one, IsAllowedSkip(record));
    if (std::holds_alternative<Failed>(record.outcome) || std::holds_alternative<Errored>(record.outcome))
      for (const Finding& finding : ErrorFindings(record)) AddOnce(FindingName(finding), &one.errors);
    one.speed = SpeedsOf(record.measurements);
  }
  return view;
}

Result<RunView> ReadRun(const std::string& path) {
  if (ReadSmallFile(path, 64).compare(0, 6, "{\"v\":\"") != 0) return FromJson(path);
  const Result<std::vector<Event>> events = ReadJournal(path);
  if (!events.ok()) return Error{events.error()};
  RunView view = ViewOf(FoldEvents(*events));
  view.source = CleanLine(path, 400);
  return view;
}

}  // namespace cudnn_ci
