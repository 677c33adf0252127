// Who runs what: queues to workers, devices to queues, within the job slots. Decides which process is started
// and which case it gets; what comes of it is the runner's.
#ifndef CUDNN_CI_EXEC_SCHEDULE_DISPATCHER_H_
#define CUDNN_CI_EXEC_SCHEDULE_DISPATCHER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exec/schedule/cases.h"
#include "exec/schedule/devices.h"
#include "exec/schedule/portions.h"
#include "exec/schedule/runner_options.h"
#include "exec/schedule/scheduler.h"
#include "exec/schedule/second_opinions.h"
#include "exec/schedule/sharing.h"
#include "exec/schedule/slowness.h"
#include "exec/workers/case_worker.h"
#include "exec/workers/pool.h"

namespace cudnn_ci {

// A worker's place in the run.
struct WorkerSlot {
  CaseWorker* worker = nullptr;
  CaseQueue* queue = nullptr;  // null: a canary alone
  std::set<std::string> plugins;
  std::string device;  // "gpu0", "*" for all, "" for none
  bool canary_pending = false;
  int sharing = 1;         // processes that may use its device at a time, itself among them; what it was told
  bool prewarmed = false;  // started before its turn, without the device's lease
  std::optional<size_t> prepared;      // the case that it was started for prewarmed, in its own process
  std::optional<size_t> ahead;         // the case that it prepares before its first one, until it has that
  std::optional<Assignment> reserved;  // waits for the canary
  std::optional<size_t> cross_device;  // the case of another GPU that it asks this one about
  int64_t baseline_rss = 0;            // bytes, once warm; 0: not measured yet
  std::vector<FindingReported> kept;   // of IsBesideOthers, until it is known what they count for
  // Nobody waits for what it does.
  bool OnlyPrepares() const { return prepared || worker->only_prepares(); }
  // Has one case, which runs while other processes use its device.
  bool IsBesideOthers() const { return sharing > 1 && !worker->shared(); }
};

// Bytes free before the run began with which no process misses the memory of others beside it.
inline constexpr int64_t kEnoughForOthers = int64_t{32} << 30;

// In the default compute mode, and not short of memory before the run began.
bool HasRoom(const Facts& facts, const std::string& device, int64_t bytes, bool if_unknown);

class Dispatcher {
 public:
  Dispatcher(const Plan& plan, const Catalog& catalog, const RunnerOptions& options, Pool* pool,
             Scheduler* scheduler, DeviceTable* devices, Cases* cases, SecondOpinions* opinions,
             Slowness* slowness, std::function<void(const EventBody&)> emit);

  // Workers that warm up before their turn, the first of each device; before the first Dispatch.
  void Prewarm();
  // Starts and fills what can be; `stopping`: only canaries that results wait for, and idle workers end.
  void Dispatch(bool stopping);
  // The canary a worker began with was right: it goes on with its case.
  void ResumeAfterCanary(WorkerSlot* slot);
  // The worker is gone: its lease and slot are free. Returns what it held.
  WorkerSlot Release(int64_t worker);

  WorkerSlot& SlotOf(const Worker& worker) { return slots_.at(worker.id()); }
  std::vector<WorkerSlot*> Slots();
  // Why no process could be started; nothing is started after that. Empty: none failed.
  const std::string& start_failure() const { return start_failure_; }
  // The device of the canary that no process could be started for.
  const std::string& untested_device() const { return untested_device_; }
  // Cases that wait for a result of another GPU, none of which can run any more.
  std::vector<size_t> TakeUnanswerable() { return std::exchange(unanswerable_, {}); }
  // Plugins whose files are no longer those that were described; nothing of them is started.
  const std::map<std::string, std::string>& changed_plugins() const { return changed_; }

