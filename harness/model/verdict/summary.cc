// The fold: events in, one summary out. It counts nothing twice, decides nothing (verdict.cc does) and
// believes the plan alone about which cases exist.
#include "model/verdict/summary.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/verdict/attribution.h"
#include "model/verdict/warnings.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMaxSteps = 64;

// Where the case stands in the index, or the free slot where it would. There is always a free one.
size_t SlotOf(const std::vector<uint32_t>& index, const std::deque<CaseRecord>& cases, const CaseRef& ref) {
  const std::hash<std::string> hash;
  const size_t mask = index.size() - 1;
  size_t slot = (hash(ref.id) + 31 * hash(ref.device)) & mask;
  while (index[slot] != 0 && cases[index[slot] - 1].plan.ref != ref) slot = (slot + 1) & mask;
  return slot;
}

// The size stays a power of two and at least twice the number of cases.
void MakeRoomInIndex(Summary* s) {
  if (2 * (s->cases.size() + 1) <= s->index.size()) return;
  s->index.assign(std::max<size_t>(16, 2 * s->index.size()), 0);
  for (size_t i = 0; i < s->cases.size(); ++i)
    s->index[SlotOf(s->index, s->cases, s->cases[i].plan.ref)] = static_cast<uint32_t>(i + 1);
}

// A pass in the first attempt: only its duration is recorded.
bool IsPlainPass(const CaseRecord& record) {
  if (record.attempts.size() != 1 || !std::holds_alternative<Passed>(record.outcome)) return false;
  const AttemptRecord& a = record.attempts[0];
  return std::holds_alternative<Passed>(a.outcome) && a.output.empty() && a.evidence.empty() &&
         a.expectations.empty() && a.findings.empty();
}

void AddOnce(std::vector<Finding>* findings, const Finding& finding) {
  if (std::find(findings->begin(), findings->end(), finding) == findings->end()) findings->push_back(finding);
}

// The attempt that is being run, or null between attempts.
AttemptRecord* Current(CaseRecord* record) {
  if (record->attempts.empty() || record->attempts.back().finished) return nullptr;
  return &record->attempts.back();
}

// Whether what is told now is of another GPU than the case's own.
bool IsCrossDevice(const CaseRecord& record) {
  return !record.attempts.empty() && !record.attempts.back().finished &&
         record.attempts.back().mode == AttemptMode::kCrossDevice;
}

// A waiver holds when every error of a case that ran is covered.
std::string WaivedBy(const Summary& summary, const CaseRecord& record) {
  if (summary.waivers.empty()) return "";
  if (!std::holds_alternative<Failed>(record.outcome) && !std::holds_alternative<Errored>(record.outcome)) {
    return "";
  }
  const std::string today = DayOf(summary);
  std::string text;
  for (const Finding& finding : ErrorFindings(record)) {
    const Waiver* waiver = FindWaiver(summary, record, finding, today);
    if (!waiver) return "";
    if (text.empty()) text = waiver->owner + " until " + waiver->expires + ": " + waiver->reason;
  }
  return text;
}

void AddFlag(CaseRecord* record, Flag flag) {
  if (std::find(record->flags.begin(), record->flags.end(), flag) == record->flags.end())
    record->flags.push_back(flag);
}

}  // namespace

const CaseRecord* Summary::Find(const CaseRef& ref) const {
  if (index.empty()) return nullptr;
  const uint32_t place = index[SlotOf(index, cases, ref)];
  return place == 0 ? nullptr : &cases[place - 1];
}

CaseRecord* Fold::Record(const CaseRef& ref) {
  return const_cast<CaseRecord*>(summary_.Find(ref));  // NOLINT: the summary is ours
}

void Fold::On(const CasePlanned& e) {
  MakeRoomInIndex(&summary_);
  uint32_t& place = summary_.index[SlotOf(summary_.index, summary_.cases, e.ref)];
  if (place != 0) return;
  place = static_cast<uint32_t>(summary_.cases.size() + 1);
  summary_.cases.emplace_back();
  summary_.cases.back().plan = e;
}

void Fold::On(const AttemptStarted& e) {
  CaseRecord* record = Record(e.ref);
  if (!record) return;
  AttemptRecord& attempt = record->attempts.emplace_back();
  attempt.attempt = e.attempt;
  attempt.worker = e.worker;
  attempt.mode = e.mode;
  if (e.mode == AttemptMode::kCrossDevice) return;  // what another GPU did is not how far the case came
  record->measurements.clear();
  record->steps.clear();
}

