#include "exec/workers/worker.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/signal_text.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kClosedGraceNs = 1'000'000'000;

int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

// Signals that are sent, and not raised by a fault of the program. Who sent them is unknown.
bool ComesFromOutside(int signal) { return signal == SIGKILL || signal == SIGTERM || signal == SIGINT; }

// Something the process did, as opposed to something that was done to it.
bool IsItsOwnFault(ErrorKind kind) { return kind != ErrorKind::kCancelled && kind != ErrorKind::kDeviceLost; }

}  // namespace

void Worker::OnStarted(int64_t id, std::function<std::string()> describe, int64_t now_ns) {
  id_ = id;
  describe_ = std::move(describe);
  state_since_ns_ = now_ns;
}

void Worker::Enter(State state, int64_t now_ns) {
  state_ = state;
  state_since_ns_ = now_ns;
}

void Worker::Send(const wire::ToWorker& message, Effects* out) {
  out->emplace_back(SendPacket{wire::Encode(message)});
}

bool Worker::terminated() const { return termination_ && IsItsOwnFault(termination_->kind); }

void Worker::OnPacket(std::string_view packet, int64_t now_ns, Effects* out) {
  const Result<wire::FromWorker> message = wire::DecodeFromWorker(packet);
  if (!message.ok()) return OnGarbage(message.error(), now_ns, out);
  if (const auto* hello = std::get_if<wire::Hello>(&*message)) {
    greeted_ = true;
    if (hello->version != wire::kVersion)
      OnGarbage("the worker speaks protocol " + std::to_string(hello->version) + ", this cudnn-ci " +
                    std::to_string(wire::kVersion) + ": they are of different versions",
                now_ns, out);
  } else if (const auto* failed = std::get_if<wire::PluginFailed>(&*message)) {
    plugin_failure_ = failed->reason;
    Retire("plugin failed to load");
  } else if (const auto* crashed = std::get_if<wire::Crashed>(&*message)) {
    crash_ = crashed->crash;
  } else {
    packet_bytes_ = packet.size();
    OnMessage(*message, now_ns, out);
  }
}

void Worker::OnGarbage(const std::string& why, int64_t now_ns, Effects* out) {
  Terminate(ErrorKind::kProtocol, why, true, now_ns, out);
}

void Worker::OnControlClosed(int64_t now_ns) {
  if (control_closed_) return;
  control_closed_ = true;
  control_closed_ns_ = now_ns;
}

void Worker::OnOutput(std::string_view bytes, int64_t now_ns, Effects* out) {
  output_.Append(bytes);
  if (output_.total() > limits_.output_bytes && !termination_)
    Terminate(ErrorKind::kOutputLimit,
              "more than " + std::to_string(limits_.output_bytes >> 20) + " MiB on stdout and stderr", true,
              now_ns, out);
}

void Worker::Retire(const std::string& why) {
  if (retire_reason_.empty()) retire_reason_ = why;
}

void Worker::Terminate(Errored reason, bool at_once, int64_t now_ns, Effects* out) {
  if (state_ == State::kEnded) return;
  // What it had sent before it was killed still counts; what happens to the run meanwhile does not.
  const bool killed = state_ == State::kKilled;
  if (!termination_ && (!killed || IsItsOwnFault(reason.kind))) {
    evidence_ += describe_();
    Retire(Name(reason.kind));
    termination_ = std::move(reason);
  }
  if (killed) return;
  if (at_once) return Kill(now_ns, out);
  if (state_ == State::kTerminating) return;
  Enter(State::kTerminating, now_ns);
  out->emplace_back(SendSignal{SIGTERM});
}

void Worker::Kill(int64_t now_ns, Effects* out) {
  Enter(State::kKilled, now_ns);
  out->emplace_back(SendSignal{SIGKILL});
}

void Worker::Shutdown(int64_t now_ns, Effects* out) {
  if (state_ != State::kServing) return;
  Enter(State::kStopping, now_ns);
  if (!shutdown_sent_) Send(wire::Shutdown{}, out);
  shutdown_sent_ = true;
}

