// Dispatcher: who may use a device when.
#include <algorithm>

#include "exec/schedule/dispatcher.h"
#include "model/record/facts.h"

namespace cudnn_ci {

// What is unknown NVML refuses, as inside MIG.
bool HasRoom(const Facts& facts, const std::string& device, int64_t bytes, bool if_unknown) {
  const GpuFacts gpu = FactsOfGpu(facts, device);
  return (gpu.compute_mode.empty() || gpu.compute_mode == "default") &&
         (gpu.memory_free_bytes ? *gpu.memory_free_bytes >= bytes : if_unknown);
}

// Concurrently with others only where neither can run short of memory for it.
Use Dispatcher::UseOf(const CaseQueue& queue, bool alone) const {
  if (alone || queue.device == "*" || (!queue.shared && MostWorkersOnDevice(queue) == 1)) return Use::kAlone;
  if (!queue.co_scheduled) return Use::kShared;
  const bool host_has_room = host_room_ >= options_.co_scheduled_host_bytes;
  return host_has_room && HasRoom(options_.facts, queue.device, kEnoughForOthers, false) ? Use::kCoScheduled
                                                                                         : Use::kAlone;
}

bool Dispatcher::MustComeLater(const CaseQueue& queue) const {
  if (scheduler_->open_on_devices() == 0 || queue.ready.empty() || !scheduler_->IsAside(queue.ready.front()))
    return false;
  if (scheduler_->open_prerequisites() > 0) return true;
  const auto without_device =
      std::count_if(slots_.begin(), slots_.end(), [](const auto& s) { return s.second.device.empty(); });
  return without_device >= std::max(1, options_.jobs - slots_of_devices_);
}

// A prewarmed worker's turn has come: it needs the lease like any other.
bool Dispatcher::TakeLease(WorkerSlot* slot) {
  if (!slot->prewarmed) return true;
  // The canary is the first thing that a process does: what a library did before it says nothing of the GPU.
  if (slot->worker->only_prepares() && devices_->NeedsCanary(slot->device)) {
    CancelPrepared(slot);
    return false;
  }
  const Use use = slot->worker->shared() ? Use::kShared : Use::kAlone;
  if (!devices_->CanLease(slot->device, use, Joinable(slot->queue))) return false;
  devices_->Lease(slot->device, slot->worker->id(), use, slot->queue->group);
  slot->prewarmed = false;
  if (devices_->NeedsCanary(slot->device)) BeginWithCanary(slot);
  return true;
}

}  // namespace cudnn_ci
