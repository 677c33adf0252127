#include "exec/schedule/devices.h"

#include <algorithm>
#include <utility>

namespace cudnn_ci {

DeviceTable::DeviceTable(const std::vector<DeviceInfo>& devices, bool testable) {
  for (const DeviceInfo& d : devices) {
    names_.push_back(d.name);
    if (testable && !d.uuid.empty()) testable_.push_back(d.name);
  }
}

bool DeviceTable::CanLease(const std::string& device, Use use, const SharingGroup* group) const {
  if (device.empty()) return true;
  const auto refuses = [&](const Holder& h) {
    const bool met = device == "*" || h.device == "*" || h.device == device;
    const bool together =
        (use == Use::kCoScheduled && h.use == Use::kShared) ||
        (use == Use::kShared && h.use == Use::kCoScheduled) ||
        (use == Use::kShared && h.use == Use::kShared && group != nullptr && group == h.group);
    return met && !together;
  };
  return std::none_of(leases_.begin(), leases_.end(), refuses);
}

void DeviceTable::Lease(const std::string& device, int64_t worker, Use use, const SharingGroup* group) {
  if (!device.empty()) leases_.push_back({device, worker, use, group});
  if (use == Use::kCoScheduled) shared_.insert(device);
}

bool DeviceTable::IsShared(const std::string& device) const {
  return std::any_of(leases_.begin(), leases_.end(),
                     [&](const Holder& h) { return h.use == Use::kShared && h.device == device; });
}

void DeviceTable::Release(int64_t worker) {
  std::erase_if(leases_, [&](const Holder& h) { return h.worker == worker; });
}

const DeviceTable::State* DeviceTable::Find(const std::string& device) const {
  const auto found = states_.find(device);
  return found == states_.end() ? nullptr : &found->second;
}

bool DeviceTable::CanBeTested(const std::string& device) const {
  return std::find(testable_.begin(), testable_.end(), device) != testable_.end();
}

bool DeviceTable::NeedsCanary(const std::string& device) const {
  const State* state = Find(device);
  return state && state->suspect && CanBeTested(device);
}

std::vector<std::string> DeviceTable::WaitingForCanary() const {
  std::vector<std::string> out;
  for (const auto& [name, state] : states_)
    if (state.suspect && !state.held.empty() && CanLease(name)) out.push_back(name);
  return out;
}

bool DeviceTable::Holding() const {
  return std::any_of(states_.begin(), states_.end(), [](const auto& s) { return !s.second.held.empty(); });
}

std::vector<AttemptResult> DeviceTable::Trust(const std::string& device) {
  State& state = states_[device];
  state.suspect = false;
  return std::exchange(state.held, {});
}

std::vector<AttemptResult> DeviceTable::TakeHeld() {
  std::vector<AttemptResult> out;
  for (auto& [name, state] : states_) {
    std::move(state.held.begin(), state.held.end(), std::back_inserter(out));
    state.held.clear();
  }
  return out;
}

bool DeviceTable::IsLost(const std::string& device) const {
  const State* state = Find(device);
  return state && state->lost;
}

std::vector<AttemptResult> DeviceTable::Lose(const std::string& device) {
  State& state = states_[device];
  state.lost = true;
  state.suspect = false;
  return std::exchange(state.held, {});
}

std::vector<std::string> DeviceTable::Named(const std::string& device) const {
  if (device != "*") return {device};
  return names_;
}

}  // namespace cudnn_ci
