// Verdict and exit code: the one place that decides them. Works on the summary alone, so that a rebuilt
// report comes to the same verdict as the run did.
#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "model/plan.h"
#include "model/reasons.h"
#include "model/summary.h"

namespace cudnn_ci {
namespace {

// One error that counts, with its place for the choice of the root cause.
struct Charge {
  Finding finding;
  std::string case_id;
  Layer layer = Layer::kOther;
};

bool WasFailFast(const Summary& s) { return s.cancelled && s.cancelled->reason == "--fail-fast"; }

// Not run, or blocked by what was not.
bool WasNotRun(const Summary& s, const CaseRecord& record) {
  if (std::holds_alternative<Blocked>(record.outcome)) {
    const CaseRecord* blocker = RootBlocker(s, record);
    return blocker && std::holds_alternative<NotRun>(blocker->outcome);
  }
  return std::holds_alternative<NotRun>(record.outcome);
}

bool Has(const std::vector<Finding>& findings, const Finding& finding) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& f) { return f.slug == finding.slug && f.detail == finding.detail; });
}

bool HasSlug(const std::vector<Finding>& findings, const std::string& slug) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.slug == slug; });
}

// Errors of one red case. A case of which only some errors are waived is red by the others.
std::vector<Finding> Accusations(const Summary& summary, const CaseRecord& record, const std::string& today) {
  if (std::holds_alternative<Blocked>(record.outcome)) {
    const CaseRecord* blocker = RootBlocker(summary, record);
    if (!blocker) {
      return {HarnessFinding(
          "not-run", "blocked by " + std::get<Blocked>(record.outcome).by + ", which is not in the plan")};
    }
    if (IsAllowedSkip(*blocker)) {
      return {HarnessFinding("skip-not-allowed",
                             "needs " + DisplayId(blocker->plan.ref) + ", which was skipped")};
    }
    return ErrorFindings(*blocker);
  }
  std::vector<Finding> errors = ErrorFindings(record);
  std::erase_if(errors, [&](const Finding& f) { return FindWaiver(summary, record, f, today) != nullptr; });
  return errors;
}

std::vector<Charge> Charges(const Summary& summary) {
  std::vector<Charge> charges;
  const std::string today = DayOf(summary);
  for (const CaseRecord& record : summary.cases) {
    // Not having run is the consequence of something else; it decides only when nothing else does.
    if (WasNotRun(summary, record) || !IsRed(summary, record)) continue;
    for (Finding& finding : Accusations(summary, record, today)) {
      charges.push_back({std::move(finding), DisplayId(record.plan.ref), record.plan.layer});
    }
  }
  std::stable_sort(charges.begin(), charges.end(),
                   [](const Charge& a, const Charge& b) { return a.layer < b.layer; });
  std::vector<Finding> about_run = summary.run_findings;
  for (Finding& finding : ClosingFindings(summary)) {
    if (!Has(about_run, finding)) about_run.push_back(std::move(finding));
  }
  const bool limit = summary.cancelled && summary.cancelled->reason == "--time-limit";
  if (limit && !HasSlug(about_run, "time-limit")) {
    about_run.push_back(HarnessFinding("time-limit", "the run reached its --time-limit"));
  }
  for (Finding& finding : about_run) {
    if (finding.severity == Severity::kError) charges.push_back({std::move(finding), "", Layer::kOther});
  }
  return charges;
}

bool IsComplete(const Summary& summary) {
  if (!summary.run || !summary.plan_end || !summary.finished) return false;
  if (summary.plan_end->count != static_cast<int64_t>(summary.cases.size())) return false;
  return std::none_of(summary.cases.begin(), summary.cases.end(),
                      [](const CaseRecord& r) { return std::holds_alternative<NotRun>(r.outcome); });
}

std::string NotRunText(const Summary& summary) {
  if (!summary.plan_end) return "the run ended before the plan was complete";
  if (!summary.finished) return "the run did not finish";
  if (summary.plan_end->count != static_cast<int64_t>(summary.cases.size())) {
    return "the record holds " + std::to_string(summary.cases.size()) + " of " +
           std::to_string(summary.plan_end->count) + " planned cases";
  }
  return std::to_string(Count(summary).not_run) + " planned cases were not run" +
         (summary.cancelled ? ": " + summary.cancelled->reason : "");
}

