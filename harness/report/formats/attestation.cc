// The statement about an image. See attestation.h.
#include "report/formats/attestation.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "model/matrix/image_identity.h"
#include "model/record/case_ref.h"
#include "model/record/fact_keys.h"
#include "report/formats/json.h"
#include "report/record/own_reports.h"
#include "report/text/json_text.h"
#include "report/text/run_text.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostCases = 100;      // named, of those that failed and of those with a warning each
constexpr size_t kMostSentences = 100;  // of what is not gated
constexpr size_t kMaxString = 500;
constexpr std::string_view kDigestMark = "@sha256:";

// A test that passed with a warning, as the predicate calls it: what failed and does not count.
bool IsWarned(const Summary& summary, const CaseRecord& record) {
  const bool went_wrong =
      std::holds_alternative<Failed>(record.outcome) || std::holds_alternative<Errored>(record.outcome);
  return went_wrong && !IsRed(summary, record);
}

// The cases that `belongs` means, the first ones by name.
template <class Predicate>
std::vector<std::string> NamesOf(const Summary& summary, const Predicate& belongs) {
  std::vector<std::string> names;
  for (const CaseRecord& record : summary.cases)
    if (names.size() < kMostCases && belongs(summary, record)) names.push_back(DisplayId(record.plan.ref));
  return names;
}

// Something that the verdict rests on, by its digest; nothing of what has none.
void PutConfiguration(JsonText* out, const std::string& name, const std::string& sha256) {
  if (sha256.empty()) return;
  out->BeginCompactObject().Key("name").String(name).Key("digest");
  out->BeginObject().Key("sha256").String(sha256).EndObject().EndObject();
}

void PutConfigurations(JsonText* out, const Summary& summary, const RunStarted& run) {
  out->Key("configuration").BeginArray();
  PutConfiguration(out, "matrix " + run.matrix_name, run.matrix_sha256);
  if (summary.plan_end) PutConfiguration(out, "plan", summary.plan_end->plan_sha256);
  PutConfiguration(out, "version facts of " + run.compatibility.as_of, run.compatibility.sha256);
  for (const KnowledgeFile& file : run.knowledge)
    PutConfiguration(out, "knowledge " + file.schema + " of " + file.as_of, file.sha256);
  for (const PluginIdentity& plugin : run.plugins)
    PutConfiguration(out, "plugin " + plugin.name + " " + plugin.version, plugin.sha256);
  out->EndArray();
}

void PutVerdict(JsonText* out, const Verdict& verdict) {
  out->Key("verdict").String(Name(verdict.kind));
  out->Key("blame").StringOrNull(verdict.kind == VerdictKind::kPassed ? "" : Name(verdict.blame));
  out->Key("root_cause");
  if (!verdict.root_cause) {
    out->Null();
    return;
  }
  out->BeginObject().Key("slug").String(verdict.root_cause->finding.slug);
  out->Key("case").StringOrNull(DisplayId(verdict.root_cause->ref));
  out->Key("detail").String(verdict.root_cause->finding.detail).EndObject();
}

void PutTested(JsonText* out, const Summary& summary, const RunStarted& run) {
  out->Key("matrix").BeginCompactObject().Key("name").String(run.matrix_name);
  out->Key("sha256").String(run.matrix_sha256).EndObject();
  out->Key("gpu").BeginArray();
  for (const DeviceInfo& device : run.devices) {
    out->BeginCompactObject().Key("name").String(device.name).Key("model").String(device.model);
    out->Key("compute_capability").String(device.compute_capability).EndObject();
  }
  out->EndArray();
  out->Key("driver").StringOrNull(FindFact(summary, "", kDriverVersionFact));
  // What tells it, and whether anything shows that to be the host's.
  out->Key("driver_from").StringOrNull(FindFact(summary, "", kDriverSourceFact));
  out->Key("toolkit").StringOrNull(FindFact(summary, "", kToolkitVersionFact));
  out->Key("libraries").BeginArray();
  for (const SubjectInfo& subject : run.subjects) {
    out->BeginCompactObject().Key("subject").String(subject.name).Key("spec").String(subject.spec);
    out->Key("cudnn").StringOrNull(FindFact(summary, subject.name, kCudnnVersionFact));
    out->Key("cudnn_path").StringOrNull(FindFact(summary, subject.name, kCudnnPathFact));
    out->EndObject();
  }
  out->EndArray();
}

