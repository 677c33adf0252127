#include "exec/attempts.h"

#include <algorithm>

#include "base/text.h"
#include "model/reasons.h"

namespace cudnn_ci {
namespace {

void AddFlag(CaseHistory* history, Flag flag) {
  if (std::find(history->flags.begin(), history->flags.end(), flag) == history->flags.end())
    history->flags.push_back(flag);
}

// Results of one kind: the same check, ending the same way, for the same reason.
std::string KindOf(const Case& c, const AttemptResult& r) {
  std::string why;
  if (const auto* e = std::get_if<Errored>(&r.outcome)) {
    why = std::string(Name(e->kind)) + " " + std::to_string(r.signal);
  } else if (const auto* s = std::get_if<Skipped>(&r.outcome)) {
    why = Name(s->kind);
  } else {
    for (const Finding& f : r.findings)
      if (f.severity == Severity::kError) {
        why = f.slug;
        break;
      }
  }
  return c.planned.check + "\n" + Name(r.outcome) + "\n" + why;
}

std::string Brief(const AttemptResult& r) {
  if (const auto* e = std::get_if<Errored>(&r.outcome)) return e->detail;
  for (const Finding& f : r.findings)
    if (f.severity == Severity::kError) return f.slug + ": " + CleanLine(f.detail);
  if (const auto* s = std::get_if<Skipped>(&r.outcome))
    return "skipped, needs " + s->need + ", saw " + s->seen;
  return Name(r.outcome);
}

}  // namespace

bool IsGood(const Case& c, const Outcome& outcome) {
  if (std::holds_alternative<Passed>(outcome)) return true;
  const auto* s = std::get_if<Skipped>(&outcome);
  const auto& allowed = c.planned.allow_skip;
  return s && std::find(allowed.begin(), allowed.end(), s->kind) != allowed.end();
}

Decision AttemptRules::Judge(const Case& c, const AttemptResult& result, CaseHistory* history) {
  ++history->attempts;
  history->seconds += result.seconds;
  if (result.leaked) AddFlag(history, Flag::kLeaked);
  if (result.slow) AddFlag(history, Flag::kSlow);
  return result.mode == AttemptMode::kShared ? AfterShared(c, result, history) : Alone(c, result, history);
}

bool AttemptRules::IsKnown(const Case& c, const AttemptResult& result) const {
  const auto it = confirmed_.find(KindOf(c, result));
  return it != confirmed_.end() && it->second >= kConfirmations;
}

bool AttemptRules::StillToConfirm(const Case& c, CaseHistory* history) const {
  if (!history->suspicion || history->decisive || !IsKnown(c, *history->suspicion)) return true;
  AddFlag(history, Flag::kUnconfirmed);
  return false;
}

Decision AttemptRules::AfterShared(const Case& c, const AttemptResult& result, CaseHistory* history) {
  if (!confirm_ || IsGood(c, result.outcome)) return {Next::kFinal, result.outcome, {}};
  if (IsKnown(c, result)) {
    AddFlag(history, Flag::kUnconfirmed);
    return {Next::kFinal, result.outcome, {}};
  }
  history->suspicion = result;
  return {Next::kConfirm, {}, {}};
}

Decision AttemptRules::Alone(const Case& c, const AttemptResult& result, CaseHistory* history) {
  const bool good = IsGood(c, result.outcome);
  if (result.mode == AttemptMode::kConfirm && history->suspicion && !history->decisive) {
    if (good) {
      AddFlag(history, Flag::kOrderDependent);
      return {Next::kFinal,
              Failed{},
              {HarnessFinding("order-dependent", "in a shared process: " + Brief(*history->suspicion) +
                                                     "; alone in a fresh process: " + Name(result.outcome))}};
    }
    AddFlag(history, Flag::kConfirmed);
    ++confirmed_[KindOf(c, *history->suspicion)];
  }
  if (good && !history->decisive) return {Next::kFinal, result.outcome, {}};

  if (good && result.mode == AttemptMode::kRetry) {
    AddFlag(history, Flag::kFlaky);
    if (c.planned.allow_flaky) return {Next::kFinal, Passed{}, {}};
    return {Next::kFinal,
            Failed{},
            {HarnessFinding("flaky", "attempt 1: " + Brief(*history->decisive) + "; attempt " +
                                         std::to_string(history->attempts) + ": " + Name(result.outcome))}};
  }
  if (!history->decisive) history->decisive = result;
  const bool ended_in_step = std::holds_alternative<Errored>(result.outcome) && !result.crashed_step.empty();
  if (ended_in_step && static_cast<int>(history->skip_steps.size()) < kStepReruns) {
    history->skip_steps.push_back(result.crashed_step.front());
    AddFlag(history, Flag::kStepSkipped);
    return {Next::kContinue, {}, {}};
  }
  const bool skipped = std::holds_alternative<Skipped>(history->decisive->outcome);
  if (history->retries < retries_ && !skipped) {
    ++history->retries;
    AddFlag(history, Flag::kRetried);
    return {Next::kRetry, {}, {}};
  }
  Outcome outcome = history->decisive->outcome;
  if (auto* e = std::get_if<Errored>(&outcome); e && history->skip_steps.size() > 1)
    e->detail += "; in the end these steps ended it: " + Join(history->skip_steps, ", ");
  return {Next::kFinal, std::move(outcome), {}};
}

std::vector<Finding> OwedFindings(const Case& c, const Outcome& outcome, const std::vector<Finding>& said,
                                  const std::string& first_expectation) {
  std::vector<Finding> out;
  if (const auto* e = std::get_if<Errored>(&outcome))
    out.push_back(HarnessFinding(SlugOf(e->kind), e->detail));
  if (const auto* s = std::get_if<Skipped>(&outcome); s && c.planned.required && !IsGood(c, outcome))
    out.push_back(HarnessFinding("skip-not-allowed", std::string("skipped (") + Name(s->kind) + "): needs " +
                                                         s->need + ", saw " + s->seen));
  const auto is_error = [](const Finding& f) { return f.severity == Severity::kError; };
  if (std::holds_alternative<Failed>(outcome) && std::none_of(said.begin(), said.end(), is_error))
    out.push_back(HarnessFinding("expectation-failed", first_expectation));
  // Nothing below the driver can be at fault when the driver's own checks fail.
  if (c.planned.layer == Layer::kDriver)
    for (Finding& f : out)
      if (f.blame == Blame::kImage) f.blame = Blame::kRunner;
  return out;
}

}  // namespace cudnn_ci
