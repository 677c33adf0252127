// Cases that were slower than in the baseline, once more: the runner's and the dispatcher's part in it.
#include <algorithm>
#include <utility>
#include <vector>

#include "exec/schedule/runner.h"
#include "model/verdict/attribution.h"

namespace cudnn_ci {

// Behind all else, one at a time, with no other process of the run: not on its GPU, nor on the processors and
// the bus.
void Dispatcher::DispatchRepetition() {
  const std::optional<size_t> next = slowness_->Next();
  if (!next || !start_failure_.empty()) return;
  // A queue may be kept back for the very case that waits: until no process is left, and then it goes first.
  const std::vector<CaseQueue*> queues = scheduler_->ReadyQueues();
  if (!std::all_of(queues.begin(), queues.end(), [this](CaseQueue* queue) { return MustYield(queue); }))
    return;
  if (pool_->live() > 0) {
    const bool busy = std::any_of(slots_.begin(), slots_.end(), [](const auto& one) {
      return one.second.canary_pending || one.second.reserved || !one.second.worker->idle();
    });
    if (!busy) EndIdle();
    return;
  }
  // Of another file it would be another case; the runner ends it.
  if (!PluginsUnchanged({plan_.cases[*next].planned.plugin})) return;
  cases_->RepeatAlone(*next);
  slowness_->SetAsked(*next);
  CaseQueue* queue = scheduler_->QueueOf(*next);
  StartWorker(queue, queue->device, *next, false);
}

// What is neither a pass nor an allowed skip is evaluated like any other attempt: a repetition never improves
// an outcome.
void Runner::OnRepetition(const AttemptResult& again) {
  const size_t i = again.case_index;
  cases_.CountAttempt(again);
  std::vector<Finding> findings;
  const Slowness::Course course = slowness_.Answer(i, again.outcome, &findings);
  if (course == Slowness::Course::kRepeat) {
    if (!cancelled_) return;
    findings.push_back(slowness_.NotRepeated(i, "the run ended while it was repeated"));
  }
  Outcome outcome = Passed{};
  if (course == Slowness::Course::kFail) outcome = Failed{};
  Finalize(i, std::move(outcome), findings);
}

// Repetitions that have become needless while they waited.
void Runner::SettleSlow() {
  for (auto& [i, finding] : slowness_.TakeKnown()) Finalize(i, Passed{}, {std::move(finding)});
}

// Cases of a plugin whose file is another one now: what was described is not there to be run, nor to be run
// once more. Returns whether there were any.
bool Runner::SettleChanged() {
  bool any = false;
  for (const auto& [plugin, change] : dispatcher_.changed_plugins()) {
    std::vector<size_t> cases = scheduler_.WithdrawPlugin(plugin);
    for (const size_t i : slowness_.Waiting())
      if (plan_.cases[i].planned.plugin == plugin) cases.push_back(i);
    for (const size_t i : cases) Finalize(i, Errored{ErrorKind::kPluginLoad, change}, {});
    any |= !cases.empty();
  }
  return any;
}

// Whether nothing speaks against the case so far but a process that ended badly behind it: one that failed,
// or is being looked at already, is not to be overwritten by a later pass.
bool Runner::CountsAsPass(size_t i) const {
  if (slowness_.IsWaiting(i)) return true;
  const CaseRecord* record = summary_.Find(plan_.cases[i].planned.ref);
  return scheduler_.IsFinished(i) && record && IsGood(plan_.cases[i].planned, record->outcome);
}

}  // namespace cudnn_ci
