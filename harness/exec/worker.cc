#include "exec/worker.h"

#include <signal.h>

#include <algorithm>

#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr double kSlowShare = 0.5;  // of the time limit, when CaseSlow is said
constexpr int64_t kClosedGraceNs = 1'000'000'000;
constexpr double kCanaryTimeoutS = 60;  // a healthy one takes as long as a context: under a second

int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }
double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

Worker::Worker(int64_t id, bool shared, WorkerLimits limits,
               std::function<const FindingInfo*(const std::string&)> declared,
               std::function<std::string()> describe, int64_t now_ns)
    : id_(id),
      shared_(shared),
      limits_(limits),
      declared_(std::move(declared)),
      describe_(std::move(describe)),
      state_since_ns_(now_ns) {}

void Worker::StartCurrent(int64_t now_ns) {
  current_since_ns_ = now_ns;
  started_ = failed_ = slow_said_ = step_skippable_ = false;
  step_.clear();
  findings_.clear();
  first_expectation_.clear();
  evidence_.clear();
  output_.Clear();
}

void Worker::Assign(Assignment assignment, int64_t now_ns, std::vector<Effect>* out) {
  assignment.run.serial = next_serial_++;
  out->emplace_back(SendPacket{wire::Encode(wire::ToWorker(assignment.run))});
  queue_.push_back(std::move(assignment));
  if (queue_.size() == 1) StartCurrent(now_ns);
  // An unshared worker runs one case and goes: the shutdown travels with it and saves a round trip.
  if (!shared_) out->emplace_back(SendPacket{wire::Encode(wire::ToWorker(wire::Shutdown{}))});
}

void Worker::RequestCanary(int64_t now_ns, std::vector<Effect>* out) {
  canary_since_ns_ = now_ns;
  out->emplace_back(SendPacket{wire::Encode(wire::ToWorker(wire::Canary{}))});
}

// Closes the running case. Its output stays with it.
AttemptResult Worker::TakeResult(Outcome outcome, int64_t now_ns, std::vector<Effect>* out) {
  Announce(out);
  AttemptResult result;
  const Assignment& a = queue_.front();
  result.case_index = a.case_index;
  result.attempt = a.attempt;
  result.mode = a.mode;
  result.outcome = std::move(outcome);
  result.findings = std::move(findings_);
  result.first_expectation = std::move(first_expectation_);
  result.seconds = Seconds(now_ns - current_since_ns_);
  result.slow = slow_said_;
  if (!std::holds_alternative<Passed>(result.outcome)) {
    result.output = CleanText(output_.Text());
    result.evidence = CleanText(evidence_);
  }
  if (step_skippable_ && !step_.empty()) result.crashed_step = {step_};
  last_finished_ = std::move(queue_.front());
  queue_.pop_front();
  ++cases_run_;
  if (state_ == State::kStopping) state_since_ns_ = now_ns;  // the time to exit begins after the last case
  StartCurrent(now_ns);
  return result;
}

void Worker::OnControlClosed(int64_t now_ns, std::vector<Effect>*) {
  if (control_closed_) return;
  control_closed_ = true;
  control_closed_ns_ = now_ns;
}

void Worker::OnOutput(std::string_view bytes, int64_t now_ns, std::vector<Effect>* out) {
  output_.Append(bytes);
  if (output_.total() > limits_.output_bytes && !doom_)
    Terminate(ErrorKind::kOutputLimit,
              "more than " + std::to_string(limits_.output_bytes >> 20) + " MiB on stdout and stderr", true,
              now_ns, out);
}

void Worker::Retire(const std::string& why) {
  if (!retired_) retire_reason_ = why;
  retired_ = true;
}

