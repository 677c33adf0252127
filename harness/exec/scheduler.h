// Which case may run now, and where. Pure bookkeeping over the plan: prerequisites, lanes, device leases.
// Knows no process.
//
// A lane is a stream of cases that could use one process after the other: same plugin (on further devices:
// any whose check is pooled), same subject, same device, same way (shared or one process a case).
#ifndef CUDNN_CI_EXEC_SCHEDULER_H_
#define CUDNN_CI_EXEC_SCHEDULER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/plan.h"

namespace cudnn_ci {

// How cases share processes: shareable ones in warm workers; a process each; all in one, for a debugger.
enum class Isolation { kShared, kProcess, kNone };

struct Lane {
  std::set<std::string> plugins;
  std::string subject, device;  // device: "gpu0", "*" for all devices, "" for none
  bool shared = false;
  bool hide_devices = false;  // its cases use none: seeing them would only cost
  std::deque<size_t> ready;   // in plan order
  std::deque<size_t> alone;   // to run in a process of their own (confirmations, retries), before the others
  bool empty() const { return ready.empty() && alone.empty(); }
};

class Scheduler {
 public:
  Scheduler(const Plan& plan, Isolation isolation);

  // Cases settled by the plan itself and everything they block; call once.
  struct Settled {
    size_t case_index;
    Outcome outcome;
  };
  std::vector<Settled> SettlePlanned();

  // The case has its final outcome. Returns what it blocks, in plan order.
  std::vector<Settled> Settle(size_t case_index, const Outcome& outcome);

  // Puts a case back: to the front of its lane, to run in company (`alone` false) or by itself.
  void Requeue(size_t case_index, bool alone);

  // The lanes with something to do, the one whose next case comes first in the plan first.
  std::vector<Lane*> ReadyLanes();
  size_t Take(Lane* lane, bool alone);
  Lane* LaneOf(size_t case_index) { return lane_of_[case_index]; }

  bool IsSettled(size_t case_index) const { return state_[case_index] == State::kSettled; }
  // Cases that have no outcome yet.
  size_t open() const { return open_; }
  // Cases not settled that use `device`; they leave their lanes.
  std::vector<size_t> WithdrawFrom(const std::string& device);

  // Device leases: never two contexts on one device.
  bool CanLease(const std::string& device) const;  // "" always; "*": all devices free
  void Lease(const std::string& device, int64_t worker);
  void Release(int64_t worker);

 private:
  enum class State : uint8_t { kWaiting, kReady, kRunning, kSettled };
  Lane& LaneFor(const Case& c, Isolation isolation, bool pooled, const std::string& pool_subject);
  void MakeReady(size_t case_index);

  const Plan& plan_;
  std::vector<State> state_;
  std::vector<uint32_t> waiting_for_;
  std::vector<std::vector<uint32_t>> dependents_;
  std::map<std::string, Lane> lanes_;
  std::vector<Lane*> lane_of_;
  std::vector<std::string> blocked_by_;    // display id of what blocks the case; empty: nothing
  std::map<std::string, int64_t> leases_;  // device -> worker
  size_t open_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULER_H_
