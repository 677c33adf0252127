#include "exec/workers/case_worker.h"

#include <signal.h>

#include <algorithm>

#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr double kSlowShare = 0.5;      // of the time limit, when CaseSlow is emitted
constexpr double kCanaryTimeoutS = 60;  // a healthy one takes as long as a context: under a second

int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }
double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

void CaseWorker::StartCurrent(int64_t now_ns) {
  current_since_ns_ = now_ns;
  started_ = failed_ = slow_said_ = step_skippable_ = error_dropped_ = false;
  step_.clear();
  bounds_ = {};
  evidence_.clear();
  output_.Clear();
}

void CaseWorker::Assign(Assignment assignment, int64_t now_ns, Effects* out) {
  queue_.push_back(std::move(assignment));
  if (queue_.size() == 1) {
    StartCurrent(now_ns);
    SendCurrent(out);
    if (cases_run_ > 0) Announce(out);  // the process waits for it, and says nothing before it has something
  }
  // An unshared worker runs one case and goes: the shutdown travels with it and saves a round trip.
  if (shared_) return;
  Send(wire::Shutdown{}, out);
  shutdown_sent_ = true;
}

// A case behind it waits here: whatever lies in the socket, the running check can read, and answer.
void CaseWorker::SendCurrent(Effects* out) {
  Send(queue_.front().run, out);
  queue_.front().run.params.clear();  // sent; not needed any more
}

// What has not been sent goes back; the running case is finished first.
void CaseWorker::Shutdown(int64_t now_ns, Effects* out) {
  if (state_ == State::kServing && queue_.size() > 1) {
    std::deque<Assignment> current;
    current.push_back(std::move(queue_.front()));
    queue_.pop_front();
    GiveBackRest(out);
    queue_ = std::move(current);
  }
  Worker::Shutdown(now_ns, out);
}

void CaseWorker::Prepare(const Assignment& assignment, Effects* out) {
  prepares_ = assignment.case_index;
  Send(wire::PrepareCase{assignment.run.check, assignment.run.params, assignment.run.seed}, out);
}

void CaseWorker::RequestCanary(int64_t now_ns, Effects* out) {
  canary_since_ns_ = now_ns;
  Send(wire::Canary{}, out);
}

// Closes the running case. Its output stays with it.
AttemptResult CaseWorker::TakeResult(Outcome outcome, int64_t now_ns, Effects* out) {
  Announce(out);
  AttemptResult result;
  const Assignment& a = queue_.front();
  result.case_index = a.case_index;
  result.attempt = a.attempt;
  result.mode = a.mode;
  result.outcome = std::move(outcome);
  result.seconds = Seconds(now_ns - current_since_ns_);
  result.slow = slow_said_;
  if (!std::holds_alternative<Passed>(result.outcome)) {
    result.output = output_.Text();
    result.evidence = evidence_;
  }
  if (const std::string dropped = bounds_.Dropped(); !dropped.empty()) {
    Finding finding = HarnessFinding("evidence-dropped", dropped);
    // A waiver may cover the errors that are kept; it must not cover one that cannot be seen.
    if (error_dropped_) finding.severity = Severity::kError;
    Emit(FindingReported{a.ref, std::move(finding)}, out);
  }
  if (step_skippable_ && !step_.empty()) result.crashed_step = {step_};
  last_finished_ = std::move(queue_.front());
  queue_.pop_front();
  ++cases_run_;
  if (state_ == State::kStopping) state_since_ns_ = now_ns;  // the time to exit begins after the last case
  StartCurrent(now_ns);
  return result;
}

void CaseWorker::CheckTask(int64_t now_ns, Effects* out) {
  if (canary_since_ns_) {
    if (now_ns - *canary_since_ns_ < Ns(kCanaryTimeoutS)) return;
    return Terminate(ErrorKind::kDeviceLost, "the canary kernel did not finish", true, now_ns, out);
  }
  if (queue_.empty()) return;
  const Assignment& a = queue_.front();
  const int64_t running = now_ns - current_since_ns_;
  if (!slow_said_ && !IsPreparing() && running >= Ns(a.timeout_s * kSlowShare)) {
    slow_said_ = true;
    Emit(CaseSlow{a.ref, Seconds(running), a.timeout_s}, out);
  }
  if (running < Ns(a.timeout_s)) return;
  Terminate(ErrorKind::kTimedOut,
            "no verdict within " + FixedSeconds(a.timeout_s) + " s" +
                (started_ ? Where() : ": the process did not get to the check"),
            false, now_ns, out);
}

