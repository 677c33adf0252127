// The summary: a fold over events, computed once, used by every reporter and by the exit code. Only this
// fold counts cases and gives verdict and exit code.
#ifndef CUDNN_CI_MODEL_SUMMARY_H_
#define CUDNN_CI_MODEL_SUMMARY_H_

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/event.h"

namespace cudnn_ci {

struct AttemptRecord {
  int attempt = 1;
  int64_t worker = 0;
  AttemptMode mode = AttemptMode::kAlone;
  Outcome outcome;
  double seconds = 0;
  std::string output, evidence;
  std::vector<ExpectationFailed> expectations;  // refs empty: the case's own
  std::vector<Finding> findings;
  bool finished = false;
};

struct CaseRecord {
  CasePlanned plan;
  Outcome outcome;  // NotRun until finished
  bool finished = false;
  double seconds = 0;
  std::vector<Flag> flags;
  std::vector<AttemptRecord> attempts;
  std::vector<Finding> findings;       // of all attempts and of the harness, without repeats
  std::vector<Measured> measurements;  // of the last attempt
  std::vector<Attached> attachments;
  std::vector<std::string> steps;  // of the last attempt, at most 64
  std::string waived_by;           // "OWNER until DATE: REASON"; empty: not waived
};

struct Totals {
  int64_t planned = 0, passed = 0, failed = 0, errored = 0, skipped = 0, blocked = 0, not_run = 0, waived = 0;
};

enum class VerdictKind { kPassed, kFailed, kNotGated, kInconclusive, kInterrupted };
const char* Name(VerdictKind kind);  // "passed", "failed", "not_gated", "inconclusive", "interrupted"

struct RootCause {
  Finding finding;
  std::string case_id;  // DisplayId, or empty: about the run
};

struct Verdict {
  VerdictKind kind = VerdictKind::kInconclusive;
  Blame blame = Blame::kUndetermined;  // of the class that decided; meaningless when passed
  int exit_code = 6;                   // before --report-only
  std::optional<RootCause> root_cause;
  bool complete = false;  // PlanEnd and RunFinished were seen and every case has an outcome
  std::string retry;      // whether running again elsewhere is useful, in words
};

struct Summary {
  std::optional<RunStarted> run;
  std::optional<PlanEnd> plan_end;
  std::optional<RunCancelled> cancelled;
  std::optional<RunFinished> finished;
  std::vector<CaseRecord> cases;      // in plan order
  std::vector<Finding> run_findings;  // about the run as a whole
  std::vector<DeviceLost> devices_lost;
  int64_t workers = 0;
  std::string report_failure;  // a report could not be written; set by the fan-out

  const CaseRecord* Find(const CaseRef& ref) const;
  std::unordered_map<std::string, size_t> index;  // "id\ndevice" -> place in cases
};

class Fold {
 public:
  void Apply(const Event& event);
  const Summary& summary() const { return summary_; }
  Summary* mutable_summary() { return &summary_; }

 private:
  CaseRecord* Record(const CaseRef& ref);
  Summary summary_;
};

Totals Count(const Summary& summary);

// Verdict and exit code: the one place that decides them. `today` (UTC, "2026-01-31") ends waivers.
Verdict Judge(const Summary& summary);

// Whether the case makes the gate red: required, and neither passed, nor an allowed skip, nor waived; a
// blocked case is red if what blocks it is optional or waived (else its blocker is).
bool IsRed(const Summary& summary, const CaseRecord& record);

// Findings the fold can see only at the end: entries of which nothing passed (`no-engine`), expired waivers,
// an empty plan. The runner reports them before RunFinished.
std::vector<Finding> ClosingFindings(const Summary& summary);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_SUMMARY_H_
