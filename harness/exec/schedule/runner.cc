#include "exec/schedule/runner.h"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "exec/schedule/gpu_state.h"
#include "exec/system/proc.h"
#include "model/verdict/attribution.h"
#include "model/verdict/verdict.h"

namespace cudnn_ci {
namespace {

// A warm worker may grow by what its first cases needed, not without end.
constexpr int64_t kGrowthBytes = int64_t{2} << 30;
constexpr int64_t kWarmCases = 8;  // until its size is taken, and between looks at it

}  // namespace

bool Runner::SuspectsDevice(const AttemptResult& r) {
  const auto* e = std::get_if<Errored>(&r.outcome);
  return r.context_broken || (e && e->kind != ErrorKind::kCancelled && e->kind != ErrorKind::kPluginLoad &&
                              e->kind != ErrorKind::kDeviceLost && e->kind != ErrorKind::kAbandoned);
}

Runner::Runner(const Plan& plan, const Catalog& catalog, RunnerOptions options, const Summary& summary,
               RunnerCallbacks callbacks, ProcessControl* control, int signal_fd)
    : plan_(plan),
      catalog_(catalog),
      options_(std::move(options)),
      summary_(summary),
      callbacks_(std::move(callbacks)),
      scheduler_(plan, options_.isolation),
      devices_(options_.devices, options_.isolation != Isolation::kNone),
      cases_(plan, summary, options_.retries, options_.isolation == Isolation::kShared),
      opinions_(plan, summary, AskableDevices(options_)),
      slowness_(plan, summary, options_.baseline, options_.facts),
      attachments_(options_.output_dir),
      pool_(control, signal_fd, options_.scratch_dir, this, options_.max_descendants),
      dispatcher_(plan, catalog, options_, &pool_, &scheduler_, &devices_, &cases_, &opinions_, &slowness_,
                  [this](const EventBody& body) { Emit(body); }) {}

int Runner::Run() {
  if (options_.time_limit_s > 0) end_ns_ = MonotonicNs() + static_cast<int64_t>(options_.time_limit_s * 1e9);
  for (const Scheduler::Ended& s : scheduler_.FinishPredetermined()) {
    const Case& c = plan_.cases[s.case_index];
    for (const Finding& f : c.findings) Emit(FindingReported{c.planned.ref, f});
    Emit(CaseFinished{c.planned.ref, s.outcome, 0, {}});
  }
  dispatcher_.Prewarm();
  while (Step()) {
  }
  EndWaiting();
  pool_.Sweep();
  EmitBlocked(scheduler_.FinishBlocked());
  return signal_;
}

// One turn of the loop; false when nothing is left to do.
bool Runner::Step() {
  bool changed = false;
  if (!cancelled_) {
    SettleKnown();
    SettleSlow();
    const bool failed = !dispatcher_.start_failure().empty();
    dispatcher_.Dispatch(stop_dispatch_);
    changed = SettleChanged();
    EndUnanswerable();
    if (!failed && !dispatcher_.start_failure().empty()) {
      // No process can be had: the run cannot go on, and says so.
      stop_dispatch_ = true;
      Emit(FindingReported{{}, HarnessFinding("worker-not-started", dispatcher_.start_failure())});
    }
    if (!dispatcher_.untested_device().empty())
      LoseDevice(dispatcher_.untested_device(), "no process could be started to test it");
  }
  if (pool_.live() == 0) {
    if (cancelled_ || stop_dispatch_ || scheduler_.open() == 0) return false;
    if (changed) return true;  // what came behind that may start now
    // Nothing runs and nothing can start: what is left would wait for ever. It ends as not run, which is red.
    if (scheduler_.ReadyQueues().empty() && !devices_.Holding()) return false;
  }
  pool_.Turn(cancelled_ ? INT64_MAX : end_ns_);
  if (!cancelled_ && MonotonicNs() >= end_ns_) Cancel(CancelReason::kTimeLimit, 0);
  callbacks_.tick();
  return true;
}

void Runner::OnSignal(int signal) {
  if (signal_ != 0) return;
  signal_ = signal;
  Cancel(CancelReason::kSignal, signal);
}

void Runner::OnPaused(double seconds) {
  Emit(FindingReported{
      {},
      HarnessFinding("run-paused", "cudnn-ci could not run for " + std::to_string(std::lround(seconds)) +
                                       " s; the time limits of cases were extended by that")});
}

void Runner::Cancel(CancelReason reason, int signal) {
  const RunCancelled cancelled{reason, signal};
  if (std::exchange(cancelled_, true)) {
    // A signal while the run is ending for another reason decides the exit code.
    if (signal != 0) Emit(cancelled);
    return;
  }
  Emit(cancelled);
  for (WorkerSlot* slot : dispatcher_.Slots()) {
    slot->reserved.reset();
    pool_.Do(slot->worker, [&](int64_t now, Effects* out) {
      if (slot->worker->idle() && !slot->worker->ending() && !slot->OnlyPrepares())
        slot->worker->Shutdown(now, out);
      else
        slot->worker->Terminate(CancelledBy(Cancellation::kRunEnded, cancelled), false, now, out);
    });
  }
  for (const AttemptResult& result : devices_.TakeHeld()) Decide(result);
}

void Runner::OnEffect(Worker* worker, Effect effect) {
  WorkerSlot& slot = dispatcher_.SlotOf(*worker);
  if (auto* event = std::get_if<EmitEvent>(&effect)) {
    if (Keeps(&slot, &event->body)) return;
    auto* attached = std::get_if<Attached>(&event->body);
    if (!attached) return Emit(event->body);
    if (!attachments_.wanted()) return;
    if (const Status kept = attachments_.Take(&pool_.Scratch(*worker), attached); !kept.ok())
      return Emit(FindingReported{
          attached->ref,
          HarnessFinding("evidence-dropped", "the attachment " + attached->name + ": " + kept.error())});
    Emit(event->body);
  } else if (auto* ended = std::get_if<AttemptEnded>(&effect)) {
    EmitKept(&slot, &ended->result);
    OnAttemptEnded(slot, std::move(ended->result));
  } else if (auto* back = std::get_if<GiveBack>(&effect)) {
    for (const size_t c : back->case_indices)
      if (!scheduler_.IsFinished(c)) scheduler_.Requeue(c, false);
  } else if (auto* failed = std::get_if<PreparationFailed>(&effect)) {
    OnPreparationFailed(std::move(*failed));
  } else if (auto* canary = std::get_if<CanaryResult>(&effect)) {
    OnCanary(&slot, *canary);
  } else if (auto* abandoned = std::get_if<Abandoned>(&effect)) {
    // The run ends without it; its devices cannot be used again.
    Emit(WorkerEnded{worker->id(), "abandoned", SingleLine(abandoned->evidence)});
    const WorkerSlot left = dispatcher_.Release(worker->id());
    for (const std::string& device : devices_.Named(left.device))
      if (!device.empty()) LoseDevice(device, "a process on it survived SIGKILL: " + abandoned->evidence);
    if (left.cross_device && opinions_.IsWaiting(*left.cross_device))
      return Finalize(*left.cross_device, opinions_.Take(*left.cross_device), {});  // it failed before
    if (left.reserved && !scheduler_.IsFinished(left.reserved->case_index))
      Finalize(left.reserved->case_index, Errored{ErrorKind::kAbandoned, "its process survived SIGKILL"}, {});
  }
}

void Runner::OnAttemptEnded(const WorkerSlot& slot, AttemptResult result) {
  const size_t i = result.case_index;
  const Case& c = plan_.cases[i];
  Emit(AttemptFinished{c.planned.ref, result.attempt, slot.worker->id(), result.outcome, result.seconds,
                       result.output, result.evidence});
  if (scheduler_.IsFinished(i)) return;  // its device was lost meanwhile
  result.concurrent = devices_.WasShared(slot.device) || slot.sharing > 1;
  if (result.mode == AttemptMode::kCrossDevice) return OnSecondOpinion(slot, result);
  const auto* errored = std::get_if<Errored>(&result.outcome);
  if (cancelled_ && errored && errored->kind == ErrorKind::kCancelled) {
    std::vector<Finding> extra;
    if (signal_ == 0) extra.push_back(HarnessFinding("time-limit", "the run's --time-limit was reached"));
    return Finalize(i, result.outcome, extra);
  }
  if (!cancelled_ && SuspectsDevice(result) && devices_.CanBeTested(slot.device)) {
    devices_.Suspect(slot.device);
    // Whose fault it is depends on whether the device still computes. A shared worker's word is confirmed
    // anyway, by a process that begins with the canary.
    if (result.mode != AttemptMode::kShared) return devices_.Hold(slot.device, std::move(result));
  }
  Decide(result);
  // Memory that only grows.
  CaseWorker* worker = slot.worker;
  if (!worker->shared() || !worker->accepting() || worker->cases_run() % kWarmCases != 0) return;
  const int64_t resident = ResidentBytes(static_cast<pid_t>(pool_.Pid(*worker)));
  WorkerSlot& own = dispatcher_.SlotOf(*worker);
  if (own.baseline_rss == 0) own.baseline_rss = resident;
  if (resident > own.baseline_rss + kGrowthBytes)
    pool_.Do(worker, [&](int64_t now, Effects* out) { worker->Shutdown(now, out); });
}

void Runner::Decide(const AttemptResult& result) {
  const size_t i = result.case_index;
  if (slowness_.IsWaiting(i)) {
    if (IsGood(plan_.cases[i].planned, result.outcome)) return OnRepetition(result);
    slowness_.Forget(i);  // from now on it is about more than time
  }
  Decision decision = cases_.Decide(result);
  if (decision.next == Next::kFinal)
    return Conclude(i, std::move(decision.outcome), std::move(decision.findings));
  if (cancelled_) return Finalize(i, AsItStands(result), {});
  scheduler_.Requeue(i, true);
}

void Runner::Finalize(size_t i, Outcome outcome, const std::vector<Finding>& extra) {
  const Case& c = plan_.cases[i];
  if (opinions_.IsWaiting(i)) opinions_.Take(i);
  slowness_.Forget(i);
  for (const Finding& f : extra) Emit(FindingReported{c.planned.ref, f});
  const CaseRecord* record = IsGood(c.planned, outcome) ? nullptr : summary_.Find(c.planned.ref);
  if (record)
    for (Finding f : ImpliedFindings(*record, outcome)) {
      if (const auto* s = std::get_if<Skipped>(&outcome))
        f = BlameForMemory(options_.facts, c, std::move(f), *s);
      Emit(FindingReported{c.planned.ref, f});
    }
  Emit(cases_.Take(i, outcome));
  if (record && options_.fail_fast && !cancelled_ && !stop_dispatch_ && IsRed(summary_, *record)) {
    stop_dispatch_ = true;
    Emit(RunCancelled{CancelReason::kFailFast, 0});
  }
  EmitBlocked(scheduler_.Finish(i, outcome));
}

void Runner::EmitBlocked(const std::vector<Scheduler::Ended>& blocked) {
  for (const Scheduler::Ended& s : blocked)
    Emit(CaseFinished{plan_.cases[s.case_index].planned.ref, s.outcome, 0, {}});
}

// Confirmations that have become needless while they waited.
void Runner::SettleKnown() {
  for (CaseQueue* queue : scheduler_.ReadyQueues())
    while (!queue->alone.empty()) {
      const Outcome* known = cases_.KnownOutcome(queue->alone.front());
      if (!known) break;
      Conclude(scheduler_.Take(queue, true), Outcome(*known), {});
    }
}

void Runner::OnCanary(WorkerSlot* slot, const CanaryResult& result) {
  if (!result.ok) {
    slot->canary_pending = false;
    return LoseDevice(slot->device, result.detail);
  }
  for (const AttemptResult& held : devices_.Trust(slot->device)) Decide(held);
  if (!cancelled_) dispatcher_.ResumeAfterCanary(slot);
}

void Runner::LoseDevice(const std::string& device, const std::string& reason) {
  if (devices_.IsLost(device)) return;
  std::map<size_t, std::string> held;
  for (const AttemptResult& r : devices_.Lose(device))
    if (const auto* e = std::get_if<Errored>(&r.outcome)) held[r.case_index] = e->detail;
  Emit(DeviceLost{device, reason});
  for (const size_t i : scheduler_.WithdrawFrom(device)) {
    if (scheduler_.IsFinished(i)) continue;  // blocked by one before it
    std::string detail = device + " no longer computes: " + reason;
    if (held.count(i)) detail += " (this case: " + held[i] + ")";
    Finalize(i, Errored{ErrorKind::kDeviceLost, detail}, {});
  }
  for (WorkerSlot* slot : dispatcher_.Slots()) {
    if (slot->device != device && slot->device != "*") continue;
    slot->reserved.reset();
    pool_.Do(slot->worker, [&](int64_t now, Effects* out) {
      slot->worker->Terminate(ErrorKind::kDeviceLost, reason, true, now, out);
    });
  }
}

void Runner::OnEnded(Worker* worker, const ExitStatus& status) {
  const WorkerSlot slot = dispatcher_.Release(worker->id());
  Emit(WorkerEnded{worker->id(), ToString(status), worker->retire_reason()});
  // It never came to be asked.
  if (slot.cross_device && opinions_.IsWaiting(*slot.cross_device))
    return Finalize(*slot.cross_device, opinions_.Take(*slot.cross_device), {});
  if (slot.reserved && !cancelled_ && !scheduler_.IsFinished(slot.reserved->case_index))
    scheduler_.Requeue(slot.reserved->case_index, true);  // it never began
  if (slot.worker->ended_badly() && !cancelled_) OnBadEnd(slot, status);
}

// Its last case is the suspect, if any: it is looked at again, alone.
void Runner::OnBadEnd(const WorkerSlot& slot, const ExitStatus& status) {
  // One that only warmed up, for checks that then were not to run, has nothing to answer for but what the
  // harness had to end it for.
  if (!slot.worker->terminated() && slot.worker->cases_run() == 0) return;
  const Errored* termination = slot.worker->termination();
  const Assignment* last = slot.worker->last_finished();
  Emit(FindingReported{
      {},
      HarnessFinding("worker-exit", "a worker of " + Join({slot.plugins.begin(), slot.plugins.end()}, ", ") +
                                        " ended with " + ToString(status) +
                                        (last ? " after its last case, " + DisplayId(last->ref) : "") +
                                        (termination ? ": " + termination->detail : ""))});
  if (!last || stop_dispatch_ || !CountsAsPass(last->case_index)) return;
  slowness_.Reconsider(last->case_index);
  scheduler_.Requeue(last->case_index, true);
}

}  // namespace cudnn_ci
