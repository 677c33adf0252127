#include "exec/schedule/cases.h"

#include <algorithm>

#include "base/text.h"
#include "exec/schedule/reattempts.h"
#include "exec/schedule/scheduler.h"
#include "model/verdict/attribution.h"

namespace cudnn_ci {
namespace {

bool IsShortOfMemory(const Outcome& outcome) {
  const auto* skipped = std::get_if<Skipped>(&outcome);
  return skipped && skipped->kind == SkipKind::kMemory;
}

}  // namespace

void Cases::History::Add(Flag flag) {
  if (std::find(flags.begin(), flags.end(), flag) == flags.end()) flags.push_back(flag);
}

// Results of one kind: the same check, ending the same way, for the same reason.
Cases::Bad Cases::Describe(const AttemptResult& r) const {
  const Case& c = plan_.cases[r.case_index];
  Bad bad{"", Name(r.outcome), r.outcome};
  if (const auto* e = std::get_if<Errored>(&r.outcome)) {
    bad.kind = std::string(Name(e->kind)) + " " + std::to_string(r.signal);
    bad.brief = e->detail;
  } else if (const auto* s = std::get_if<Skipped>(&r.outcome)) {
    bad.kind = Name(s->kind);
    bad.brief = "skipped, needs " + s->need + ", saw " + s->seen;
  } else if (const CaseRecord* record = summary_.Find(c.planned.ref)) {
    if (const Finding* f = FirstErrorOfLastAttempt(*record)) {
      bad.kind = f->slug;
      bad.brief = f->slug + ": " + SingleLine(f->detail);
    }
  }
  bad.kind = c.planned.check + "\n" + Name(r.outcome) + "\n" + bad.kind;
  return bad;
}

Decision Cases::Decide(const AttemptResult& result) {
  const Case& c = plan_.cases[result.case_index];
  const bool shared = result.mode == AttemptMode::kShared;
  // With others on the device too little memory says nothing of what the device has.
  const bool good = IsGood(c.planned, result.outcome) &&
                    !(shared && (IsCoScheduled(c) || result.concurrent) && IsShortOfMemory(result.outcome));
  History& history = histories_[result.case_index];
  ++history.attempts;
  history.seconds += result.seconds;
  if (result.leaked) history.Add(Flag::kLeaked);
  if (result.slow) history.Add(Flag::kSlow);
  if (result.inconclusive) {
    history.suspicion = Describe(result);
    history.concurrent = history.inconclusive = true;
    return {Next::kConfirm, {}, {}};
  }
  return shared ? AfterShared(result, good, &history) : Alone(result, good, &history);
}

void Cases::Suspect(size_t i, Errored how, int signal) {
  AttemptResult result;
  result.case_index = i;
  result.outcome = std::move(how);
  result.signal = signal;
  Bad bad = Describe(result);
  bad.brief = "while the case was prepared: " + bad.brief;
  histories_[i].suspicion = std::move(bad);
}

bool Cases::IsKnown(const std::string& kind) const {
  const auto it = confirmed_.find(kind);
  return it != confirmed_.end() && it->second >= reattempts::kConfirmations;
}

const Outcome* Cases::KnownOutcome(size_t i) {
  const auto it = histories_.find(i);
  if (it == histories_.end()) return nullptr;
  History& history = it->second;
  if (!history.suspicion || history.decisive || !IsKnown(history.suspicion->kind)) return nullptr;
  if (history.inconclusive) return nullptr;
  if (history.concurrent && IsShortOfMemory(history.suspicion->outcome)) return nullptr;
  history.Add(Flag::kUnconfirmed);
  return &history.suspicion->outcome;
}

NextAttempt Cases::NextOf(size_t i) const {
  const auto it = histories_.find(i);
  if (it == histories_.end()) return {};
  const History& h = it->second;
  AttemptMode mode = AttemptMode::kAlone;
  if (h.cross_device)
    mode = AttemptMode::kCrossDevice;
  else if ((h.suspicion || h.timed) && !h.decisive)
    mode = AttemptMode::kConfirm;
  else if (h.retries > 0)
    mode = AttemptMode::kRetry;
  return {h.attempts + 1, mode, h.skip_steps};
}

void Cases::CountAttempt(const AttemptResult& result) {
  History& history = histories_[result.case_index];
  ++history.attempts;
  history.seconds += result.seconds;
}

CaseFinished Cases::Take(size_t i, Outcome outcome) {
  CaseFinished finished{plan_.cases[i].planned.ref, std::move(outcome), 0, {}};
  if (const auto it = histories_.find(i); it != histories_.end()) {
    finished.seconds = it->second.seconds;
    finished.flags = std::move(it->second.flags);
    histories_.erase(it);
  }
  return finished;
}

Decision Cases::AfterShared(const AttemptResult& result, bool good, History* history) {
  if (good && confirm_ && history->suspicion) return {Next::kConfirm, {}, {}};  // of its preparation
  if (!confirm_ || good) return {Next::kFinal, result.outcome, {}};
  Bad bad = Describe(result);
  history->concurrent = result.concurrent || IsCoScheduled(plan_.cases[result.case_index]);
  // How much memory one lacked on a shared device tells nothing of the next one.
  if (IsKnown(bad.kind) && !(history->concurrent && IsShortOfMemory(result.outcome))) {
    history->Add(Flag::kUnconfirmed);
    return {Next::kFinal, result.outcome, {}};
  }
  history->suspicion = std::move(bad);
  return {Next::kConfirm, {}, {}};
}

Decision Cases::Alone(const AttemptResult& result, bool good, History* history) {
  if (result.mode == AttemptMode::kConfirm && history->suspicion && !history->decisive) {
    // Only on a shared device a case can lack what it has alone.
    if (good && history->concurrent && IsShortOfMemory(history->suspicion->outcome))
      return {Next::kFinal, result.outcome, {}};
    if (good && history->inconclusive)
      return {
          Next::kFinal, result.outcome, {HarnessFinding("failed-beside-others", history->suspicion->brief)}};
    if (good) {
      history->Add(Flag::kOrderDependent);
      return {Next::kFinal,
              Failed{},
              {HarnessFinding("order-dependent", "in a shared process: " + history->suspicion->brief +
                                                     "; alone in a fresh process: " + Name(result.outcome))}};
    }
    history->Add(Flag::kConfirmed);
    ++confirmed_[history->suspicion->kind];
  }
  if (good && !history->decisive) return {Next::kFinal, result.outcome, {}};
  // Only a pass of the whole case contradicts what was seen before: a skip says nothing of it, nor does what
  // was left out.
  const bool passed = std::holds_alternative<Passed>(result.outcome) && history->skip_steps.empty();
  if (passed && result.mode == AttemptMode::kRetry) {
    history->Add(Flag::kFlaky);
    if (plan_.cases[result.case_index].planned.allow_flaky) return {Next::kFinal, Passed{}, {}};
    return {Next::kFinal,
            Failed{},
            {HarnessFinding("flaky", "attempt 1: " + history->decisive->brief + "; attempt " +
                                         std::to_string(history->attempts) + ": " + Name(result.outcome))}};
  }
  if (!history->decisive) history->decisive = Describe(result);
  return Again(result, history);
}

// After a bad result, alone: whether there is anything more to be learned of the case.
Decision Cases::Again(const AttemptResult& result, History* history) {
  const bool ended_in_step = std::holds_alternative<Errored>(result.outcome) && !result.crashed_step.empty();
  if (ended_in_step && history->retries == 0 &&
      static_cast<int>(history->skip_steps.size()) < reattempts::kContinuations) {
    history->skip_steps.push_back(result.crashed_step.front());
    history->Add(Flag::kStepSkipped);
    return {Next::kContinue, {}, {}};
  }
  Outcome outcome = history->decisive->outcome;
  if (auto* e = std::get_if<Errored>(&outcome); e && history->skip_steps.size() > 1)
    e->detail += "; these steps ended it: " + Join(history->skip_steps, ", ");
  if (history->retries < retries_ && !std::holds_alternative<Skipped>(outcome)) {
    ++history->retries;
    history->decisive->outcome = std::move(outcome);
    history->skip_steps.clear();  // what passes without them is not the case
    history->Add(Flag::kRetried);
    return {Next::kRetry, {}, {}};
  }
  return {Next::kFinal, std::move(outcome), {}};
}

}  // namespace cudnn_ci
