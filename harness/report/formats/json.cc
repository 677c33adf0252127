// report.json. See json.h.
#include "report/formats/json.h"

#include <cmath>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "model/record/fact_keys.h"
#include "model/record/field_writer.h"
#include "model/record/notice.h"
#include "model/record/record_fields.h"
#include "model/verdict/attribution.h"
#include "model/verdict/verdict.h"
#include "report/record/own_reports.h"
#include "report/text/case_text.h"
#include "report/text/json_text.h"
#include "report/text/reproduction.h"
#include "report/text/run_text.h"
#include "report/text/skip_table.h"
#include "report/text/suspects.h"

namespace cudnn_ci {
namespace {

constexpr size_t kChunk = 1 << 20;
constexpr size_t kMaxString = 64 << 10;

void PutText(JsonText* out, const char* key, const std::string& text) { out->Key(key).String(text); }

void PutTextOrNull(JsonText* out, const char* key, const std::string& text) {
  out->Key(key).StringOrNull(text);
}

// The fields of a record, into the object that is open.
template <class T>
void PutFields(JsonText* out, const T& record) {
  FieldWriter io(out, RecordRules{EmptyFields::kShown});
  Fields(io, record);
}

template <class T>
void PutRecord(JsonText* out, const T& record) {
  out->BeginCompactObject();
  PutFields(out, record);
  out->EndObject();
}

template <class T>
void PutRecords(JsonText* out, const char* key, const std::vector<T>& records) {
  out->Key(key).BeginArray();
  for (const T& record : records) PutRecord(out, record);
  out->EndArray();
}

void PutMap(JsonText* out, const char* key, const std::map<std::string, std::string>& map) {
  out->Key(key).BeginObject();
  for (const auto& [name, value] : map) PutText(out, SingleLine(name).c_str(), value);
  out->EndObject();
}

// Sentences for people, and beside each its code with its arguments.
void PutNotices(JsonText* out, const std::string& kind, const Notices& notices) {
  out->Key((kind + "_codes").c_str()).Strings(CodesOf(notices));
  PutRecords(out, (kind + "_notices").c_str(), notices);
}

void PutVerdict(JsonText* out, const Summary& summary, const Verdict& verdict) {
  PutText(out, "verdict", Name(verdict.kind));
  PutTextOrNull(out, "blame", verdict.kind == VerdictKind::kPassed ? "" : Name(verdict.blame));
  out->Key("exit_code").Int(verdict.exit_code);
  out->Key("complete").Bool(verdict.complete);
  const Notices partial = summary.run ? summary.run->partial : Notices();
  PutTextOrNull(out, "partial", PartialText(partial));
  PutNotices(out, "partial", partial);
  out->Key("report_only").Bool(summary.run && summary.run->report_only);
  out->Key("root_cause");
  if (!verdict.root_cause) {
    out->Null();
  } else {
    const Finding& finding = verdict.root_cause->finding;
    out->BeginObject();
    PutText(out, "slug", finding.slug);
    PutText(out, "blame", Name(finding.blame));
    PutTextOrNull(out, "case", DisplayId(verdict.root_cause->ref));
    PutText(out, "detail", finding.detail);
    PutText(out, "summary", finding.summary);
    PutText(out, "remedy", finding.remedy);
    PutTextOrNull(out, "link", finding.link);
    PutTextOrNull(out, "command", finding.command);
    PutTextOrNull(out, "where", Name(finding.where));
    if (!finding.subject.empty()) PutText(out, "subject", finding.subject);
    PutTextOrNull(out, "excluded", ExcludedSuspect(summary, verdict));
    PutTextOrNull(out, "reproduce", Reproduction(summary, verdict.root_cause->ref));
    PutTextOrNull(out, "reproduce_in_container", ContainerReproduction(summary, verdict.root_cause->ref));
    out->EndObject();
  }
  PutText(out, "retry", Name(verdict.retry));
  PutText(out, "retry_text", RetryText(summary, verdict));
  PutTextOrNull(out, "report_failure", summary.report_failure);
}

void PutTested(JsonText* out, const Summary& summary, const RunStarted& run) {
  out->Key("judged").BeginObject();
  PutText(out, "image", run.image);
  PutTextOrNull(out, "digest_from", run.digest_from);
  out->Key("subjects").BeginArray();
  for (const SubjectInfo& subject : run.subjects) {
    out->BeginCompactObject();
    PutFields(out, subject);
    PutTextOrNull(out, "cudnn", FindFact(summary, subject.name, kCudnnVersionFact));
    PutTextOrNull(out, "cudnn_path", FindFact(summary, subject.name, kCudnnPathFact));
    out->EndObject();
  }
  out->EndArray();
  PutRecords(out, "gpu", run.devices);
  PutTextOrNull(out, "driver", FindFact(summary, "", kDriverVersionFact));
  PutTextOrNull(out, "toolkit", FindFact(summary, "", kToolkitVersionFact));
  out->Key("matrix").BeginCompactObject();
  PutText(out, "name", run.matrix_name);
  PutText(out, "path", run.matrix_path);
  PutText(out, "sha256", run.matrix_sha256);
  out->EndObject();
  out->Key("compatibility");
  if (run.compatibility.as_of.empty()) {
    out->Null();
  } else {
    PutRecord(out, run.compatibility);
  }
  PutRecords(out, "knowledge", run.knowledge);
  PutTextOrNull(out, "plan_sha256", summary.plan_end ? summary.plan_end->plan_sha256 : "");
  out->EndObject();
}

// What a merged run was made of; nothing for any other.
void PutMerged(JsonText* out, const RunStarted& run) {
  if (run.merged_by.empty()) return;
  out->Key("merged").BeginObject();
  PutText(out, "by", run.merged_by);
  PutRecords(out, "parts", run.parts);
  out->EndObject();
}

void PutRun(JsonText* out, const Summary& summary) {
  const RunStarted run = summary.run.value_or(RunStarted{});
  PutTested(out, summary, run);
  out->Key("not_gated").Strings(SentencesOf(run.not_gated));
  PutNotices(out, "not_gated", run.not_gated);
  out->Key("run").BeginObject();
  PutText(out, "id", run.run_id);
  if (summary.finished && !summary.finished->token.empty()) PutText(out, "token", summary.finished->token);
  PutText(out, "timestamp", run.timestamp);
  PutText(out, "version", run.version);
  PutText(out, "hostname", run.hostname);
  PutText(out, "command_line", run.command_line);
  PutTextOrNull(out, "container_command", run.container_command);
  out->Key("seconds");
  summary.finished ? out->Double(summary.finished->seconds) : out->Null();
  out->Key("shard_index").Int(run.shard_index).Key("shard_count").Int(run.shard_count);
  out->Key("workers").Int(summary.workers).Key("workers_per_gpu").Int(summary.workers_per_gpu);
  PutTextOrNull(out, "cancelled", summary.cancelled ? TextOf(*summary.cancelled) : "");
  PutTextOrNull(out, "cancelled_code", summary.cancelled ? Name(summary.cancelled->reason) : "");
  PutMerged(out, run);
  out->EndObject();
  PutTotals(out, "totals", Count(summary));
  PutRecords(out, "findings", summary.run_findings);
  out->Key("warnings").Strings(SentencesOf(run.warnings));
  PutNotices(out, "warning", run.warnings);
  PutRecords(out, "plugins", run.plugins);
  PutMap(out, "contract", run.contract);
  out->Key("facts").BeginObject();
  for (const auto& [subject, facts] : run.facts) PutMap(out, SingleLine(subject).c_str(), facts);
  out->EndObject();
  PutMap(out, "environment", run.environment);
  PutRecords(out, "devices_lost", summary.devices_lost);
}

void PutWhy(JsonText* out, const Summary& summary, const CaseRecord& record) {
  if (const auto* skipped = std::get_if<Skipped>(&record.outcome)) {
    out->Key("skip").BeginCompactObject();
    PutFields(out, *skipped);
    out->Key("allowed").Bool(IsAllowedSkip(record)).EndObject();
  }
  if (const auto* blocked = std::get_if<Blocked>(&record.outcome))
    PutText(out, "blocked_by", DisplayId(blocked->by));
  if (const auto* errored = std::get_if<Errored>(&record.outcome)) {
    out->Key("error");
    PutRecord(out, *errored);
  }
  const std::string reason = ReasonLine(summary, record);
  if (!reason.empty()) {
    PutText(out, "reason", reason);
    PutText(out, "reason_code", ReasonCode(record));
  }
  if (!record.waived_by.empty()) PutText(out, "waived", record.waived_by);
}

void PutAttempts(JsonText* out, const CaseRecord& record) {
  out->Key("attempts").BeginArray();
  for (const AttemptRecord& attempt : record.attempts) {
    out->BeginObject();
    out->Key("attempt").Int(attempt.attempt).Key("worker").Int(attempt.worker);
    PutText(out, "mode", Name(attempt.mode));
    PutText(out, "outcome", Name(attempt.outcome));
    out->Key("seconds").Double(attempt.seconds);
    PutRecords(out, "expectations", attempt.expectations);
    if (!attempt.evidence.empty()) PutText(out, "evidence", attempt.evidence);
    if (!attempt.output.empty()) PutText(out, "output", BoundedText(attempt.output));
    out->EndObject();
  }
  out->EndArray();
}

void PutCase(JsonText* out, const Summary& summary, const CaseRecord& record) {
  out->BeginObject();
  PutText(out, "id", record.plan.ref.id);
  PutText(out, "check", record.plan.check);
  out->Key("params").BeginCompactObject();
  for (const auto& [name, value] : record.plan.params) out->Key(name).Param(value);
  out->EndObject();
  PutTextOrNull(out, "device", record.plan.ref.device);
  PutText(out, "outcome", Name(record.outcome));
  out->Key("required").Bool(record.plan.required);
  out->Key("flags").BeginArray();
  for (Flag flag : record.flags) out->String(Name(flag));
  out->EndArray().Key("seconds").Double(record.seconds);
  PutText(out, "plugin", record.plan.plugin);
  PutText(out, "subject", record.plan.subject);
  PutText(out, "layer", Name(record.plan.layer));
  PutWhy(out, summary, record);
  PutRecords(out, "findings", record.findings);
  out->Key("measurements").BeginArray();
  for (const Measured& m : record.measurements) {
    out->BeginCompactObject();
    PutText(out, "name", m.name);
    out->Key("value");
    // JSON has no such numbers, and a 0 in their place would be believed.
    std::isfinite(m.value) ? out->Double(m.value) : out->Null();
    if (!std::isfinite(m.value)) out->Key("text").Double(m.value);
    PutText(out, "unit", m.unit);
    PutText(out, "goal", m.goal);
    out->EndObject();
  }
  out->EndArray().Key("steps").Strings(record.steps);
  if (!record.attachments.empty()) PutRecords(out, "attachments", record.attachments);
  if (record.attempts.size() > 1 || !std::holds_alternative<Passed>(record.outcome)) PutAttempts(out, record);
  PutTextOrNull(out, "reproduce", Reproduction(summary, record.plan.ref));
  out->EndObject();
}

}  // namespace

void PutTotals(JsonText* out, const char* key, const Totals& totals) {
  out->Key(key).BeginCompactObject().Key("planned").Int(totals.planned).Key("passed").Int(totals.passed);
  out->Key("failed").Int(totals.failed).Key("errored").Int(totals.errored).Key("skipped").Int(totals.skipped);
  out->Key("blocked").Int(totals.blocked).Key("not_run").Int(totals.not_run).Key("waived").Int(totals.waived);
  out->EndObject();
}

void JsonReporter::Withdraw() {
  if (IsOwnReport(path_)) unlink(path_.c_str());
}

Status WriteJsonReport(const Summary& summary, const std::string& path) {
  AtomicFile file(path, IsOwnReport);
  JsonText out(1, kMaxString);
  out.BeginObject();
  PutText(&out, "schema", kReportSchema);
  PutVerdict(&out, summary, Judge(summary));
  PutRun(&out, summary);
  out.Key("cases").BeginArray();
  for (const CaseRecord& record : summary.cases) {
    PutCase(&out, summary, record);
    if (out.text().size() < kChunk) continue;
    if (Status status = file.Append(out.Take()); !status) return status;
  }
  out.EndArray();
  PutSkipTable(summary, &out);
  out.EndObject();
  if (Status status = file.Append(out.Take() + "\n"); !status) return status;
  return file.Commit();
}

}  // namespace cudnn_ci
