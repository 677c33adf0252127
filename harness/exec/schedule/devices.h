// What is known of the run's devices: who holds them, which are suspect since something went wrong on them,
// which results wait for a canary's answer, which are lost. Pure bookkeeping.
#ifndef CUDNN_CI_EXEC_SCHEDULE_DEVICES_H_
#define CUDNN_CI_EXEC_SCHEDULE_DEVICES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "exec/workers/effects.h"
#include "model/record/event.h"

namespace cudnn_ci {

struct SharingGroup;

// How a worker uses its device: alone; as a warm worker or with a concurrent case, with others of its group;
// co-scheduled with such ones.
enum class Use { kAlone, kShared, kCoScheduled };

class DeviceTable {
 public:
  // `testable`: false where no canary can be run (one process for everything). A device without a uuid is
  // nominal: there is nothing to test.
  DeviceTable(const std::vector<DeviceInfo>& devices, bool testable);

  // Leases: never two workers on one device, but for sharing ones of one `group` (no other's, and never
  // without one), and one that is co-scheduled with such. "" is no device and always free; "*" is all of
  // them.
  bool CanLease(const std::string& device, Use use = Use::kAlone, const SharingGroup* group = nullptr) const;
  void Lease(const std::string& device, int64_t worker, Use use = Use::kAlone,
             const SharingGroup* group = nullptr);
  void Release(int64_t worker);
  // Whether anything ever ran concurrently with a warm worker there: what that one reported of memory may be
  // of both.
  // Whether a warm worker has a lease of it now.
  bool IsShared(const std::string& device) const;
  bool WasShared(const std::string& device) const { return shared_.count(device) > 0; }

  bool CanBeTested(const std::string& device) const;
  // Something went wrong on it: whose fault it is depends on whether it still computes.
  void Suspect(const std::string& device) { states_[device].suspect = true; }
  bool NeedsCanary(const std::string& device) const;
  // A result that waits until the device was tested.
  void Hold(const std::string& device, AttemptResult result) {
    states_[device].held.push_back(std::move(result));
  }
  // Suspect devices that are free and on which results wait.
  std::vector<std::string> WaitingForCanary() const;
  bool Holding() const;

  // The device computes: it is trusted again. Returns the results that waited for it.
  std::vector<AttemptResult> Trust(const std::string& device);
  // All results that wait, whatever the devices do: for the end of a run that was cut short.
  std::vector<AttemptResult> TakeHeld();
  bool IsLost(const std::string& device) const;
  // The device does not compute, for the rest of the run. Returns the results that waited for it.
  std::vector<AttemptResult> Lose(const std::string& device);
  // The devices a name stands for: all of them for "*", itself for another.
  std::vector<std::string> Named(const std::string& device) const;

 private:
  struct State {
    bool suspect = false, lost = false;
    std::vector<AttemptResult> held;
  };
  const State* Find(const std::string& device) const;

  std::vector<std::string> names_, testable_;
  std::map<std::string, State> states_;
  struct Holder {
    std::string device;
    int64_t worker;
    Use use;
    const SharingGroup* group;  // of a warm worker; is not looked into
  };
  std::vector<Holder> leases_;
  std::set<std::string> shared_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_DEVICES_H_
