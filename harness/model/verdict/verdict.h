// The verdict: a pure function of the summary. Only here verdict, blame, root cause and exit code are
// decided.
#ifndef CUDNN_CI_MODEL_VERDICT_VERDICT_H_
#define CUDNN_CI_MODEL_VERDICT_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/record/finding.h"
#include "model/verdict/summary.h"

namespace cudnn_ci {

enum class VerdictKind { kPassed, kFailed, kNotGated, kInconclusive, kInterrupted };
const char* Name(VerdictKind kind);  // "passed", "failed", "not_gated", "inconclusive", "interrupted"
bool Parse(const std::string& name, VerdictKind* out);

// Whether running again is useful.
enum class Retry { kNotNeeded, kUseless, kElsewhere, kOnceElsewhere, kAgain };
// "not-needed"; "useless": the result would be the same; "elsewhere": on another runner; "once-elsewhere":
// once, on another runner, to learn whose fault it is; "again": anywhere.
const char* Name(Retry retry);

struct RootCause {
  Finding finding;
  CaseRef ref;  // empty: about the run
};

struct Verdict {
  VerdictKind kind = VerdictKind::kInconclusive;
  Blame blame = Blame::kUndetermined;  // of the class that decided; meaningless when passed
  int exit_code = 6;                   // before --report-only
  std::optional<RootCause> root_cause;
  bool complete = false;  // PlanEnd and RunFinished were seen and every case has an outcome
  Retry retry = Retry::kOnceElsewhere;
};

// The same for people: "yes, on another runner: this one is at fault, and the image was not tested".
std::string RetryText(const Summary& summary, const Verdict& verdict);

// What became of the required cases. What is in no counter but `planned` is red or did not run.
struct RequiredTotals {
  int64_t planned = 0;
  int64_t passed = 0, waived = 0;
  int64_t left_out = 0;  // skipped, or blocked by a skip, as the matrix allows
};
RequiredTotals CountRequired(const Summary& summary);

// Verdict and exit code: the one place that decides them. `today` (UTC, "2026-01-31") ends waivers.
Verdict Judge(const Summary& summary);

// Whether the case makes the gate red: required, and neither passed, nor an allowed skip, nor waived; a
// blocked case is red if what blocks it is optional or waived (else its blocker is).
bool IsRed(const Summary& summary, const CaseRecord& record);

// Findings the fold can see only at the end: entries without a pass (`no-engine`), expired waivers,
// an empty plan. The runner reports them before RunFinished.
std::vector<Finding> RunLevelFindings(const Summary& summary);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_VERDICT_VERDICT_H_