void Worker::Terminate(ErrorKind kind, const std::string& detail, bool at_once, int64_t now_ns,
                       std::vector<Effect>* out) {
  if (state_ == State::kKilled || state_ == State::kEnded) return;
  if (!doom_) {
    doom_ = Errored{kind, detail};
    evidence_ += describe_();
  }
  if (kind != ErrorKind::kCancelled) device_suspect_ = true;
  Retire(Name(kind));
  if (at_once) return Kill(now_ns, out);
  if (state_ == State::kTerminating) return;
  state_ = State::kTerminating;
  state_since_ns_ = now_ns;
  out->emplace_back(SendSignal{SIGTERM});
}

void Worker::Kill(int64_t now_ns, std::vector<Effect>* out) {
  state_ = State::kKilled;
  state_since_ns_ = now_ns;
  out->emplace_back(SendSignal{SIGKILL});
}

void Worker::Shutdown(int64_t now_ns, std::vector<Effect>* out) {
  if (state_ != State::kServing) return;
  shutdown_sent_ = true;
  state_ = State::kStopping;
  state_since_ns_ = now_ns;
  if (shared_) out->emplace_back(SendPacket{wire::Encode(wire::ToWorker(wire::Shutdown{}))});
}

void Worker::OnTick(int64_t now_ns, std::vector<Effect>* out) { CheckDeadlines(now_ns, out); }

void Worker::CheckDeadlines(int64_t now_ns, std::vector<Effect>* out) {
  const int64_t in_state = now_ns - state_since_ns_;
  if (state_ == State::kKilled && in_state >= Ns(limits_.abandon_s)) {
    state_ = State::kEnded;
    const std::string evidence = describe_();
    evidence_ += evidence;
    out->emplace_back(Abandoned{evidence});
    if (!queue_.empty()) {
      AttemptResult result =
          TakeResult(Errored{ErrorKind::kAbandoned, "the process survived SIGKILL for " +
                                                        std::to_string(static_cast<int>(limits_.abandon_s)) +
                                                        " s" + Where()},
                     now_ns, out);
      out->emplace_back(AttemptEnded{std::move(result)});
    } else if (verdict_) {
      verdict_->outcome = Errored{ErrorKind::kAbandoned, "the process survived SIGKILL after its verdict"};
      verdict_->evidence = CleanText(evidence_);
      out->emplace_back(AttemptEnded{std::move(*verdict_)});
      verdict_.reset();
    }
    GiveBackRest(out);
    return;
  }
  if (state_ == State::kTerminating && in_state >= Ns(limits_.grace_s)) return Kill(now_ns, out);
  if (!limits_.timeouts) return;
  if (canary_since_ns_ && now_ns - *canary_since_ns_ >= Ns(kCanaryTimeoutS) && !doom_) {
    out->emplace_back(CanaryResult{false, "the canary kernel did not finish"});
    return Terminate(ErrorKind::kDeviceLost, "the canary kernel did not finish", true, now_ns, out);
  }
  if (state_ == State::kServing && control_closed_ && now_ns - control_closed_ns_ >= kClosedGraceNs)
    return Terminate(ErrorKind::kProtocol, "the check closed the control socket and went on", true, now_ns,
                     out);
  if (state_ == State::kStopping && queue_.empty() && in_state >= Ns(limits_.exit_s))
    return Terminate(ErrorKind::kTimedOut,
                     "the process did not exit within " + std::to_string(static_cast<int>(limits_.exit_s)) +
                         " s after its verdict",
                     false, now_ns, out);
  if ((state_ != State::kServing && state_ != State::kStopping) || queue_.empty() || canary_since_ns_) return;
  const Assignment& a = queue_.front();
  const int64_t running = now_ns - current_since_ns_;
  if (!slow_said_ && running >= Ns(a.timeout_s * kSlowShare)) {
    slow_said_ = true;
    out->emplace_back(EmitEvent{CaseSlow{a.ref, Seconds(running), a.timeout_s}});
  }
  if (running >= Ns(a.timeout_s)) {
    const std::string limit = FixedSeconds(a.timeout_s);
    Terminate(
        ErrorKind::kTimedOut,
        "no verdict within " + limit + " s" + (started_ ? Where() : ": the process did not get to the check"),
        false, now_ns, out);
  }
}

