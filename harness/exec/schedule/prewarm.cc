// Processes that the dispatcher starts before their turn, because the driver takes its time.
#include <algorithm>

#include "exec/schedule/dispatcher.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kEnoughToPrewarm = int64_t{4} << 30;  // bytes free before the run began
// Cases of a stream behind which the next one's context would be waited for.
constexpr size_t kSoonDone = 4;

}  // namespace

// A context costs up to 400 ms, and the driver creates them one after the other. So the first warm worker of
// each device makes its own while the checks before it still run, and the next one where the first has little
// to do. Those are the times when there are two contexts. Not where it could change a verdict.
void Dispatcher::Prewarm() {
  for (const DeviceInfo& device : options_.devices) PrewarmOn(device);
}

void Dispatcher::PrewarmOn(const DeviceInfo& device) {
  // One slot stays for the checks that come first.
  if (options_.isolation != Isolation::kShared || pool_->live() + 1 >= options_.jobs || !may_prewarm_) return;
  if (device.uuid.empty() || !HasRoom(options_.facts, device.name, kEnoughToPrewarm, true)) return;
  for (size_t i = 0; i < plan_.cases.size(); ++i) {
    CaseQueue* queue = scheduler_->QueueOf(i);
    if (scheduler_->IsFinished(i) || plan_.cases[i].predetermined || !queue->shared || queue->co_scheduled)
      continue;
    if (queue->device != device.name || !WarmWorkersOf(queue).empty()) continue;
    if (PluginsUnchanged(queue->plugins)) StartWorker(queue, device.name, std::nullopt, true);
    return;
  }
}

// The driver makes contexts one after the other, and whoever tests it waits among them: yet what the others
// compile meanwhile takes longer than that wait. Not where their memory could be missed.
bool Dispatcher::MayWarmBeside(const std::string& device) const {
  return HasRoom(options_.facts, device, kEnoughForOthers, false);
}

// What is not the only one of its queue makes no context before its turn, unless there is room for all.
void Dispatcher::BeginPrewarmed(WorkerSlot* slot) {
  const bool context =
      !slot->prepared && (WarmWorkersOf(slot->queue).size() <= 1 || MayWarmBeside(slot->device));
  pool_->Do(slot->worker, [&](int64_t, Effects* out) {
    const wire::ToWorker warm = wire::Warm{}, prepare = wire::Prepare{};
    out->emplace_back(SendPacket{wire::Encode(context ? warm : prepare)});
  });
  // A case that leads the queue's worker is what others wait for, and opens no library of the image.
  if (context && slot->sharing > 1 && slot->queue->leading == 0) PrepareAhead(slot);
}

void Dispatcher::PrepareAhead(WorkerSlot* slot) {
  for (size_t i = slot->queue->first; i < plan_.cases.size(); ++i) {
    const Case& c = plan_.cases[i];
    if (scheduler_->QueueOf(i) != slot->queue || !scheduler_->IsWaiting(i) || c.predetermined) continue;
    if (!c.slow || !c.concurrent || !prepared_ahead_.insert(i).second) continue;
    slot->ahead = i;
    const Assignment assignment = AssignmentOf(i, true);
    pool_->Do(slot->worker, [&](int64_t, Effects* out) { slot->worker->Prepare(assignment, out); });
    return;
  }
}

// Not before the leading case has ended, where it would wait for that context: everything waits for it.
void Dispatcher::PrewarmNext() {
  for (WorkerSlot* slot : Slots()) {
    CaseQueue* queue = slot->queue;
    if (!queue || !queue->shared || slot->prewarmed || !slot->worker->shared()) continue;
    if (queue->leading > 0 && !MayWarmBeside(slot->device)) continue;
    if (!followed_.insert(queue).second) continue;
    size_t open = 0;
    for (size_t i = 0; i < plan_.cases.size(); ++i)
      open += scheduler_->QueueOf(i) == queue && !scheduler_->IsFinished(i);
    for (const DeviceInfo& device : options_.devices)
      if (device.name == slot->device && open <= kSoonDone) PrewarmOn(device);
  }
}

// The driver's start takes as long as a context. So the process of a pooled check that comes next on a device
// does that, and nothing else, while another process still has the device: there is one context all the same.
void Dispatcher::Prepare() {
  for (WorkerSlot* slot : Slots())
    if (slot->prepared && scheduler_->IsFinished(*slot->prepared)) CancelPrepared(slot);
  if (options_.isolation != Isolation::kShared || !start_failure_.empty() || !may_prewarm_) return;
  PrewarmNext();
  PrepareOthers();
  for (const size_t i : preparable_) {
    if (pool_->live() + 1 >= options_.jobs) return;  // one slot stays for what need not wait
    const std::string& device = plan_.cases[i].planned.ref.device;
    if (device.empty() || !scheduler_->IsNext(i) || devices_->CanLease(device) || IsPreparing(device))
      continue;
    // A second attempt is a fresh process from the beginning.
    if (cases_->NextOf(i).number > 1 || !PluginsUnchanged({plan_.cases[i].planned.plugin})) continue;
    // One that ended before its turn is not made again: its case starts a process that tells why.
    if (!prepared_once_.insert(i).second) continue;
    StartWorker(scheduler_->QueueOf(i), device, i, true);
  }
}

bool Dispatcher::IsPreparing(const std::string& device) const {
  return std::any_of(slots_.begin(), slots_.end(), [&](const auto& entry) {
    return entry.second.prepared && entry.second.device == device;
  });
}

WorkerSlot* Dispatcher::PreparedFor(size_t case_index) {
  for (auto& [id, slot] : slots_)
    if (slot.prepared == case_index && slot.worker->accepting()) return &slot;
  return nullptr;
}

void Dispatcher::BeginPrepared(WorkerSlot* slot, CaseQueue* queue) {
  slot->prepared.reset();
  slot->reserved = AssignmentOf(scheduler_->Take(queue, false), false);
  TakeLease(slot);
  if (!slot->canary_pending) ResumeAfterCanary(slot);
}

// Its case does not come any more, or its slot is needed. What hangs in the driver's start is no one's fault
// then.
void Dispatcher::CancelPrepared(WorkerSlot* slot) {
  pool_->Do(slot->worker, [&](int64_t now, Effects* out) {
    slot->worker->Terminate(CancelledBy(Cancellation::kCaseGone), false, now, out);
  });
}

}  // namespace cudnn_ci
