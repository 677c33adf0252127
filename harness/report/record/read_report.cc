// From report.json to events, and to the fold of them. See read_report.h; what is written is in
// formats/json.cc.
#include "report/record/read_report.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/json_bytes.h"
#include "base/text.h"
#include "model/record/fact_keys.h"
#include "model/record/field_reader.h"
#include "model/record/record_fields.h"
#include "model/verdict/attribution.h"
#include "report/record/own_reports.h"
#include "report/text/case_text.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;
using Reader = FieldReader<json, RecordRules>;

constexpr size_t kMaxReport = size_t{256} << 20;

// A member of an object; null where there is none.
const json& Member(const json& object, const char* key) {
  static const json kNone;
  const auto place = object.find(key);
  return place == object.end() ? kNone : *place;
}

// The records that are its elements.
const json& List(const json& object, const char* key) {
  const json& list = Member(object, key);
  if (!list.is_array() && !list.is_null()) throw DecodeError(std::string(key) + ": expected an array");
  return list;
}

Reader Of(const json& object, const std::string& where) {
  if (!object.is_object() && !object.is_null()) throw DecodeError(where + ": expected an object");
  return {object, where};
}

// Reads a report into events, which a fold takes: it cleans their texts, and believes no more of a report
// than of a journal.
class ReportFold {
 public:
  ReportedRun Read(const json& report) {
    Add(MakeRunStarted(report));
    if (const json& sha256 = Member(Member(report, "judged"), "plan_sha256"); sha256.is_string())
      Add(PlanEnd{static_cast<int64_t>(List(report, "cases").size()), sha256.get<std::string>()});
    for (const json& one : List(report, "cases")) AddCase(one);
    std::vector<Finding> findings;
    Of(report, "report")("findings", findings);
    for (Finding& finding : findings) Add(FindingReported{{}, std::move(finding)});
    ReportedRun run{std::move(*fold_.mutable_summary()), VerdictOf(report)};
    Of(Member(report, "run"), "run")("workers_per_gpu", run.summary.workers_per_gpu);
    for (CaseRecord& record : run.summary.cases)
      if (const auto waived = waived_.find(record.plan.ref); waived != waived_.end())
        record.waived_by = CleanText(waived->second);
    return run;
  }

 private:
  void Add(EventBody body) { fold_.Apply(Event(++events_, 0, std::move(body))); }

  static RunStarted MakeRunStarted(const json& report) {
    RunStarted run;
    Reader top = Of(report, "report");
    top("report_only", run.report_only), top("facts", run.facts), top("contract", run.contract);
    top("environment", run.environment), top("plugins", run.plugins);
    PartialFields(top, run.partial);
    NoticeFields(top, "not_gated", "not_gated_notices", run.not_gated);
    NoticeFields(top, "warnings", "warning_notices", run.warnings);
    const json& judged = Member(report, "judged");
    Reader what = Of(judged, "judged");
    what("image", run.image), what("digest_from", run.digest_from, Mark::kOrNull);
    what("subjects", run.subjects), what("gpu", run.devices),
        what("compatibility", run.compatibility, Mark::kOrNull);
    // What was tested stands there once more, and there it counts. Facts of no subject are found first.
    what("driver", run.facts[""][kDriverVersionFact], Mark::kOrNull);
    what("toolkit", run.facts[""][kToolkitVersionFact], Mark::kOrNull);
    for (const json& subject : List(judged, "subjects")) {
      Reader io = Of(subject, "judged.subjects[]");
      std::string name;
      io("name", name);
      io("cudnn", run.facts[name][kCudnnVersionFact], Mark::kOrNull);
      io("cudnn_path", run.facts[name][kCudnnPathFact], Mark::kOrNull);
    }
    Reader matrix = Of(Member(judged, "matrix"), "judged.matrix");
    matrix("name", run.matrix_name), matrix("path", run.matrix_path), matrix("sha256", run.matrix_sha256);
    Reader how = Of(Member(report, "run"), "run");
    how("id", run.run_id), how("timestamp", run.timestamp), how("version", run.version);
    how("hostname", run.hostname), how("command_line", run.command_line);
    return run;
  }

  static Verdict VerdictOf(const json& report) {
    Verdict verdict;
    Reader top = Of(report, "report");
    top("verdict", verdict.kind), top("blame", verdict.blame, Mark::kOrNull),
        top("exit_code", verdict.exit_code);
    top("complete", verdict.complete);
    if (const json& cause = Member(report, "root_cause"); !cause.is_null()) {
      Reader io = Of(cause, "root_cause");
      RootCause& root = verdict.root_cause.emplace();
      Fields(io, root.finding);
      io("case", root.ref, Mark::kOrNull);
      // As an event would: this one is of no fold.
      const Event clean(1, 0, FindingReported{root.ref, root.finding});
      root.ref = std::get<FindingReported>(clean.body).ref;
      root.finding = std::get<FindingReported>(clean.body).finding;
    }
    return verdict;
  }

