// What a worker says, and what becomes of it. The process is a check's: nothing it says is believed beyond
// what the protocol allows at that moment.
#include <algorithm>

#include "base/text.h"
#include "exec/worker.h"

namespace cudnn_ci {

void Worker::OnPacket(std::string_view packet, int64_t now_ns, std::vector<Effect>* out) {
  Result<wire::FromWorker> message = wire::DecodeFromWorker(packet);
  if (!message.ok()) return OnGarbage(message.error(), now_ns, out);
  std::visit(
      [&](const auto& m) {
        if constexpr (requires { this->Handle(m, now_ns, out); })
          Handle(m, now_ns, out);
        else
          Unexpected(m, now_ns, out);
      },
      *message);
}

void Worker::OnGarbage(const std::string& why, int64_t now_ns, std::vector<Effect>* out) {
  Terminate(ErrorKind::kProtocol, why, true, now_ns, out);
}

template <class M>
void Worker::Unexpected(const M&, int64_t now_ns, std::vector<Effect>* out) {
  OnGarbage("the worker sent a message that belongs to discovery", now_ns, out);
}

// A message about another case than the running one: the check's process is not to be believed.
bool Worker::IsCurrent(int64_t serial, int64_t now_ns, std::vector<Effect>* out) {
  if (!queue_.empty() && queue_.front().run.serial == serial) return true;
  OnGarbage("a message about run " + std::to_string(serial) + ", which is not running", now_ns, out);
  return false;
}

void Worker::Handle(const wire::Hello& m, int64_t now_ns, std::vector<Effect>* out) {
  if (m.version != wire::kVersion)
    OnGarbage("the worker speaks protocol " + std::to_string(m.version) + ", this cudnn-ci " +
                  std::to_string(wire::kVersion) + ": they are of different versions",
              now_ns, out);
}

void Worker::Handle(const wire::PluginFailed& m, int64_t, std::vector<Effect>*) {
  plugin_failure_ = m.reason;
  Retire("plugin failed to load");
}

void Worker::Handle(const wire::CanaryDone& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!canary_since_ns_) return OnGarbage("an answer to a canary that was not asked for", now_ns, out);
  canary_since_ns_.reset();
  current_since_ns_ = now_ns;  // the case's time begins after the canary's
  out->emplace_back(CanaryResult{m.ok, m.detail});
}

void Worker::Handle(const wire::CaseStarted& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  Announce(out);
}

// Cases queued ahead have not started: only what the process has begun (or died before beginning) is an
// attempt.
void Worker::Announce(std::vector<Effect>* out) {
  if (started_) return;
  started_ = true;
  const Assignment& a = queue_.front();
  out->emplace_back(EmitEvent{AttemptStarted{a.ref, a.attempt, id_, a.mode}});
}

void Worker::Handle(const wire::Step& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  step_ = CleanLine(m.name, 200);
  step_skippable_ = m.skippable;
  out->emplace_back(EmitEvent{StepReached{queue_.front().ref, step_}});
}

void Worker::Handle(const wire::Expectation& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  failed_ = true;
  ExpectationFailed said{queue_.front().ref, CleanLine(m.file), m.line, CleanText(m.what)};
  if (first_expectation_.empty())
    first_expectation_ = said.file + ":" + std::to_string(said.line) + ": " + said.what;
  out->emplace_back(EmitEvent{std::move(said)});
}

void Worker::Say(Finding finding, std::vector<Effect>* out) {
  finding.detail = CleanText(finding.detail);
  if (finding.severity == Severity::kError) failed_ = true;
  out->emplace_back(EmitEvent{FindingReported{queue_.front().ref, finding}});
  findings_.push_back(std::move(finding));
}

void Worker::Handle(const wire::FindingSaid& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  if (const FindingInfo* info = declared_(m.slug))
    Say(MakeFinding(*info, m.detail), out);
  else
    Say(HarnessFinding("undeclared-finding", "'" + CleanLine(m.slug, 100) + "': " + m.detail), out);
}

void Worker::Handle(const wire::Measurement& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  const bool known_goal = m.goal == "lower" || m.goal == "higher";
  out->emplace_back(EmitEvent{Measured{queue_.front().ref, CleanLine(m.name, 100), m.value,
                                       CleanLine(m.unit, 40), known_goal ? m.goal : ""}});
}

void Worker::Handle(const wire::Attachment& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  out->emplace_back(
      EmitEvent{Attached{queue_.front().ref, CleanLine(m.name, 100), CleanLine(m.mime, 100), m.path}});
}

void Worker::Handle(const wire::Log& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  const char* const levels[] = {"", "warning: ", "error: "};
  OnOutput(levels[std::clamp(m.level, 0, 2)] + m.text + "\n", now_ns, out);
}

void Worker::Handle(const wire::Poisoned& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  device_suspect_ = true;
  Retire("poisoned: " + CleanLine(m.reason));
}

void Worker::Handle(const wire::Uncaught& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  Say(HarnessFinding("uncaught-exception", "uncaught exception: " + m.what), out);
}

// The worker's account of the whole case. It says what was evaluated; whether that is a pass is decided here.
void Worker::Handle(const wire::CaseFinished& m, int64_t now_ns, std::vector<Effect>* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  if (doom_) return;  // too late: its time was up, or it broke a bound, before it said this
  if (!m.context_error.empty()) {
    device_suspect_ = true;
    Say(HarnessFinding("context-broken", m.context_error), out);
  }
  Outcome outcome;
  if (failed_) {
    outcome = Failed{};
  } else if (m.skipped) {
    outcome = Skipped{m.skip.kind, CleanLine(m.skip.need), CleanLine(m.skip.seen)};
  } else if (m.evaluated > 0) {
    outcome = Passed{};
  } else {
    Say(HarnessFinding("checked-nothing", "the check ended without evaluating a single expectation"), out);
    outcome = Failed{};
  }
  if (m.leaked) Say(HarnessFinding("leaked-process", "the check left a process running; it was killed"), out);
  AttemptResult result = TakeResult(std::move(outcome), now_ns, out);
  result.leaked = m.leaked;
  result.context_broken = !m.context_error.empty();
  if (result.context_broken) Retire("broken CUDA context");
  if (m.leaked) Retire("leaked a process");
  if (shared_) {
    out->emplace_back(AttemptEnded{std::move(result)});
    if (retired_) {
      GiveBackRest(out);
      if (state_ == State::kServing) Kill(now_ns, out);  // nothing of use can come from it any more
    }
  } else {
    verdict_ = std::move(result);
    if (state_ == State::kServing) {
      state_ = State::kStopping;
      state_since_ns_ = now_ns;
      if (m.leaked) Kill(now_ns, out);
    }
  }
}

}  // namespace cudnn_ci