int64_t CaseWorker::TaskDeadlineNs() const {
  if (canary_since_ns_) return *canary_since_ns_ + Ns(kCanaryTimeoutS);
  if (queue_.empty()) return INT64_MAX;
  const double limit = queue_.front().timeout_s;
  return current_since_ns_ + Ns(slow_said_ || IsPreparing() ? limit : limit * kSlowShare);
}

std::string CaseWorker::Where() const { return step_.empty() ? "" : ", in step " + step_; }

void CaseWorker::OnEnded(const ExitStatus& status, bool out_of_memory, bool was_killed, int64_t now_ns,
                         Effects* out) {
  const bool clean = !status.signaled && status.code == 0;
  // One that was retired by its last case is killed without ceremony: that end says nothing.
  const bool own_end = !retired() || (shutdown_sent_ && !was_killed);
  ended_badly_ =
      !verdict_ && queue_.empty() && !IsPreparing() && (terminated() || (shared_ && !clean && own_end));
  if (canary_since_ns_) {
    canary_since_ns_.reset();
    // A cancelled run says nothing about the device.
    const bool cancelled = termination_ && termination_->kind == ErrorKind::kCancelled;
    const std::string why = termination_ ? termination_->detail : "its process ended: " + ToString(status);
    if (!cancelled) out->emplace_back(CanaryResult{false, "the canary: " + why});
    ended_badly_ = false;
  }
  if (verdict_) return EndVerdict(status, out_of_memory, was_killed, out);
  if (IsPreparing()) return EndPreparation(status, out_of_memory, out);
  if (queue_.empty()) return;
  // The first unfinished case is the suspect; the rest go back uncharged.
  const std::string when =
      (status.signaled || termination_ ? std::string() : std::string(" before its verdict")) + Where();
  AttemptResult result = TakeResult(ErrorOfExit(status, out_of_memory, when), now_ns, out);
  result.signal = status.signaled ? status.code : 0;
  out->emplace_back(AttemptEnded{std::move(result)});
  GiveBackRest(out);
}

// Of an unshared worker that had given its verdict: that counts if the process then ended as it should.
void CaseWorker::EndVerdict(const ExitStatus& status, bool out_of_memory, bool was_killed, Effects* out) {
  AttemptResult result = std::move(*verdict_);
  verdict_.reset();
  const bool clean = !status.signaled && status.code == 0;
  const bool killed_for_leak = result.leaked && was_killed && status.signaled && status.code == SIGKILL;
  if (terminated() || (!clean && !killed_for_leak)) {
    Errored ended = ErrorOfExit(status, out_of_memory, "");
    if (!termination_) ended.detail = ToString(status) + " after its verdict" + CrashPlace();
    result.outcome = std::move(ended);
    result.signal = status.signaled ? status.code : 0;
    result.output = output_.Text();
    result.evidence = evidence_;
  }
  out->emplace_back(AttemptEnded{std::move(result)});
}

void CaseWorker::OnAbandoned(int64_t now_ns, Effects* out) {
  canary_since_ns_.reset();  // its device is lost with the process
  if (!queue_.empty()) {
    out->emplace_back(
        AttemptEnded{TakeResult(Errored{ErrorKind::kAbandoned, SurvivedSigkill() + Where()}, now_ns, out)});
  } else if (verdict_) {
    verdict_->outcome = Errored{ErrorKind::kAbandoned, SurvivedSigkill() + " after its verdict"};
    verdict_->evidence = evidence_;
    out->emplace_back(AttemptEnded{std::move(*verdict_)});
    verdict_.reset();
  }
  GiveBackRest(out);
}

// What the harness or somebody else ended it for says nothing of the case. Status 0 is the worker's own end.
void CaseWorker::EndPreparation(const ExitStatus& status, bool out_of_memory, Effects* out) {
  Errored how = ErrorOfExit(status, out_of_memory, "");
  const bool own_end = how.kind == ErrorKind::kCrashed || how.kind == ErrorKind::kTimedOut ||
                       (how.kind == ErrorKind::kExited && status.code != 0);
  if (own_end)
    out->emplace_back(PreparationFailed{*prepares_, std::move(how), status.signaled ? status.code : 0});
  GiveBackRest(out);
}

// What was queued behind the case that ended the process: none of it is to blame.
void CaseWorker::GiveBackRest(Effects* out) {
  std::vector<size_t> rest;
  for (const Assignment& a : queue_) rest.push_back(a.case_index);
  queue_.clear();
  if (!rest.empty()) out->emplace_back(GiveBack{std::move(rest)});
}

}  // namespace cudnn_ci