  void AddCase(const json& one) {
    Reader io = Of(one, "cases[]");
    CasePlanned planned;
    CaseFinished finished;
    std::string reason, reason_code, waived;
    Fields(io, planned);
    io("seconds", finished.seconds), io("flags", finished.flags), io("reason", reason);
    io("reason_code", reason_code), io("waived", waived);
    finished.ref = planned.ref;
    finished.outcome = OutcomeOf(one, reason);
    // What the matrix allows is told where it was needed.
    if (const auto* skipped = std::get_if<Skipped>(&finished.outcome)) {
      bool allowed = false;
      Of(Member(one, "skip"), "cases[].skip")("allowed", allowed);
      if (allowed) planned.allow_skip = {skipped->kind};
    }
    planned.allow_flaky = reason.empty();
    const CaseRef ref = planned.ref;
    if (!waived.empty()) waived_[ref] = waived;
    Add(std::move(planned));
    AddAttempts(one, ref, finished, reason_code);
    Add(std::move(finished));
  }

  static Outcome OutcomeOf(const json& one, const std::string& reason) {
    Reader io = Of(one, "cases[]");
    std::string name;
    Outcome outcome;
    io("outcome", name);
    if (!Choose(name, &outcome)) io.Refuse("outcome", "is none of this version's");
    if (auto* skipped = std::get_if<Skipped>(&outcome)) io("skip", *skipped);
    if (auto* blocked = std::get_if<Blocked>(&outcome)) io("blocked_by", blocked->by, Mark::kOrNull);
    if (auto* errored = std::get_if<Errored>(&outcome)) io("error", *errored);
    if (auto* not_run = std::get_if<NotRun>(&outcome)) not_run->reason = WithoutNotRun(reason);
    return outcome;
  }

  // The attempts, and what was found and measured. A report does not tell to which attempt a finding belongs;
  // where the case ended by one of those that the harness itself comes to (IsDecisiveSlug), they are of none.
  void AddAttempts(const json& one, const CaseRef& ref, const CaseFinished& finished,
                   const std::string& reason_code) {
    std::vector<Finding> findings;
    Of(one, "cases[]")("findings", findings);
    bool are_open = !findings.empty();
    const auto add_findings = [&] {
      if (!std::exchange(are_open, false)) return;
      for (Finding& finding : findings) Add(FindingReported{ref, std::move(finding)});
    };
    for (const json& attempt : List(one, "attempts")) {
      Reader io = Of(attempt, "cases[].attempts[]");
      AttemptStarted started;
      AttemptFinished ended;
      std::vector<ExpectationFailed> expectations;
      Fields(io, started);
      io("expectations", expectations), io("seconds", ended.seconds);
      io("output", ended.output), io("evidence", ended.evidence);
      started.ref = ended.ref = ref;
      ended.attempt = started.attempt, ended.worker = started.worker, ended.outcome = finished.outcome;
      Add(started);
      if (!IsDecisiveSlug(reason_code)) add_findings();
      for (ExpectationFailed& expectation : expectations) {
        expectation.ref = ref;
        Add(std::move(expectation));
      }
      Add(std::move(ended));
    }
    add_findings();
    for (const json& measurement : List(one, "measurements")) {
      if (Member(measurement, "value").is_null()) continue;  // it is no number
      Reader io = Of(measurement, "cases[].measurements[]");
      Measured measured;
      Fields(io, measured);
      measured.ref = ref;
      Add(std::move(measured));
    }
  }

  Fold fold_;
  int64_t events_ = 0;
  std::map<CaseRef, std::string> waived_;
};

}  // namespace

Result<ReportedRun> ReadReport(const std::string& path) {
  const Result<std::string> text = ReadFile(path, kMaxReport);
  if (!text.ok()) return Error{text.error()};
  if (JsonNesting(*text) > kMostJsonNesting) return Error{path + ": is nested too deep for a report"};
  const json report = json::parse(*text, nullptr, false);
  if (!report.is_object() || !(Member(report, "schema") == kReportSchema))
    return Error{path + ": is neither a journal nor a report.json of this version (" + kReportSchema + ")"};
  if (!Member(report, "cases").is_array() || !Member(report, "exit_code").is_number_integer())
    return Error{path + ": is not a whole report"};
  try {
    return ReportFold().Read(report);
  } catch (const DecodeError& e) {
    return Error{path + ": " + e.what()};
  }
}

}  // namespace cudnn_ci