void Worker::OnTick(int64_t now_ns, Effects* out) {
  const int64_t in_state = now_ns - state_since_ns_;
  if (state_ == State::kKilled && in_state >= Ns(limits_.abandon_s)) {
    state_ = State::kEnded;
    const std::string evidence = describe_();
    evidence_ += evidence;
    OnAbandoned(now_ns, out);
    out->emplace_back(Abandoned{evidence});
    return;
  }
  if (state_ == State::kTerminating && in_state >= Ns(limits_.grace_s)) return Kill(now_ns, out);
  if (!limits_.timeouts || state_ == State::kTerminating || state_ == State::kKilled ||
      state_ == State::kEnded)
    return;
  if (state_ == State::kServing && control_closed_ && now_ns - control_closed_ns_ >= kClosedGraceNs)
    return Terminate(ErrorKind::kProtocol, "the check closed the control socket and kept running", true,
                     now_ns, out);
  if (state_ == State::kStopping && idle() && in_state >= Ns(limits_.exit_s))
    return Terminate(ErrorKind::kTimedOut,
                     "the process did not exit within " + std::to_string(static_cast<int>(limits_.exit_s)) +
                         " s after its verdict",
                     false, now_ns, out);
  CheckTask(now_ns, out);
}

int64_t Worker::NextDeadlineNs() const {
  switch (state_) {
    case State::kEnded:
      return INT64_MAX;
    case State::kKilled:
      return state_since_ns_ + Ns(limits_.abandon_s);
    case State::kTerminating:
      return state_since_ns_ + Ns(limits_.grace_s);
    case State::kServing:
    case State::kStopping:
      break;
  }
  if (!limits_.timeouts) return INT64_MAX;
  int64_t next = TaskDeadlineNs();
  if (state_ == State::kServing && control_closed_)
    next = std::min(next, control_closed_ns_ + kClosedGraceNs);
  if (state_ == State::kStopping && idle()) next = std::min(next, state_since_ns_ + Ns(limits_.exit_s));
  return next;
}

Errored Worker::ErrorOfExit(const ExitStatus& status, bool out_of_memory, const std::string& when) const {
  if (termination_) return *termination_;
  if (!plugin_failure_.empty()) return {ErrorKind::kPluginLoad, plugin_failure_};
  const std::string how = ToString(status);
  if (!status.signaled) return {ErrorKind::kExited, how + when};
  if (status.code == SIGKILL && out_of_memory)
    return {ErrorKind::kOutOfMemory, "killed by the kernel for memory" + when};
  if (ComesFromOutside(status.code))
    return {ErrorKind::kKilledFromOutside, how + " from outside cudnn-ci" + when};
  return {ErrorKind::kCrashed, how + when + CrashPlace(), crash_site_};
}

std::string Worker::CrashPlace() const {
  const std::string place = crash_ ? PlaceOf(*crash_) : "";
  return place.empty() ? "" : "; " + place;
}

std::string Worker::SurvivedSigkill() const {
  return "the process survived SIGKILL for " + std::to_string(static_cast<int>(limits_.abandon_s)) + " s";
}

// A process that is ended because its time is over has told where it was, however it then died.
void Worker::TakeHang(const ExitStatus& status) {
  if (!crash_ || crash_->signal != kTimeIsOver) return;
  // Else it was not asked to, and what it told does not explain its end.
  if (!terminated() && !(status.signaled && status.code == kTimeIsOver)) return;
  const CrashSite site = explain_ ? explain_(&*crash_) : CrashSite::kUnknown;
  evidence_ += StoryOf(*crash_);
  if (termination_ && termination_->kind == ErrorKind::kTimedOut && site == CrashSite::kHarness) {
    termination_->site = site;
    termination_->detail += CrashPlace();
  }
  crash_.reset();
}

void Worker::OnExit(const ExitStatus& status, bool out_of_memory, int64_t now_ns, Effects* out) {
  const bool was_killed = state_ == State::kKilled;
  if (state_ == State::kEnded) return;
  state_ = State::kEnded;
  TakeHang(status);
  const bool died_of_it = crash_ && status.signaled && status.code == crash_->signal;
  // A thread of it had crashed and another was faster to end it. That is no good end, and what was told no
  // reason of it.
  if (crash_ && !died_of_it) {
    if (!termination_ && !was_killed)
      termination_ = Errored{ErrorKind::kCrashed,
                             SignalText(crash_->signal) +
                                 " in a thread, but the process ended differently: " + ToString(status)};
    crash_.reset();
  }
  if (crash_) {
    if (explain_) crash_site_ = explain_(&*crash_);
    evidence_ += StoryOf(*crash_);
  }
  OnEnded(status, out_of_memory, was_killed, now_ns, out);
}

}  // namespace cudnn_ci
