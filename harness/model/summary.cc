// The fold: events in, one summary out. It counts nothing twice, judges nothing (verdict.cc does) and
// believes the plan alone about which cases exist.
#include "model/summary.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "model/reasons.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMaxSteps = 64;

std::string Key(const CaseRef& ref) { return ref.id + "\n" + ref.device; }

void AddOnce(std::vector<Finding>* findings, const Finding& finding) {
  if (std::find(findings->begin(), findings->end(), finding) == findings->end()) findings->push_back(finding);
}

// The attempt that is being run, or null between attempts.
AttemptRecord* Current(CaseRecord* record) {
  if (record->attempts.empty() || record->attempts.back().finished) return nullptr;
  return &record->attempts.back();
}

// A waiver holds when every error of a case that ran is covered.
std::string WaivedBy(const Summary& summary, const CaseRecord& record) {
  if (!summary.run || summary.run->waivers.empty()) return "";
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

void Start(CaseRecord* record, const AttemptStarted& e) {
  AttemptRecord attempt;
  attempt.attempt = e.attempt;
  attempt.worker = e.worker;
  attempt.mode = e.mode;
  record->attempts.push_back(std::move(attempt));
  record->measurements.clear();
  record->steps.clear();
}

void Finish(CaseRecord* record, const AttemptFinished& e) {
  AttemptRecord* attempt = Current(record);
  if (!attempt) {
    // A case settled without a start (a device was lost) still tells its one attempt.
    record->attempts.emplace_back();
    attempt = &record->attempts.back();
    attempt->attempt = e.attempt;
    attempt->worker = e.worker;
  }
  attempt->outcome = e.outcome;
  attempt->seconds = e.seconds;
  attempt->output = e.output;
  attempt->evidence = e.evidence;
  attempt->finished = true;
}

}  // namespace

const char* Name(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kPassed:
      return "passed";
    case VerdictKind::kFailed:
      return "failed";
    case VerdictKind::kNotGated:
      return "not_gated";
    case VerdictKind::kInconclusive:
      return "inconclusive";
    case VerdictKind::kInterrupted:
      break;
  }
  return "interrupted";
}

const CaseRecord* Summary::Find(const CaseRef& ref) const {
  const auto place = index.find(Key(ref));
  return place == index.end() ? nullptr : &cases[place->second];
}

CaseRecord* Fold::Record(const CaseRef& ref) {
  const auto place = summary_.index.find(Key(ref));
  return place == summary_.index.end() ? nullptr : &summary_.cases[place->second];
}

void Fold::Apply(const Event& event) {
  Summary& s = summary_;
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, RunStarted>) {
          s.run = e;
        } else if constexpr (std::is_same_v<E, CasePlanned>) {
          if (!s.index.emplace(Key(e.ref), s.cases.size()).second) return;
          s.cases.emplace_back();
          s.cases.back().plan = e;
        } else if constexpr (std::is_same_v<E, PlanEnd>) {
          s.plan_end = e;
        } else if constexpr (std::is_same_v<E, WorkerStarted>) {
          ++s.workers;
        } else if constexpr (std::is_same_v<E, DeviceLost>) {
          s.devices_lost.push_back(e);
        } else if constexpr (std::is_same_v<E, RunCancelled>) {
          // The first reason is the cause; a signal that follows it still decides the exit code.
          if (!s.cancelled || (s.cancelled->signal == 0 && e.signal != 0)) s.cancelled = e;
        } else if constexpr (std::is_same_v<E, RunFinished>) {
          s.finished = e;
        } else if constexpr (std::is_same_v<E, FindingReported>) {
          CaseRecord* record = Record(e.ref);
          if (!record) return AddOnce(&s.run_findings, e.finding);  // about no planned case: never lost
          AddOnce(&record->findings, e.finding);
          if (AttemptRecord* attempt = Current(record)) AddOnce(&attempt->findings, e.finding);
          if (record->finished) record->waived_by = WaivedBy(s, *record);
        } else if constexpr (!std::is_same_v<E, WorkerEnded>) {
          CaseRecord* record = Record(e.ref);
          if (!record) return;
          if constexpr (std::is_same_v<E, AttemptStarted>) {
            Start(record, e);
          } else if constexpr (std::is_same_v<E, StepReached>) {
            if (record->steps.size() == kMaxSteps) record->steps.erase(record->steps.begin());
            record->steps.push_back(e.name);
          } else if constexpr (std::is_same_v<E, ExpectationFailed>) {
            if (!Current(record)) record->attempts.emplace_back();
            record->attempts.back().expectations.push_back({{}, e.file, e.line, e.what});
          } else if constexpr (std::is_same_v<E, Measured>) {
            record->measurements.push_back(e);
          } else if constexpr (std::is_same_v<E, Attached>) {
            record->attachments.push_back(e);
          } else if constexpr (std::is_same_v<E, CaseSlow>) {
            if (std::count(record->flags.begin(), record->flags.end(), Flag::kSlow) == 0) {
              record->flags.push_back(Flag::kSlow);
            }
          } else if constexpr (std::is_same_v<E, AttemptFinished>) {
            Finish(record, e);
          } else if constexpr (std::is_same_v<E, CaseFinished>) {
            record->outcome = e.outcome;
            record->finished = true;
            record->seconds = e.seconds;
            for (Flag flag : e.flags) {
              if (std::count(record->flags.begin(), record->flags.end(), flag) == 0)
                record->flags.push_back(flag);
            }
            record->waived_by = WaivedBy(s, *record);
          }
        }
      },
      event.body);
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

}  // namespace cudnn_ci