int64_t Worker::NextDeadlineNs() const {
  int64_t next = INT64_MAX;
  const auto at = [&](int64_t ns) { next = std::min(next, ns); };
  if (state_ == State::kKilled) at(state_since_ns_ + Ns(limits_.abandon_s));
  if (state_ == State::kTerminating) at(state_since_ns_ + Ns(limits_.grace_s));
  if (!limits_.timeouts) return next;
  if (state_ == State::kServing && control_closed_) at(control_closed_ns_ + kClosedGraceNs);
  if (canary_since_ns_) at(*canary_since_ns_ + Ns(kCanaryTimeoutS));
  if (state_ == State::kStopping && queue_.empty()) at(state_since_ns_ + Ns(limits_.exit_s));
  if ((state_ == State::kServing || state_ == State::kStopping) && !queue_.empty() && !canary_since_ns_) {
    const double limit = queue_.front().timeout_s;
    at(current_since_ns_ + Ns(slow_said_ ? limit : limit * kSlowShare));
  }
  return next;
}

std::string Worker::Where() const { return step_.empty() ? "" : ", in step " + step_; }

Outcome Worker::OutcomeOfExit(const ExitStatus& status, bool out_of_memory) const {
  if (doom_) return *doom_;
  if (!plugin_failure_.empty()) return Errored{ErrorKind::kPluginLoad, CleanText(plugin_failure_)};
  const std::string how = ToString(status);
  if (status.signaled && status.code == SIGKILL)
    return out_of_memory ? Errored{ErrorKind::kOutOfMemory, "killed by the kernel for memory" + Where()}
                         : Errored{ErrorKind::kCrashed, how + " from outside cudnn-ci" + Where()};
  if (status.signaled) return Errored{ErrorKind::kCrashed, how + Where()};
  return Errored{ErrorKind::kExited, how + " before its verdict" + Where()};
}

void Worker::OnExit(const ExitStatus& status, bool out_of_memory, int64_t now_ns, std::vector<Effect>* out) {
  const bool was_killed = state_ == State::kKilled;
  const bool clean = !status.signaled && status.code == 0;
  ended_badly_ = shared_ && queue_.empty() && !clean && (!retired_ || shutdown_sent_);
  state_ = State::kEnded;
  if (status.signaled && !was_killed) device_suspect_ = true;
  if (canary_since_ns_) {
    canary_since_ns_.reset();
    out->emplace_back(CanaryResult{false, "the canary's process ended: " + ToString(status)});
  }
  if (verdict_) {  // unshared, and it had said its verdict
    AttemptResult result = std::move(*verdict_);
    verdict_.reset();
    const bool killed_for_leak = result.leaked && was_killed && !doom_;
    if (!clean && !killed_for_leak) {
      Outcome ended = doom_ ? Outcome(*doom_) : OutcomeOfExit(status, out_of_memory);
      auto& errored = std::get<Errored>(ended);
      if (!doom_) errored.detail = ToString(status) + " after its verdict";
      result.outcome = std::move(ended);
      result.after_verdict = true;
      result.signal = status.signaled ? status.code : 0;
      result.output = CleanText(output_.Text());
      result.evidence = CleanText(evidence_);
    }
    out->emplace_back(AttemptEnded{std::move(result)});
    return;
  }
  if (queue_.empty()) return;
  // The first unfinished case is the suspect; the rest go back uncharged.
  AttemptResult result = TakeResult(OutcomeOfExit(status, out_of_memory), now_ns, out);
  result.signal = status.signaled ? status.code : 0;
  out->emplace_back(AttemptEnded{std::move(result)});
  GiveBackRest(out);
}

// What was queued behind the case that ended the process: none of it is to blame.
void Worker::GiveBackRest(std::vector<Effect>* out) {
  std::vector<size_t> rest;
  for (const Assignment& a : queue_) rest.push_back(a.case_index);
  queue_.clear();
  if (!rest.empty()) out->emplace_back(GiveBack{std::move(rest)});
}

}  // namespace cudnn_ci
