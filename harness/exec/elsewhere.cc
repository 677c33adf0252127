// A failure that may be the GPU's, on another GPU: the runner's and the dispatcher's part in it.
#include <algorithm>
#include <utility>

#include "exec/runner.h"

namespace cudnn_ci {
namespace {

// Cases that wait are looked at so many a turn: there may be thousands, and GPUs are few.
constexpr int kLooks = 16;

}  // namespace

// The device of a run of one process cannot be changed, and a nominal one is none.
std::vector<DeviceInfo> AskableDevices(const RunnerOptions& options) {
  if (options.isolation == Isolation::kNone) return {};
  std::vector<DeviceInfo> devices = options.devices;
  devices.insert(devices.end(), options.other_devices.begin(), options.other_devices.end());
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

// Behind all lanes: what a GPU was to judge itself comes first.
void Dispatcher::DispatchElsewhere() {
  int looks = kLooks;
  for (const size_t i : opinions_->Waiting()) {
    if (opinions_->WasAsked(i) || scheduler_->IsSettled(i)) continue;
    if (!start_failure_.empty() || looks-- == 0) return;
    std::vector<std::string> devices = opinions_->DevicesFor(i);
    std::erase_if(devices, [&](const std::string& d) { return devices_->IsLost(d); });
    if (devices.empty()) continue;  // it ends with the run, without an answer
    const auto unused = std::find_if(devices.begin(), devices.end(),
                                     [&](const std::string& d) { return devices_->CanLease(d); });
    if (unused == devices.end() || pool_->live() >= options_.jobs) {
      Lane wanting;
      wanting.device = unused == devices.end() ? devices.front() : *unused;
      MakeRoom(&wanting);
      continue;
    }
    if (!PluginsUnchanged({plan_.cases[i].planned.plugin})) continue;
    cases_->AskElsewhere(i);
    opinions_->SetAsked(i);
    StartWorker(scheduler_->LaneOf(i), *unused, i, false);
  }
}

// A case has come to its end, unless another GPU is to be asked whose fault that is.
void Runner::Conclude(size_t i, Outcome outcome, std::vector<Finding> findings) {
  const bool may_wait = !cancelled_ && !stop_dispatch_;
  if (may_wait && opinions_.Consider(i, outcome, &findings) == SecondOpinions::Course::kWait) return;
  Finalize(i, std::move(outcome), findings);
}

// Whatever it was, the case's outcome stays the one that it has on its own GPU.
void Runner::OnSecondOpinion(const Seat& seat, const AttemptResult& there) {
  const size_t i = there.case_index;
  if (SuspectsDevice(there)) devices_.Suspect(seat.device);
  cases_.CountElsewhere(there);
  if (!opinions_.IsWaiting(i)) return;
  const std::vector<Finding> answer = opinions_.Answer(there, seat.device);
  Finalize(i, opinions_.Take(i), answer);
  // Others of its kind may be known by now.
  for (const size_t other : opinions_.Waiting()) {
    std::vector<Finding> known;
    if (opinions_.WasAsked(other) || !opinions_.IsKnown(other, &known)) continue;
    Finalize(other, opinions_.Take(other), known);
  }
}

// The run is over, or no GPU is left to ask: what waits ends as it stood.
void Runner::EndWaiting() {
  for (const size_t i : opinions_.Waiting()) Finalize(i, opinions_.Take(i), {});
}

}  // namespace cudnn_ci