 private:
  void DispatchCanaries(bool stopping);
  void DispatchQueue(CaseQueue* queue);
  void DispatchCrossDeviceRetries();
  void DispatchRepetition();
  std::vector<std::string> UuidsOf(const std::string& device) const;
  void EndIdle();
  size_t ReadyWork(const CaseQueue& queue) const;
  bool EndsEarly(const WorkerSlot& slot, size_t workers) const;
  void EndNeedless();
  // `use`: of the device, by a process that runs `alone_case`; what a warm worker's is its queue tells.
  WorkerSlot* StartWorker(CaseQueue* queue, const std::string& device, std::optional<size_t> alone_case,
                          bool prewarmed, Use use = Use::kAlone);
  WorkerCommand Command(const CaseQueue* queue, const WorkerSlot& slot) const;
  void Configure(const WorkerSlot& slot);
  bool PluginsUnchanged(const std::set<std::string>& plugins);
  Use UseOf(const CaseQueue& queue, bool alone) const;
  // What could run concurrently comes after what needs the device for itself: of the framework layer after
  // all such cases, of concurrent checks after those that their own cases wait for, and while the device is
  // free after those that other cases of their group wait for.
  bool MustYield(CaseQueue* queue) const {
    if (queue->co_scheduled)
      return pool_->live() > 0 && scheduler_->IsAwaitedBy(*queue, devices_->IsShared(queue->device));
    if (queue->concurrent == 0) return false;
    const bool in_use = devices_->IsShared(queue->device) || MostWorkersOnDevice(*queue) == 1;
    return in_use ? scheduler_->IsHeldBack(*queue) : scheduler_->IsGroupHeldBack(*queue);
  }
  // A case that uses no device and that no other waits for begins after those that others wait for: both read
  // files from a cold disk. It takes no slot that a case on a device could need.
  bool MustComeLater(const CaseQueue& queue) const;
  bool TakeLease(WorkerSlot* slot);
  void PrewarmOn(const DeviceInfo& device);
  // Whether further processes may make contexts while a check has the device for itself.
  bool MayWarmBeside(const std::string& device) const;
  // Has it start the driver, make its context or prepare a case, each with what comes before.
  void BeginPrewarmed(WorkerSlot* slot);
  // Has a prewarmed worker prepare the first slow case of its queue that none was asked to.
  void PrepareAhead(WorkerSlot* slot);
  // The next queue's first warm worker, where the one that has the device has little to do.
  void PrewarmNext();
  void Prepare();
  bool IsPreparing(const std::string& device) const;
  WorkerSlot* PreparedFor(size_t case_index);
  void BeginPrepared(WorkerSlot* slot, CaseQueue* queue);
  void CancelPrepared(WorkerSlot* slot);
  void BeginWithCanary(WorkerSlot* slot);
  void AssignNext(WorkerSlot* slot);
  // The queue's ready case that the worker runs next.
  size_t NextOf(WorkerSlot* slot, const CaseQueue& from, const Portions::IsSlow& comes_first);
  void MakeRoom(const CaseQueue* wanting, Use use = Use::kAlone);
  void Shutdown(WorkerSlot* slot);
  std::vector<WorkerSlot*> WarmWorkersOf(const CaseQueue* queue);
  // Processes that may serve the queue at a time; it has less while it has little to do.
  int MostWorkersOf(const CaseQueue& queue) const;
  // The same of all queues of its group together: each of them may have one.
  int MostWorkersOnDevice(const CaseQueue& queue) const;
  int WorkersThatFit(const CaseQueue& queue, SharingRoom room) const;
  // The queue's group, where another worker of the queue may use the device too; null otherwise.
  const SharingGroup* Joinable(const CaseQueue* queue) const;
  void AssignTo(CaseQueue* queue, const std::vector<WorkerSlot*>& workers);
  void StartAnother(CaseQueue* queue);
  void PrepareOthers();
  FactMap FactsFor(const WorkerSlot& slot, const std::string& subject) const;
  Assignment AssignmentOf(size_t case_index, bool shared) const;
  const SubjectInfo* SubjectOf(const CaseQueue* queue) const;

  const Plan& plan_;
  const Catalog& catalog_;
  const RunnerOptions& options_;
  Pool* const pool_;
  Scheduler* const scheduler_;
  DeviceTable* const devices_;
  Cases* const cases_;
  SecondOpinions* const opinions_;
  Slowness* const slowness_;
  const std::function<void(const EventBody&)> emit_;
  std::vector<size_t> preparable_;  // cases that may be prepared, in plan order
  std::set<size_t> prepared_once_;  // of these the ones that a process was started for
  bool may_prewarm_ = true;         // until one could not be started
  // Of KnownPackets, for every worker, and for one that runs adapters.
  const std::vector<std::string> known_packets_, known_with_adapters_;
  const int64_t host_room_;  // bytes of memory before the run
  std::map<const CaseQueue*, Portions> portions_;
  std::set<size_t> prepared_ahead_;       // cases that a warm worker was asked to prepare
  std::set<const CaseQueue*> followed_;   // queues behind which the next one's first worker was looked for
  std::set<const SharingGroup*> helped_;  // groups whose further workers were started before their turn
  std::map<int64_t, WorkerSlot> slots_;   // by worker id
  std::map<std::string, std::string> changed_;
  std::vector<size_t> unanswerable_;
  int slots_of_devices_ =
      1;  // the most workers that cases with a device may have at a time, on all devices together
  std::string start_failure_, untested_device_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_DISPATCHER_H_
