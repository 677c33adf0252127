// Which case may run now, and in which stream. Pure bookkeeping over the plan: prerequisites and queues.
// Knows no process and no device's state.
//
// A queue holds cases that could use one process after the other: same subject, same device, same way
// (shared or one process a case), and same plugin. The concurrent cases of the tool's own plugins
// share a queue, and so do pooled checks on further devices. Several warm workers may serve a queue at a
// time, and those of several subjects may do so on one device (SharingGroup).
#ifndef CUDNN_CI_EXEC_SCHEDULE_SCHEDULER_H_
#define CUDNN_CI_EXEC_SCHEDULE_SCHEDULER_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/plan/plan.h"

namespace cudnn_ci {

// How cases share processes: shareable ones in warm workers; a process each; all in one, for a debugger.
enum class Isolation { kShared, kProcess, kNone };

// Whether the case may run while a warm worker uses its device: a shareable one of the framework layer works
// in its own child process.
bool IsCoScheduled(const Case& c);

// A slow case (Case::slow) takes as long as so many others.
inline constexpr size_t kSlowCase = 8;

struct CaseQueue;

// The queues on a device that differ by their subject alone. Where their cases are concurrent, processes of
// all of them may use the device at the same time.
struct SharingGroup {
  std::vector<CaseQueue*> queues;
};

struct CaseQueue {
  SharingGroup* group = nullptr;  // the scheduler's
  std::set<std::string> plugins;
  std::string subject, device;  // device: "gpu0", "*" for all devices, "" for none
  bool shared = false;
  bool hide_devices = false;  // its cases use none: seeing them would only cost
  bool co_scheduled = false;  // its cases may run while a warm worker uses the device
  size_t first = 0;           // its first case in the plan
  size_t concurrent = 0;      // its cases that several processes may run at a time, with an outcome or not
  size_t slow = 0;            // of these the slow ones
  size_t single = 0;   // its other cases that have no outcome; while there are any, one worker serves it
  size_t leading = 0;  // of these the ones of other checks, which come first (Case::leading)
  // The cases that need its device for themselves and that cases of the queue wait for.
  std::set<size_t> exclusive_prerequisites;
  // In plan order, but that what is aside (Scheduler::IsAside) stands behind all others.
  std::deque<size_t> ready;
  // To run in a process of their own (confirmations, retries), before the others; in the same order, so that
  // it does not matter which of several workers was faster.
  std::deque<size_t> alone;
  bool empty() const { return ready.empty() && alone.empty(); }
};

class Scheduler {
 public:
  Scheduler(const Plan& plan, Isolation isolation);

  // Cases predetermined by the plan and everything they block; call once.
  struct Ended {
    size_t case_index;
    Outcome outcome;
  };
  std::vector<Ended> FinishPredetermined();

  // The case has its final outcome. Returns the cases that are blocked and whose prerequisites have all
  // ended, in plan order. Each names the first of its prerequisites, in plan order, that did not pass (or
  // what blocks that one): the same whichever ended first. A case that is finished again releases and blocks
  // nothing more.
  std::vector<Ended> Finish(size_t case_index, const Outcome& outcome);
  // At the end of a run that was cut short: what is blocked by what is known so far.
  std::vector<Ended> FinishBlocked();

  // Puts a case back: to its place in the queue, to run in a shared process (`alone` false), or by itself.
  void Requeue(size_t case_index, bool alone);

  // The case's first attempt is by itself.
  void RunAlone(size_t case_index) {
    alone_[case_index] = true;
    if (state_[case_index] != State::kReady) return;
    LeaveQueue(case_index);
    MakeReady(case_index);
  }

  // The queues with something to do, the one whose next case comes first in the plan first.
  std::vector<CaseQueue*> ReadyQueues();
  size_t Take(CaseQueue* queue, bool alone);
  // Takes this one of the queue's ready cases.
  void TakeReady(CaseQueue* queue, size_t case_index);
  CaseQueue* QueueOf(size_t case_index) { return queue_of_[case_index]; }