void PutExtension(JsonText* out, const Summary& summary, const Verdict& verdict, const RunStarted& run) {
  out->Key(kGateExtension).BeginObject();
  PutVerdict(out, verdict);
  // A record of an earlier version does not tell, and then the engine was not asked.
  out->Key("digest_from").String(run.digest_from.empty() ? kDigestTold : run.digest_from);
  PutTested(out, summary, run);
  PutTotals(out, "cases", Count(summary));
  std::vector<std::string> not_gated = SentencesOf(run.not_gated);
  if (not_gated.size() > kMostSentences) not_gated.resize(kMostSentences);
  out->Key("not_gated").Strings(not_gated);
  out->Key("run").BeginCompactObject().Key("id").String(run.run_id).Key("timestamp").String(run.timestamp);
  out->Key("cudnn_ci").String(run.version).EndObject();
  out->EndObject();
}

}  // namespace

std::string NoStatementReason(const Summary& summary, const Verdict& verdict) {
  if (!summary.run || !verdict.complete || verdict.kind == VerdictKind::kInterrupted)
    return "the run did not finish";
  const RunStarted& run = *summary.run;
  if (run.report_only) return "the run is not gating (--report-only)";
  if (!run.partial.empty()) return "the run is partial: " + PartialText(run.partial);
  if (!IsImageByDigest(run.image)) return "the image is unidentified: give --subject-image NAME@DIGEST";
  if (verdict.kind == VerdictKind::kPassed) return "";
  if (verdict.kind == VerdictKind::kFailed && verdict.blame == Blame::kImage) return "";
  return std::string("the image was not tested, blame: ") + Name(verdict.blame);
}

std::string RenderStatement(const Summary& summary, const Verdict& verdict) {
  const RunStarted& run = *summary.run;
  const std::vector<std::string> failed = NamesOf(summary, IsRed), warned = NamesOf(summary, IsWarned);
  const bool passed = verdict.kind == VerdictKind::kPassed;
  JsonText out(1, kMaxString);
  // By what stands first the file is known as ours.
  out.BeginObject().Key("_type").String(kStatementType).Key("predicateType").String(kPredicateType);
  out.Key("predicate").BeginObject();
  PutExtension(&out, summary, verdict, run);
  out.Key("result").String(!passed ? "FAILED" : warned.empty() ? "PASSED" : "WARNED");
  PutConfigurations(&out, summary, run);
  out.Key("warnedTests").Strings(warned).Key("failedTests").Strings(failed).EndObject();
  const size_t at = run.image.find(kDigestMark);
  out.Key("subject").BeginArray().BeginCompactObject().Key("name").String(run.image.substr(0, at));
  out.Key("digest").BeginObject().Key("sha256").String(run.image.substr(at + kDigestMark.size()));
  out.EndObject().EndObject().EndArray().EndObject();
  return out.Take() + "\n";
}

Status AttestationReporter::Finish(const Summary& summary) {
  const Verdict verdict = Judge(summary);
  if (NoStatementReason(summary, verdict).empty())
    return WriteFileAtomically(path_, RenderStatement(summary, verdict), true, IsOwnReport);
  // What was stated a moment ago, before another report failed, is not true any more.
  if (IsOwnReport(path_) && unlink(path_.c_str()) != 0)
    return Error{"cannot remove " + path_ + ": " + std::strerror(errno)};
  return {};
}

void AttestationReporter::Withdraw() {
  if (IsOwnReport(path_)) unlink(path_.c_str());
}

}  // namespace cudnn_ci
