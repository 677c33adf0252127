// A worker that runs cases: one, or many after each other, and the canary before them. What was assigned,
// what the process said of it, within bounds, and what its end means for the cases it had.
#ifndef CUDNN_CI_EXEC_WORKERS_CASE_WORKER_H_
#define CUDNN_CI_EXEC_WORKERS_CASE_WORKER_H_

#include <deque>
#include <optional>
#include <string>

#include "exec/workers/evidence_bounds.h"
#include "exec/workers/worker.h"
#include "model/record/finding.h"

namespace cudnn_ci {

struct Assignment {
  size_t case_index = 0;
  CaseRef ref;
  int attempt = 1;
  AttemptMode mode = AttemptMode::kAlone;
  double timeout_s = 60;
  wire::Run run;  // its serial must be one that the process cannot guess
};

class CaseWorker : public Worker {
 public:
  // `shared`: results are delivered as they come and the process serves on; otherwise it runs one case, whose
  // result is delivered when the process has ended. `declared` finds the findings of the worker's plugins.
  CaseWorker(bool shared, WorkerLimits limits, std::function<const FindingInfo*(const std::string&)> declared)
      : Worker(limits), shared_(shared), declared_(std::move(declared)) {}

  void Assign(Assignment assignment, int64_t now_ns, Effects* out);
  // Before the first case is assigned: has the process prepare this one. A process that ends before it gets
  // to its first case gives all of them back, uncharged, and says if it was the preparation that ended it.
  void Prepare(const Assignment& assignment, Effects* out);
  void RequestCanary(int64_t now_ns, Effects* out);
  void Shutdown(int64_t now_ns, Effects* out) override;

  bool shared() const { return shared_; }
  size_t queued() const { return queue_.size(); }
  bool idle() const override { return queue_.empty() && !canary_since_ns_; }
  bool only_prepares() const override { return IsPreparing() && idle(); }
  // Whether another case may be assigned: it serves, and was not retired by what happened in it.
  bool accepting() const { return state_ == State::kServing && !retired(); }
  int64_t cases_run() const { return cases_run_; }
  const Assignment* last_finished() const { return last_finished_ ? &*last_finished_ : nullptr; }
  // Nothing was asked of it any more, and yet the harness had to end it or it did not end as it should.
  bool ended_badly() const { return ended_badly_; }

 private:
  void OnMessage(const wire::FromWorker& message, int64_t now_ns, Effects* out) override;
  void CheckTask(int64_t now_ns, Effects* out) override;
  int64_t TaskDeadlineNs() const override;
  void OnEnded(const ExitStatus& status, bool out_of_memory, bool was_killed, int64_t now_ns,
               Effects* out) override;
  void OnAbandoned(int64_t now_ns, Effects* out) override;

  void Handle(const wire::CanaryDone&, int64_t, Effects*);
  void Handle(const wire::CaseStarted&, int64_t, Effects*);
  void Handle(const wire::Step&, int64_t, Effects*);
  void Handle(const wire::Expectation&, int64_t, Effects*);
  void Handle(const wire::FindingSaid&, int64_t, Effects*);
  void Handle(const wire::Measurement&, int64_t, Effects*);
  void Handle(const wire::Attachment&, int64_t, Effects*);
  void Handle(const wire::Log&, int64_t, Effects*);
  void Handle(const wire::Poisoned&, int64_t, Effects*);
  void Handle(const wire::Uncaught&, int64_t, Effects*);
  void Handle(const wire::CaseFinished&, int64_t, Effects*);

  bool IsCurrent(int64_t serial, int64_t now_ns, Effects* out);
  void Report(Finding finding, Effects* out);
  void Emit(EventBody body, Effects* out) { out->emplace_back(EmitEvent{std::move(body)}); }
  Outcome OutcomeOf(const wire::CaseFinished& m, Effects* out);
  void StartCurrent(int64_t now_ns);
  void SendCurrent(Effects* out);
  void Announce(Effects* out);
  AttemptResult TakeResult(Outcome outcome, int64_t now_ns, Effects* out);
  void EndVerdict(const ExitStatus& status, bool out_of_memory, bool was_killed, Effects* out);
  void EndPreparation(const ExitStatus& status, bool out_of_memory, Effects* out);
  void GiveBackRest(Effects* out);
  std::string Where() const;
  // Whether the process has yet to get to its first case, and prepares one.
  bool IsPreparing() const { return prepares_ && cases_run_ == 0 && !started_; }

  const bool shared_;
  const std::function<const FindingInfo*(const std::string&)> declared_;
  int64_t cases_run_ = 0;
  bool ended_badly_ = false;
  std::optional<size_t> prepares_;  // the case that it was asked to prepare
  std::optional<int64_t> canary_since_ns_;

  std::deque<Assignment> queue_;  // front: running; the process knows of no other
  std::optional<Assignment> last_finished_;
  std::optional<AttemptResult> verdict_;  // of an unshared worker, until it ends

  // About the running case.
  int64_t current_since_ns_ = 0;
  bool started_ = false, failed_ = false, slow_said_ = false, step_skippable_ = false;
  std::string step_;
  EvidenceBounds bounds_;
  bool error_dropped_ = false;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_CASE_WORKER_H_
