// Runs a plan: one thread, one poll loop over control sockets, output pipes, a signal descriptor and the
// nearest deadline. Decides nothing about a verdict (attempts.h) nor about order (scheduler.h), knows no
// plugin's insides (worker.h); it connects them, and turns what happens into events.
#ifndef CUDNN_CI_EXEC_RUNNER_H_
#define CUDNN_CI_EXEC_RUNNER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exec/attempts.h"
#include "exec/memory_watch.h"
#include "exec/process.h"
#include "exec/scheduler.h"
#include "exec/worker.h"
#include "exec/worker_process.h"
#include "model/check_info.h"
#include "model/plan.h"

namespace cudnn_ci {

struct RunnerOptions {
  std::string worker_path;  // of cudnn-ci-worker
  std::string scratch_dir;  // private, exists
  std::string output_dir;   // attachments go to DIR/attachments; empty: they are dropped
  Isolation isolation = Isolation::kShared;
  int jobs = 1;
  int retries = 0;
  bool fail_fast = false;
  double time_limit_s = 0;  // 0: none
  WorkerLimits limits;
  int max_descendants = 256;  // of one case
  std::map<std::string, std::string> contract;
  Facts facts;
  std::vector<SubjectInfo> subjects;
  std::vector<DeviceInfo> devices;  // with empty uuid: nominal, nothing to test
};

struct RunnerCallbacks {
  std::function<void(const EventBody&)> emit;
  std::function<void()> tick;  // at least once a second
};

class Runner {
 public:
  Runner(const Plan& plan, const Catalog& catalog, RunnerOptions options, RunnerCallbacks callbacks,
         ProcessControl* control);
  ~Runner();

  // Until every case has an outcome or the run is cancelled. `signal_fd`: a signalfd of SIGCHLD, SIGINT,
  // SIGTERM. Returns the signal that ended the run, or 0.
  int Run(int signal_fd);

 private:
  struct Slot {
    std::unique_ptr<Worker> worker;
    WorkerProcess process;
    Lane* lane = nullptr;  // null: a canary alone
    std::string device;
    bool exited = false, canary_pending = false, abandoned = false;
    bool early = false;  // warms up before its turn, without the device's lease
    bool out_of_memory = false;
    std::optional<Assignment> reserved;  // waits for the canary
    int64_t drain_until_ns = 0, next_watch_ns = 0;
    int64_t baseline_rss = 0;  // once warm; 0: not measured yet
  };
  struct DeviceState {
    bool suspect = false, lost = false;
    std::vector<size_t> held;  // bad results that wait for the canary's word
  };

  // runner.cc: the loop
  void Loop(int signal_fd);
  void Poll(int signal_fd);
  void HandleSignals(int signal_fd);
  void Service(Slot* slot, int64_t now);
  void FinishExited(int64_t now);
  void Watch(Slot* slot, int64_t now);
  void WatchMemory(int64_t now);
  void Cancel(CancelReason reason, int signal);
  bool Finished() const;

  // runner_dispatch.cc: who runs what
  void Dispatch();
  void StartEarly();
  bool HasRoomForEarly(const std::string& device) const;
  bool TakeLease(Slot* slot);
  // runner_start.cc: how a worker begins
  void StartCanary(const std::string& device);
  bool StartWorker(Lane* lane, const std::string& device, std::optional<size_t> alone_case,
                   bool early = false);
  Slot* AddSlot(WorkerProcess process, Lane* lane, const std::string& device,
                const std::set<std::string>& plugins, bool shared);
  bool NeedsCanaryFirst(const std::string& device) const;
  AttemptMode ModeOf(size_t case_index) const;
  void Fill(Slot* slot);
  void MakeRoom(const Lane* wanting);
  void SettleKnown(Lane* lane);
  Assignment MakeAssignment(size_t case_index, AttemptMode mode);
  std::vector<std::string> Environment(const Lane* lane, const std::string& device) const;
  std::vector<wire::Configure> Configuration(const Lane* lane, const std::string& device) const;
  std::vector<std::string> PluginFiles(const std::set<std::string>& plugins) const;
  int LiveWorkers() const;
  Slot* SharedWorkerOf(const Lane* lane);

  // runner_results.cc: what came of it
  void Apply(Slot* slot, std::vector<Effect>* effects, int64_t now);
  void OnAttemptEnded(Slot* slot, AttemptResult result);
  void OnCanary(Slot* slot, const CanaryResult& result);
  void OnWorkerEnded(Slot* slot, const ExitStatus* status, int64_t now);
  void Decide(size_t case_index, const AttemptResult& result);
  int64_t ForeignMemory(const std::string& device) const;
  void BlameForMemory(const Case& c, const Outcome& outcome, std::vector<Finding>* findings) const;
  void Finalize(size_t case_index, Outcome outcome, std::vector<Finding> extra);
  void SettleBlocked(const std::vector<Scheduler::Settled>& blocked);
  void LoseDevice(const std::string& device, const std::string& reason);
  void ReleaseHeld(const std::string& device);
  void TakeAttachment(Attached* attached);
  bool DeviceCanBeTested(const std::string& device) const;
  CaseHistory& History(size_t case_index) { return histories_[case_index]; }
  void Emit(const EventBody& body) { callbacks_.emit(body); }

  const Plan& plan_;
  const Catalog& catalog_;
  const RunnerOptions options_;
  const RunnerCallbacks callbacks_;
  ProcessControl* const control_;
  Scheduler scheduler_;
  AttemptRules rules_;
  MemoryWatch memory_;

  std::map<int64_t, std::unique_ptr<Slot>> slots_;  // by worker id
  std::map<std::string, DeviceState> device_states_;
  std::map<size_t, CaseHistory> histories_;  // of cases that did not simply pass
  std::map<size_t, AttemptResult> held_results_;
  std::map<size_t, std::string> first_expectations_;
  std::map<size_t, std::vector<Finding>> said_;  // findings of all attempts
  int64_t next_worker_ = 1, start_ns_ = 0, next_memory_ns_ = 0, sweep_until_ns_ = 0;
  int64_t oom_kills_ = 0, attachments_ = 0, attachment_bytes_ = 0;
  bool cancelled_ = false, stop_dispatch_ = false, spawn_failed_ = false;
  int signal_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_RUNNER_H_
