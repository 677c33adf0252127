// Dispatcher: who may use a device when.
#include "exec/dispatcher.h"
#include "model/facts.h"

namespace cudnn_ci {
namespace {

// Free before the run began.
constexpr int64_t kEnoughForEarly = int64_t{4} << 30, kEnoughForTwo = int64_t{32} << 30;
// Cases of a stream behind which the next one's context would be waited for.
constexpr size_t kSoonDone = 4;

}  // namespace

// A context costs up to 400 ms, and the driver creates them one after the other. So the first warm worker of
// each device makes its own while the checks before it still run, and the next one where the first has little
// to do. Those are the times when there are two contexts. Not where it could change a verdict.
void Dispatcher::StartEarly() {
  for (const DeviceInfo& device : options_.devices) StartEarlyOn(device);
}

void Dispatcher::StartEarlyOn(const DeviceInfo& device) {
  // One slot stays for the checks that come first.
  if (options_.isolation != Isolation::kShared || pool_->live() + 1 >= options_.jobs) return;
  if (device.uuid.empty() || !HasRoom(device.name, kEnoughForEarly, true)) return;
  for (size_t i = 0; i < plan_.cases.size(); ++i) {
    Lane* lane = scheduler_->LaneOf(i);
    if (scheduler_->IsSettled(i) || plan_.cases[i].settled || !lane->shared || lane->beside) continue;
    if (lane->device != device.name || SharedWorkerOf(lane)) continue;
    if (PluginsUnchanged(lane->plugins)) StartWorker(lane, device.name, std::nullopt, true);
    return;
  }
}

// In the default compute mode, and not short of memory. What is unknown NVML refuses, as inside MIG.
bool Dispatcher::HasRoom(const std::string& device, int64_t bytes, bool if_unknown) const {
  const GpuFacts gpu = FactsOfGpu(options_.facts, device);
  return (gpu.compute_mode.empty() || gpu.compute_mode == "default") &&
         (gpu.memory_free_bytes ? *gpu.memory_free_bytes >= bytes : if_unknown);
}

// Beside others only where neither can run short of memory for it.
Use Dispatcher::UseOf(const Lane& lane, bool alone) const {
  if (alone || !lane.shared || lane.device == "*") return Use::kAlone;
  if (!lane.beside) return Use::kShared;
  return HasRoom(lane.device, kEnoughForTwo, false) ? Use::kBeside : Use::kAlone;
}

// An early worker's turn has come: it needs the lease like any other.
bool Dispatcher::TakeLease(Seat* seat) {
  if (!seat->early) return true;
  if (!devices_->CanLease(seat->device, Use::kShared)) return false;
  devices_->Lease(seat->device, seat->worker->id(), Use::kShared);
  seat->early = false;
  if (devices_->NeedsCanary(seat->device)) BeginWithCanary(seat);
  size_t open = 0;
  for (size_t i = 0; i < plan_.cases.size(); ++i)
    open += scheduler_->LaneOf(i) == seat->lane && !scheduler_->IsSettled(i);
  for (const DeviceInfo& device : options_.devices)
    if (device.name == seat->device && open <= kSoonDone) StartEarlyOn(device);
  return true;
}

}  // namespace cudnn_ci
