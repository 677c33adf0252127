// Verdict and exit code: the one place that decides them. Works on the summary alone, so that a rebuilt
// report comes to the same verdict as the run did.
#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/record/names.h"
#include "model/verdict/attribution.h"
#include "model/verdict/verdict.h"

namespace cudnn_ci {
namespace {

constexpr const char* kVerdicts[] = {"passed", "failed", "not_gated", "inconclusive", "interrupted"};
constexpr const char* kRetries[] = {"not-needed", "useless", "elsewhere", "once-elsewhere", "again"};

// Root causes that another runner does not change, and that are no bugs to report: what has to be done first.
struct Repair {
  Blame blame;
  const char* slug;
  const char* text;
};
constexpr Repair kRepairs[] = {
    {Blame::kHarness, "report-not-written",
     "a report could not be written; first make room for it, or choose another place"},
    {Blame::kHarness, "plugin-load", "a plugin cannot be loaded; first repair or remove its file"},
    {Blame::kHarness, "plugin-invalid",
     "a plugin's declarations are invalid; first repair or remove its file"},
    {Blame::kHarness, "loader-missing",
     "this cudnn-ci is for another processor than the image; use the one for the image's processor"},
    {Blame::kHarness, "libc-unfit",
     "this cudnn-ci was built for a newer glibc; use one that ci/bundle built"},
    {Blame::kImage, "out-of-memory",
     "with as little memory it fails elsewhere too; first give the job more, or let the check use less"},
    {Blame::kUndetermined, "time-limit",
     "it would end early again; first raise --time-limit, or split the plan with --shard"},
    {Blame::kUndetermined, "part-missing", "first run the missing part again, then merge again"}};

// What a second failure on another runner shows, if not that the image is at fault.
constexpr std::pair<const char*, const char*> kRepeated[] = {
    {"killed-from-outside", "find out what sends the signal"},
    {"cancelled", "find out what ends the run"},
    {"not-run", "find out what ends the run"},
    {"subject-unreadable", "look at the container's mounts"}};

// One error that counts, with its place for the choice of the root cause.
struct CountedError {
  Finding finding;
  CaseRef ref;
  Layer layer = Layer::kOther;
  std::string subject = {};  // of the case
};

// Whether an error follows from a subject that is not there, or not for this processor: what its own toolkit
// checks say, and all that is said of cuDNN and above.
bool FollowsFrom(const Finding& missing, const CountedError& error) {
  if (error.layer >= Layer::kCudnn) return true;
  return error.layer == Layer::kToolkit && !error.subject.empty() && error.subject == missing.subject;
}

bool WasCancelledBy(const Summary& s, CancelReason reason) {
  return s.cancelled && s.cancelled->reason == reason;
}

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

// What is waived is no root cause; that others need it is. It keeps the blame of what was waived.
Finding BlockedByWaived(const CaseRecord& blocker, const std::string& name, const Finding& waived) {
  Finding finding =
      HarnessFinding("blocked-by-waived", "needs " + name + ", which " + Name(blocker.outcome) + " with " +
                                              Name(waived.blame) + "." + waived.slug +
                                              "; that is waived by " + blocker.waived_by);
  finding.blame = waived.blame;
  return finding;
}

// Errors of one red case. If only some are waived, the others make it red.
std::vector<Finding> CountedFindings(const Summary& summary, const CaseRecord& record,
                                     const std::string& today) {
  if (std::holds_alternative<Blocked>(record.outcome)) {
    const CaseRecord* blocker = RootBlocker(summary, record);
    const std::string name = DisplayId(blocker ? blocker->plan.ref : std::get<Blocked>(record.outcome).by);
    if (!blocker) {
      return {HarnessFinding("not-run", "blocked by " + name + ", which is not in the plan")};
    }
    if (IsAllowedSkip(*blocker)) {
      return {HarnessFinding("skip-not-allowed", "needs " + name + ", which was skipped")};
    }
    std::vector<Finding> errors = ErrorFindings(*blocker);
    // In a merged run it may have passed in another part than the one where it blocked: red needs a reason.
    if (errors.empty()) {
      errors.push_back(HarnessFinding("not-run", "blocked by " + name + ", which passed elsewhere"));
    }
    if (!blocker->waived_by.empty()) return {BlockedByWaived(*blocker, name, errors.front())};
    return errors;
  }
  std::vector<Finding> errors = ErrorFindings(record);
  std::erase_if(errors, [&](const Finding& f) { return FindWaiver(summary, record, f, today) != nullptr; });
  return errors;
}

std::vector<CountedError> CountedErrors(const Summary& summary) {
  std::vector<CountedError> errors;
  const std::string today = DayOf(summary);
  for (const CaseRecord& record : summary.cases) {
    // Not having run is the consequence of something else; it decides only when nothing else does.
    if (WasNotRun(summary, record) || !IsRed(summary, record)) continue;
    for (Finding& finding : CountedFindings(summary, record, today)) {
      errors.push_back({std::move(finding), record.plan.ref, record.plan.layer, record.plan.subject});
    }
  }
  std::stable_sort(errors.begin(), errors.end(),
                   [](const CountedError& a, const CountedError& b) { return a.layer < b.layer; });
  std::vector<Finding> about_run = summary.run_findings;
  for (Finding& finding : RunLevelFindings(summary)) {
    if (!Has(about_run, finding)) about_run.push_back(std::move(finding));
  }
  if (WasCancelledBy(summary, CancelReason::kTimeLimit) && !HasSlug(about_run, "time-limit")) {
    about_run.push_back(HarnessFinding("time-limit", "the run reached its --time-limit"));
  }
  for (Finding& finding : about_run) {
    if (finding.severity != Severity::kError) continue;
    // The libraries under test are not there, or cannot be loaded: whatever their cases then say is a
    // consequence.
    const bool cause = finding.slug == "subject-missing" || finding.slug == "subject-for-other-processor";
    const auto place = cause ? std::find_if(errors.begin(), errors.end(),
                                            [&](const CountedError& e) { return FollowsFrom(finding, e); })
                             : errors.end();
    errors.insert(place, {std::move(finding), {}, cause ? Layer::kCudnn : Layer::kOther});
  }
  return errors;
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
    return "the record has " + std::to_string(summary.cases.size()) + " of " +
           std::to_string(summary.plan_end->count) + " planned cases";
  }
  return std::to_string(Count(summary).not_run) + " planned cases were not run" +
         (summary.cancelled ? ": " + TextOf(*summary.cancelled) : "");
}

// What decides when no case and no finding does; nothing when the run is a pass.
std::optional<Finding> LastResort(const Summary& summary, bool complete) {
  if (!complete) return HarnessFinding("not-run", NotRunText(summary));
  if (!summary.report_failure.empty()) {
    return HarnessFinding("report-not-written", summary.report_failure);
  }
  // A pass of an optional case shows nothing where all that is required was left out.
  const RequiredTotals required = CountRequired(summary);
  const Totals totals = Count(summary);
  if (totals.passed + totals.waived == 0) {
    return HarnessFinding("nothing-selected", "no case passed, so nothing is known to work");
  }
  if (required.planned > 0 && required.passed + required.waived == 0) {
    return HarnessFinding("nothing-selected", "none of the " + std::to_string(required.planned) +
                                                  " required cases passed, so nothing is known to work");
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

// Nothing where the cause is not one of them.
const char* RepairFor(const Verdict& verdict) {
  for (const Repair& repair : kRepairs)
    if (verdict.root_cause && repair.blame == verdict.blame &&
        verdict.root_cause->finding.slug == repair.slug)
      return repair.text;
  return nullptr;
}

Retry RetryFor(const Verdict& verdict) {
  if (RepairFor(verdict) != nullptr) return Retry::kUseless;
  const Blame blame = verdict.blame;
  if (blame == Blame::kRunner) return Retry::kElsewhere;
  return blame == Blame::kUndetermined ? Retry::kOnceElsewhere : Retry::kUseless;
}

const char* Repeated(const Verdict& verdict) {
  for (const auto& [slug, text] : kRepeated)
    if (verdict.root_cause && verdict.root_cause->finding.slug == slug) return text;
  return "the image is at fault";
}

// Sets blame and root cause by the strongest class that has an error.
bool Decide(const std::vector<CountedError>& errors, Verdict* verdict) {
  for (Blame blame : {Blame::kImage, Blame::kHarness, Blame::kRunner, Blame::kUndetermined, Blame::kMatrix}) {
    for (const CountedError& error : errors) {
      if (error.finding.blame != blame) continue;
      verdict->blame = blame;
      verdict->root_cause = RootCause{error.finding, error.ref};
      return true;
    }
  }
  return false;
}

}  // namespace

const char* Name(VerdictKind kind) { return NameOf(kVerdicts, kind); }
bool Parse(const std::string& name, VerdictKind* out) { return ParseName(kVerdicts, name, out); }
const char* Name(Retry retry) { return NameOf(kRetries, retry); }

std::string RetryText(const Summary& summary, const Verdict& verdict) {
  switch (verdict.retry) {
    case Retry::kNotNeeded:
      return "not needed";
    case Retry::kElsewhere:
      return "yes, on another runner: this one is at fault, and the image was not tested";
    case Retry::kOnceElsewhere:
      return std::string("yes, once, on another runner: if it repeats, ") + Repeated(verdict);
    case Retry::kAgain:
      return "yes: the run was interrupted" +
             (summary.cancelled ? " by " + TextOf(*summary.cancelled) : std::string()) +
             " and has no verdict";
    case Retry::kUseless:
      break;
  }
  if (const char* repair = RepairFor(verdict)) return std::string("no: ") + repair;
  if (verdict.blame == Blame::kHarness) return "no: cudnn-ci or a plugin is at fault; report the bug";
  return verdict.blame == Blame::kMatrix ? "no: correct the matrix first"
                                         : "no: the image is at fault and would fail elsewhere too";
}

RequiredTotals CountRequired(const Summary& summary) {
  RequiredTotals totals;
  for (const CaseRecord& record : summary.cases) {
    if (!record.plan.required) continue;
    ++totals.planned;
    if (!record.waived_by.empty()) {
      ++totals.waived;
    } else if (!IsRed(summary, record)) {
      ++(std::holds_alternative<Passed>(record.outcome) ? totals.passed : totals.left_out);
    }
  }
  return totals;
}

bool IsRed(const Summary& summary, const CaseRecord& record) {
  if (!record.plan.required || !record.waived_by.empty()) return false;
  if (WasNotRun(summary, record)) return !WasCancelledBy(summary, CancelReason::kFailFast);
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
  bool red = Decide(CountedErrors(summary), &verdict);
  if (!red) {
    if (std::optional<Finding> last = LastResort(summary, verdict.complete)) {
      verdict.blame = last->blame;
      verdict.root_cause = RootCause{*last, {}};
      red = true;
    }
  }
  if (WasCancelledBy(summary, CancelReason::kSignal)) {
    verdict.kind = VerdictKind::kInterrupted;
    // A record from elsewhere may hold any number: none may make a green exit of it.
    const int signal = summary.cancelled->signal;
    verdict.exit_code = signal > 0 && signal < 65 ? 128 + signal : ExitCode(Blame::kUndetermined);
    verdict.retry = Retry::kAgain;
    return verdict;
  }
  if (!red) {
    verdict.kind = VerdictKind::kPassed;
    verdict.exit_code = 0;
    verdict.retry = Retry::kNotNeeded;
    return verdict;
  }
  verdict.kind = KindOf(verdict.blame);
  verdict.exit_code = ExitCode(verdict.blame);
  verdict.retry = RetryFor(verdict);
  return verdict;
}

}  // namespace cudnn_ci