// What decides when no case and no finding does; nothing when the run is a pass.
std::optional<Finding> LastResort(const Summary& summary, bool complete) {
  if (!complete) return HarnessFinding("not-run", NotRunText(summary));
  if (!summary.report_failure.empty()) {
    return HarnessFinding("report-not-written", summary.report_failure);
  }
  const Totals totals = Count(summary);
  if (totals.passed == 0 && totals.waived == 0) {
    return HarnessFinding("nothing-selected", "no case passed: nothing was shown to work");
  }
  return std::nullopt;
}

int ExitCode(Blame blame) {
  switch (blame) {
    case Blame::kImage:
      return 1;
    case Blame::kHarness:
      return 5;
    case Blame::kRunner:
      return 3;
    case Blame::kMatrix:
      return 4;
    case Blame::kUndetermined:
      break;
  }
  return 6;
}

VerdictKind KindOf(Blame blame) {
  if (blame == Blame::kMatrix) return VerdictKind::kNotGated;
  return blame == Blame::kUndetermined ? VerdictKind::kInconclusive : VerdictKind::kFailed;
}

const char* RetryText(Blame blame) {
  switch (blame) {
    case Blame::kImage:
      return "no: the image is at fault and would fail elsewhere too";
    case Blame::kHarness:
      return "no: cudnn-ci or a plugin is at fault; report the bug";
    case Blame::kRunner:
      return "yes, on another runner: this one is at fault, the image is not judged";
    case Blame::kMatrix:
      return "no: correct the matrix first";
    case Blame::kUndetermined:
      break;
  }
  return "yes, once, on another runner: if it repeats, the image is at fault";
}

// Sets blame and root cause by the strongest class that is charged.
bool Decide(const std::vector<Charge>& charges, Verdict* verdict) {
  for (Blame blame : {Blame::kImage, Blame::kHarness, Blame::kRunner, Blame::kUndetermined, Blame::kMatrix}) {
    for (const Charge& charge : charges) {
      if (charge.finding.blame != blame) continue;
      verdict->blame = blame;
      verdict->root_cause = RootCause{charge.finding, charge.case_id};
      return true;
    }
  }
  return false;
}

}  // namespace

bool IsRed(const Summary& summary, const CaseRecord& record) {
  if (!record.plan.required || !record.waived_by.empty()) return false;
  if (WasNotRun(summary, record)) return !WasFailFast(summary);
  if (std::holds_alternative<Blocked>(record.outcome)) {
    const CaseRecord* blocker = RootBlocker(summary, record);
    if (!blocker) return true;
    // A skip the blocker's entry allows excuses only what allows the same skip.
    if (IsAllowedSkip(*blocker)) {
      const SkipKind kind = std::get<Skipped>(blocker->outcome).kind;
      const std::vector<SkipKind>& allowed = record.plan.allow_skip;
      return std::find(allowed.begin(), allowed.end(), kind) == allowed.end();
    }
    return !IsRed(summary, *blocker);
  }
  return !ErrorFindings(record).empty();
}

Verdict Judge(const Summary& summary) {
  Verdict verdict;
  verdict.complete = IsComplete(summary);
  bool red = Decide(Charges(summary), &verdict);
  if (!red) {
    if (std::optional<Finding> last = LastResort(summary, verdict.complete)) {
      verdict.blame = last->blame;
      verdict.root_cause = RootCause{*last, ""};
      red = true;
    }
  }
  if (summary.cancelled && summary.cancelled->signal != 0) {
    verdict.kind = VerdictKind::kInterrupted;
    verdict.exit_code = 128 + summary.cancelled->signal;
    verdict.retry =
        "yes: the run was interrupted by " + summary.cancelled->reason + " and judged nothing as a whole";
    return verdict;
  }
  if (!red) {
    verdict.kind = VerdictKind::kPassed;
    verdict.exit_code = 0;
    verdict.retry = "not needed";
    return verdict;
  }
  verdict.kind = KindOf(verdict.blame);
  verdict.exit_code = ExitCode(verdict.blame);
  verdict.retry = RetryText(verdict.blame);
  return verdict;
}

}  // namespace cudnn_ci
