// A failure that may be the GPU's, on another GPU: the runner's and the dispatcher's part in it.
#include <algorithm>
#include <utility>

#include "exec/schedule/runner.h"
#include "model/record/facts.h"

namespace cudnn_ci {
namespace {

// Cases that wait are looked at so many a turn: there may be thousands, and GPUs are few.
constexpr int kLooks = 16;
// Free before the run began, on a GPU that the run does not test: another program may be using it.
constexpr int64_t kEnoughToRetry = int64_t{4} << 30;

}  // namespace

// The device of a run of one process cannot be changed, and a nominal one is none.
std::vector<DeviceInfo> AskableDevices(const RunnerOptions& options) {
  if (options.isolation == Isolation::kNone) return {};
  std::vector<DeviceInfo> devices = options.devices;
  for (const DeviceInfo& d : options.other_devices)
    if (HasRoom(options.facts, d.name, kEnoughToRetry, true)) devices.push_back(d);
  return devices;
}

std::vector<std::string> Dispatcher::UuidsOf(const std::string& device) const {
  std::vector<std::string> uuids;
  for (const DeviceInfo& d : options_.devices)
    if (!d.uuid.empty() && (d.name == device || device == "*")) uuids.push_back(d.uuid);
  for (const DeviceInfo& d : options_.other_devices)
    if (d.name == device) uuids.push_back(d.uuid);
  return uuids;
}

// After all queues: a GPU runs its own cases first.
void Dispatcher::DispatchCrossDeviceRetries() {
  int looks = kLooks;
  for (const size_t i : opinions_->Waiting()) {
    if (opinions_->WasAsked(i) || scheduler_->IsFinished(i)) continue;
    if (!start_failure_.empty()) return;
    std::vector<std::string> devices = opinions_->DevicesFor(i);
    std::erase_if(devices, [&](const std::string& d) { return devices_->IsLost(d); });
    if (devices.empty()) {
      unanswerable_.push_back(i);
      continue;
    }
    if (looks-- == 0) return;
    const auto unused = std::find_if(devices.begin(), devices.end(),
                                     [&](const std::string& d) { return devices_->CanLease(d); });
    if (unused == devices.end() || pool_->live() >= options_.jobs) {
      CaseQueue wanting;
      wanting.device = unused == devices.end() ? devices.front() : *unused;
      MakeRoom(&wanting);
      continue;
    }
    if (!PluginsUnchanged({plan_.cases[i].planned.plugin})) {
      unanswerable_.push_back(i);
      continue;
    }
    cases_->AskAnotherDevice(i);
    opinions_->SetAsked(i);
    StartWorker(scheduler_->QueueOf(i), *unused, i, false);
  }
}

// A case has come to its end, unless another GPU is to be asked whose fault that is.
void Runner::Conclude(size_t i, Outcome outcome, std::vector<Finding> findings) {
  const bool may_wait = !cancelled_ && !stop_dispatch_;
  if (may_wait && slowness_.Consider(i, outcome)) return;
  if (may_wait && opinions_.Consider(i, outcome, &findings) == SecondOpinions::Course::kWait) return;
  Finalize(i, std::move(outcome), findings);
}

// Whatever it was, the case's outcome stays the one that it has on its own GPU.
void Runner::OnSecondOpinion(const WorkerSlot& slot, const AttemptResult& there) {
  const size_t i = there.case_index;
  if (SuspectsDevice(there)) devices_.Suspect(slot.device);
  cases_.CountAttempt(there);
  dispatcher_.SlotOf(*slot.worker).cross_device.reset();
  if (!opinions_.IsWaiting(i)) return;
  std::vector<Finding> answer;
  if (opinions_.Answer(there, slot.device, &answer) == SecondOpinions::Course::kWait && !cancelled_) return;
  Finalize(i, opinions_.Take(i), answer);
  // Others of its kind may be known by now.
  for (const size_t other : opinions_.Waiting()) {
    std::vector<Finding> known;
    if (opinions_.WasAsked(other) || !opinions_.IsKnown(other, &known)) continue;
    Finalize(other, opinions_.Take(other), known);
  }
}

// No GPU is left to ask, or the plugin is not the one that failed: what waits for that ends as it stood.
void Runner::EndUnanswerable() {
  for (const size_t i : dispatcher_.TakeUnanswerable())
    if (opinions_.IsWaiting(i)) Finalize(i, opinions_.Take(i), {});
}

// The run is over: what waits ends as it stood.
void Runner::EndWaiting() {
  for (const size_t i : opinions_.Waiting()) Finalize(i, opinions_.Take(i), {});
  for (const size_t i : slowness_.Waiting())
    Finalize(i, Passed{}, {slowness_.NotRepeated(i, "the run ended before it was repeated")});
}

}  // namespace cudnn_ci