void Fold::On(const StepReached& e) {
  CaseRecord* record = Record(e.ref);
  if (!record || IsCrossDevice(*record)) return;
  if (record->steps.size() == kMaxSteps) record->steps.erase(record->steps.begin());
  record->steps.push_back(e.name);
}

void Fold::On(const ExpectationFailed& e) {
  CaseRecord* record = Record(e.ref);
  if (!record) return;
  if (!Current(record)) record->attempts.emplace_back();
  record->attempts.back().expectations.push_back({{}, e.file, e.line, e.what});
}

void Fold::On(const FindingReported& e) {
  // Not an error beside others: it decides only when nothing else does.
  if (e.ref.id.empty() && e.finding.slug == "report-not-written") {
    std::string& failure = summary_.report_failure;
    failure += (failure.empty() ? "" : "; ") + e.finding.detail;
    return;
  }
  CaseRecord* record = Record(e.ref);
  if (!record) return AddOnce(&summary_.run_findings, e.finding);
  Finding finding = e.finding;
  // What another GPU gets wrong is evidence, and no error of the case.
  const auto same = std::find(record->findings.begin(), record->findings.end(), finding);
  if (IsCrossDevice(*record) && same == record->findings.end()) finding.severity = Severity::kNote;
  AddOnce(&record->findings, finding);
  if (AttemptRecord* attempt = Current(record)) AddOnce(&attempt->findings, e.finding);
  if (record->finished) record->waived_by = WaivedBy(summary_, *record);
}

void Fold::On(const Measured& e) {
  CaseRecord* record = Record(e.ref);
  if (record && !IsCrossDevice(*record)) record->measurements.push_back(e);
}

void Fold::On(const Attached& e) {
  if (CaseRecord* record = Record(e.ref)) record->attachments.push_back(e);
}

void Fold::On(const CaseSlow& e) {
  if (CaseRecord* record = Record(e.ref)) AddFlag(record, Flag::kSlow);
}

void Fold::On(const AttemptFinished& e) {
  CaseRecord* record = Record(e.ref);
  if (!record) return;
  AttemptRecord* attempt = Current(record);
  if (!attempt) {
    // A case that ended without a start (a device was lost) still tells its one attempt.
    attempt = &record->attempts.emplace_back();
    attempt->attempt = e.attempt;
    attempt->worker = e.worker;
  }
  attempt->outcome = e.outcome;
  attempt->seconds = e.seconds;
  attempt->output = e.output;
  attempt->evidence = e.evidence;
  attempt->finished = true;
}

void Fold::On(const CaseFinished& e) {
  CaseRecord* record = Record(e.ref);
  if (!record) return;
  record->outcome = e.outcome;
  record->finished = true;
  record->seconds = e.seconds;
  for (const Flag flag : e.flags) AddFlag(record, flag);
  if (IsPlainPass(*record)) std::vector<AttemptRecord>().swap(record->attempts);
  record->waived_by = WaivedBy(summary_, *record);
}

void Fold::On(const RunCancelled& e) {
  // The first reason is the cause; a signal that follows it still decides the exit code.
  std::optional<RunCancelled>& cancelled = summary_.cancelled;
  if (!cancelled || (cancelled->reason != CancelReason::kSignal && e.reason == CancelReason::kSignal))
    cancelled = e;
}

void Fold::On(const RunFinished& e) {
  summary_.finished = e;
  KeepMostUsefulWarnings(&summary_);
}

Totals Count(const Summary& summary) {
  Totals totals;
  totals.planned = static_cast<int64_t>(summary.cases.size());
  for (const CaseRecord& record : summary.cases) {
    int64_t* const counter[] = {&totals.not_run, &totals.passed,  &totals.failed,
                                &totals.skipped, &totals.blocked, &totals.errored};
    ++*counter[record.outcome.index()];
    if (!record.waived_by.empty()) ++totals.waived;
  }
  return totals;
}

bool IsDiscarded(const CaseRecord& record, const AttemptRecord& attempt) {
  return attempt.mode == AttemptMode::kConcurrent &&
         std::any_of(record.attempts.begin(), record.attempts.end(),
                     [](const AttemptRecord& one) { return one.mode == AttemptMode::kConfirm; });
}

Summary FoldEvents(const std::vector<Event>& events) {
  Fold fold;
  for (const Event& event : events) fold.Apply(event);
  return std::move(*fold.mutable_summary());
}

}  // namespace cudnn_ci
