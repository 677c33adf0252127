// Who runs what: lanes to workers, devices to lanes, within the job slots.
#include <stdlib.h>

#include <algorithm>

#include "base/time.h"
#include "exec/runner.h"

namespace cudnn_ci {
namespace {

constexpr size_t kRunsAhead = 16;  // hides the round trip; more would only lengthen what a crash gives back

}  // namespace

int Runner::LiveWorkers() const {
  int n = 0;
  for (const auto& [id, slot] : slots_) n += slot->abandoned ? 0 : 1;
  return n;
}

Runner::Slot* Runner::SharedWorkerOf(const Lane* lane) {
  for (auto& [id, slot] : slots_)
    if ((slot->lane == lane || options_.isolation == Isolation::kNone) && slot->worker->shared() &&
        slot->worker->accepting())
      return slot.get();
  return nullptr;
}

void Runner::Dispatch() {
  const std::vector<Lane*> lanes = scheduler_.ReadyLanes();
  for (auto& [device, state] : device_states_) {
    if (!state.suspect || state.held.empty() || !scheduler_.CanLease(device) ||
        LiveWorkers() >= options_.jobs)
      continue;
    // Whoever uses the device next begins with the canary; a process for it alone only when nobody comes.
    const std::string& name = device;
    const auto uses = [&](const Lane* lane) { return lane->device == name; };
    if (!stop_dispatch_ && std::any_of(lanes.begin(), lanes.end(), uses)) continue;
    StartCanary(device);
    break;  // the map may have changed
  }
  if (stop_dispatch_) {
    for (auto& [id, slot] : slots_) {
      std::vector<Effect> effects;
      if (slot->worker->idle()) slot->worker->Shutdown(MonotonicNs(), &effects);
      Apply(slot.get(), &effects, MonotonicNs());
    }
    return;
  }
  for (Lane* lane : scheduler_.ReadyLanes()) {
    SettleKnown(lane);
    if (lane->empty()) continue;
    if (lane->shared && !lane->ready.empty()) {
      if (Slot* slot = SharedWorkerOf(lane)) {
        if (!TakeLease(slot))
          MakeRoom(lane);
        else if (!slot->canary_pending)
          Fill(slot);
        continue;
      }
    }
    if (spawn_failed_) return;
    if (LiveWorkers() >= options_.jobs || !scheduler_.CanLease(lane->device)) {
      MakeRoom(lane);
      continue;
    }
    // What was asked to run alone goes first; a device's shared worker was shut down for it by MakeRoom.
    if (!lane->alone.empty())
      StartWorker(lane, lane->device, scheduler_.Take(lane, true));
    else if (lane->shared)
      StartWorker(lane, lane->device, std::nullopt);
    else
      StartWorker(lane, lane->device, scheduler_.Take(lane, false));
  }
  // Warm workers nobody will need again.
  for (auto& [id, slot] : slots_) {
    if (!slot->worker->shared() || !slot->worker->idle() || slot->worker->ending()) continue;
    if (scheduler_.open() > 0) continue;
    std::vector<Effect> effects;
    slot->worker->Shutdown(MonotonicNs(), &effects);
    Apply(slot.get(), &effects, MonotonicNs());
  }
}

// A context costs up to 400 ms, and the driver creates them one after the other. So the first warm worker of
// each device makes its own while the checks before it still run. On the first device this is the one time
// that there are two contexts; on the others all checks share that one. Not where it could change a verdict.
void Runner::StartEarly() {
  if (options_.isolation != Isolation::kShared) return;
  for (const DeviceInfo& device : options_.devices) {
    if (LiveWorkers() + 1 >= options_.jobs) return;  // one slot stays for the checks that come first
    if (device.uuid.empty() || !HasRoomForEarly(device.name)) continue;
    for (size_t i = 0; i < plan_.cases.size(); ++i) {
      Lane* lane = scheduler_.LaneOf(i);
      if (plan_.cases[i].settled || !lane->shared || lane->device != device.name) continue;
      StartWorker(lane, device.name, std::nullopt, true);
      break;
    }
  }
}

// By the facts: in the default compute mode, and not short of memory. What is unknown (NVML refuses it inside
// MIG) is not little.
bool Runner::HasRoomForEarly(const std::string& device) const {
  constexpr int64_t kEnoughMemory = int64_t{4} << 30;
  const std::string key = "gpu." + device.substr(3) + ".";
  for (const auto& [subject, facts] : options_.facts.by_subject) {
    const auto mode = facts.find(key + "compute_mode");
    if (mode != facts.end() && mode->second != "default") return false;
    const auto memory = facts.find(key + "memory_free_bytes");
    if (memory != facts.end() && strtoll(memory->second.c_str(), nullptr, 10) < kEnoughMemory) return false;
  }
  return true;
}

// An early worker's turn has come: it needs the lease like any other.
bool Runner::TakeLease(Slot* slot) {
  if (!slot->early) return true;
  if (!scheduler_.CanLease(slot->device)) return false;
  scheduler_.Lease(slot->device, slot->worker->id());
  slot->early = false;
  if (NeedsCanaryFirst(slot->device)) {
    std::vector<Effect> effects;
    slot->canary_pending = true;
    slot->worker->RequestCanary(MonotonicNs(), &effects);
    Apply(slot, &effects, MonotonicNs());
  }
  return true;
}

// Confirmations that have become needless while they waited.
void Runner::SettleKnown(Lane* lane) {
  while (!lane->alone.empty()) {
    const size_t i = lane->alone.front();
    const auto history = histories_.find(i);
    if (history == histories_.end() || rules_.StillToConfirm(plan_.cases[i], &history->second)) return;
    const Outcome outcome = history->second.suspicion->outcome;
    scheduler_.Take(lane, true);
    Finalize(i, outcome, {});
  }
}

// An idle warm worker holds a slot, perhaps a device: it goes when a lane that cannot start needs either.
void Runner::MakeRoom(const Lane* wanting) {
  for (auto& [id, slot] : slots_) {
    if (!slot->worker->shared() || !slot->worker->idle() || slot->worker->ending() || slot->canary_pending)
      continue;
    if (slot->early || (slot->lane && !slot->lane->ready.empty())) continue;
    const bool holds_device = !slot->device.empty() && (slot->device == wanting->device ||
                                                        wanting->device == "*" || slot->device == "*");
    if (!holds_device && LiveWorkers() < options_.jobs) continue;
    std::vector<Effect> effects;
    slot->worker->Shutdown(MonotonicNs(), &effects);
    Apply(slot.get(), &effects, MonotonicNs());
    return;
  }
}

void Runner::Fill(Slot* slot) {
  std::vector<Effect> effects;
  const int64_t now = MonotonicNs();
  Lane* lane = slot->lane;
  const auto take = [&](Lane* from) {
    while (!from->ready.empty() && slot->worker->queued() < kRunsAhead && slot->worker->accepting())
      slot->worker->Assign(MakeAssignment(scheduler_.Take(from, false), AttemptMode::kShared), now, &effects);
  };
  if (options_.isolation == Isolation::kNone) {
    for (Lane* l : scheduler_.ReadyLanes()) take(l);
  } else {
    take(lane);
  }
  Apply(slot, &effects, now);
}

}  // namespace cudnn_ci
