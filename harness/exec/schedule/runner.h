// Runs a plan: connects order (Scheduler, Dispatcher), belief (Cases), devices and processes (Pool), and
// turns what happens into events. One thread.
#ifndef CUDNN_CI_EXEC_SCHEDULE_RUNNER_H_
#define CUDNN_CI_EXEC_SCHEDULE_RUNNER_H_

#include <functional>
#include <string>
#include <vector>

#include "exec/schedule/cases.h"
#include "exec/schedule/devices.h"
#include "exec/schedule/dispatcher.h"
#include "exec/schedule/runner_options.h"
#include "exec/schedule/scheduler.h"
#include "exec/schedule/second_opinions.h"
#include "exec/schedule/slowness.h"
#include "exec/system/attachments.h"
#include "exec/workers/pool.h"
#include "model/plan/plan.h"
#include "model/verdict/summary.h"

namespace cudnn_ci {

struct RunnerCallbacks {
  std::function<void(const EventBody&)> emit;  // and fold, before it returns
  std::function<void()> tick;                  // at least once a second
};

class Runner : private PoolClient {
 public:
  // `summary`: the record that `callbacks.emit` keeps up to date; it knows the plan already. Everything given
  // by reference or pointer must outlive the runner. `signal_fd`: a non-blocking signalfd of SIGCHLD, SIGINT
  // and SIGTERM.
  Runner(const Plan& plan, const Catalog& catalog, RunnerOptions options, const Summary& summary,
         RunnerCallbacks callbacks, ProcessControl* control, int signal_fd);

  // Until every case has an outcome or the run is cancelled. Returns the signal that ended the run, or 0.
  int Run();

 private:
  void OnEffect(Worker* worker, Effect effect) override;
  void OnEnded(Worker* worker, const ExitStatus& status) override;
  void OnSignal(int signal) override;
  void OnPaused(double seconds) override;

  // Whether it takes a canary to know whose fault it is. That of an abandoned process is known.
  static bool SuspectsDevice(const AttemptResult& r);
  bool Step();
  void Cancel(CancelReason reason, int signal);
  bool Keeps(WorkerSlot* slot, EventBody* event) const;
  void EmitKept(WorkerSlot* slot, AttemptResult* result);
  static Outcome AsItStands(const AttemptResult& result);
  void OnAttemptEnded(const WorkerSlot& slot, AttemptResult result);
  void OnPreparationFailed(PreparationFailed failed);
  void OnCanary(WorkerSlot* slot, const CanaryResult& result);
  void OnBadEnd(const WorkerSlot& slot, const ExitStatus& status);
  bool CountsAsPass(size_t case_index) const;
  void Decide(const AttemptResult& result);
  void Conclude(size_t case_index, Outcome outcome, std::vector<Finding> findings);
  void OnSecondOpinion(const WorkerSlot& slot, const AttemptResult& there);
  void EndUnanswerable();
  void OnRepetition(const AttemptResult& again);
  void SettleSlow();
  void EndWaiting();
  void Finalize(size_t case_index, Outcome outcome, const std::vector<Finding>& extra);
  void Emit(const EventBody& body) { callbacks_.emit(body); }
  void EmitBlocked(const std::vector<Scheduler::Ended>& blocked);
  void LoseDevice(const std::string& device, const std::string& reason);
  void SettleKnown();
  bool SettleChanged();

  const Plan& plan_;
  const Catalog& catalog_;
  const RunnerOptions options_;
  const Summary& summary_;
  const RunnerCallbacks callbacks_;
  Scheduler scheduler_;
  DeviceTable devices_;
  Cases cases_;
  SecondOpinions opinions_;
  Slowness slowness_;
  Attachments attachments_;
  Pool pool_;
  Dispatcher dispatcher_;
  int64_t end_ns_ = INT64_MAX;  // of the time limit
  bool cancelled_ = false, stop_dispatch_ = false;
  int signal_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_RUNNER_H_