  // Whether a case that needs the queue's device for itself and comes before the queue's next one has not
  // ended. While warm workers have the device (`in_use`) it could not run either, so that only those count
  // that others wait for.
  bool IsAwaitedBy(const CaseQueue& queue, bool in_use) const;

  // Whether an exclusive prerequisite of the queue runs, or waits only for cases that run and for the device.
  // What the queue would begin now had the device first, and its other cases would wait longer.
  bool IsHeldBack(const CaseQueue& queue) const;
  // The same of any queue of its group. Asked before the first warm worker of a group has the device: once
  // one has, the prerequisites of another subject wait until it is free.
  bool IsGroupHeldBack(const CaseQueue& queue) const {
    const auto is_held_back = [this](const CaseQueue* q) { return IsHeldBack(*q); };
    return std::any_of(queue.group->queues.begin(), queue.group->queues.end(), is_held_back);
  }

  // Whether all that the case still waits for is cases that run, and then its device.
  bool IsNext(size_t case_index) const;
  // Whether the case still waits for others.
  bool IsWaiting(size_t case_index) const { return state_[case_index] == State::kWaiting; }
  bool IsFinished(size_t case_index) const { return state_[case_index] == State::kFinished; }
  // Whether the case is a prerequisite of others.
  bool IsAwaited(size_t case_index) const { return !dependents_[case_index].empty(); }
  // Whether the case uses no device and no other one waits for it.
  bool IsAside(size_t case_index) const {
    return queue_of_[case_index]->device.empty() && !IsAwaited(case_index);
  }
  // Cases that have no outcome yet; of these the ones that use a device, and the ones that others wait for.
  size_t open() const { return open_; }
  size_t open_on_devices() const { return open_on_devices_; }
  size_t open_prerequisites() const { return open_prerequisites_; }
  // Cases not finished and not blocked that use `device`; they leave their queues.
  std::vector<size_t> WithdrawFrom(const std::string& device);
  // Cases of a plugin that are not finished, not blocked and do not run; they leave their queues, and so
  // does the plugin.
  std::vector<size_t> WithdrawPlugin(const std::string& plugin);

 private:
  enum class State : uint8_t { kWaiting, kReady, kRunning, kFinished };
  static constexpr uint32_t kNobody = UINT32_MAX;
  // The queue of a case like `like`; the case joins it.
  CaseQueue& QueueFor(size_t case_index, size_t like, Isolation isolation, const std::string& group,
                      const std::string& pool_subject);
  // For each leading case the first one whose warm worker it opens; itself for all others.
  std::vector<size_t> Followers() const;
  // In a queue.
  std::pair<bool, size_t> PlaceOf(size_t case_index) const { return {IsAside(case_index), case_index}; }
  void Insert(size_t case_index, std::deque<size_t>* queue) const;
  void MakeReady(size_t case_index);
  // The case has an outcome now; it has none any more.
  void Close(size_t case_index);
  void Reopen(size_t case_index);
  Ended Block(uint32_t case_index);
  void LeaveQueue(size_t case_index);

  const Plan& plan_;
  std::vector<State> state_;
  std::vector<bool> leads_;            // whether it opens the worker of others
  std::vector<bool> alone_;            // whether it is never to run in a shared process
  std::vector<bool> reported_;         // whether the case's end was counted by those that need it
  std::vector<uint32_t> waiting_for_;  // prerequisites that have not ended
  // The first prerequisite, in plan order, that is known not to have passed; kNobody: none is.
  std::vector<uint32_t> blocker_;
  std::vector<std::vector<uint32_t>> dependents_;
  std::map<std::string, CaseQueue> queues_;
  std::map<std::string, SharingGroup> groups_;
  std::vector<CaseQueue*> queue_of_;
  std::vector<size_t> exclusive_;  // cases that need their device for themselves, in plan order
  size_t open_ = 0, open_on_devices_ = 0, open_prerequisites_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_SCHEDULER_H_
