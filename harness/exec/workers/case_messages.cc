// What a worker says about its cases. The process is a check's: nothing it says is believed beyond what the
// protocol allows at that moment, and no more of it is kept than the bounds allow.
#include <algorithm>

#include "base/text.h"
#include "exec/workers/case_worker.h"

namespace cudnn_ci {
namespace {

// What a skip saw may be the answers of several parts of a library.
constexpr size_t kMostBytesOfWhatWasSeen = 1000;

}  // namespace

void CaseWorker::OnMessage(const wire::FromWorker& message, int64_t now_ns, Effects* out) {
  std::visit(
      [&](const auto& m) {
        if constexpr (requires { this->Handle(m, now_ns, out); })
          Handle(m, now_ns, out);
        else
          OnGarbage("the worker sent a message that belongs to discovery", now_ns, out);
      },
      message);
}

// A message about another case than the running one: the check's process is not to be believed.
bool CaseWorker::IsCurrent(int64_t serial, int64_t now_ns, Effects* out) {
  if (!queue_.empty() && queue_.front().run.serial == serial) {
    Announce(out);
    return true;
  }
  OnGarbage("a message about run " + std::to_string(serial) + ", which is not running", now_ns, out);
  return false;
}

void CaseWorker::Handle(const wire::CanaryDone& m, int64_t now_ns, Effects* out) {
  if (!canary_since_ns_) return OnGarbage("an answer to a canary that was not asked for", now_ns, out);
  canary_since_ns_.reset();
  current_since_ns_ = now_ns;  // the case's time begins after the canary's
  out->emplace_back(CanaryResult{m.ok, m.detail});
}

void CaseWorker::Handle(const wire::CaseStarted& m, int64_t now_ns, Effects* out) {
  const bool prepared = IsPreparing();
  if (IsCurrent(m.serial, now_ns, out) && prepared)
    current_since_ns_ = now_ns;  // its time begins behind that
}

// Cases that wait have not started: only what the process was given and has begun (or died before beginning)
// is an attempt.
void CaseWorker::Announce(Effects* out) {
  if (started_) return;
  started_ = true;
  const Assignment& a = queue_.front();
  Emit(AttemptStarted{a.ref, a.attempt, id(), a.mode}, out);
}

void CaseWorker::Handle(const wire::Step& m, int64_t now_ns, Effects* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  step_ = SingleLine(m.name, 200);
  step_skippable_ = m.skippable;
  if (bounds_.Keep(EvidenceBounds::kStep, 0)) Emit(StepReached{queue_.front().ref, step_}, out);
}

void CaseWorker::Handle(const wire::Expectation& m, int64_t now_ns, Effects* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  failed_ = true;
  ExpectationFailed failed{queue_.front().ref, SingleLine(m.file), m.line, m.what};
  if (bounds_.Keep(EvidenceBounds::kExpectation, failed.file.size() + failed.what.size()))
    Emit(std::move(failed), out);
}

// The harness's own are few, and never dropped.
void CaseWorker::Report(Finding finding, Effects* out) {
  if (finding.severity == Severity::kError) failed_ = true;
  Emit(FindingReported{queue_.front().ref, std::move(finding)}, out);
}

void CaseWorker::Handle(const wire::FindingSaid& m, int64_t now_ns, Effects* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  const FindingInfo* info = declared_(m.slug);
  Finding finding =
      info ? MakeFinding(*info, m.detail)
           : HarnessFinding("undeclared-finding", "'" + SingleLine(m.slug, 100) + "': " + m.detail);
  // What fits this occurrence replaces what is declared for all.
  if (info && IsCommand(m.command) && m.where != Where::kNone) {
    finding.command = m.command;
    finding.where = m.where;
  }
  if (bounds_.Keep(EvidenceBounds::kFinding, finding.detail.size() + m.command.size()))
    return Report(std::move(finding), out);
  if (finding.severity == Severity::kError) failed_ = error_dropped_ = true;
}

void CaseWorker::Handle(const wire::Measurement& m, int64_t now_ns, Effects* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  const bool known_goal = m.goal == "lower" || m.goal == "higher";
  if (bounds_.Keep(EvidenceBounds::kMeasurement, m.name.size() + m.unit.size()))
    Emit(Measured{queue_.front().ref, SingleLine(m.name, 100), m.value, SingleLine(m.unit, 40),
                  known_goal ? m.goal : ""},
         out);
}

void CaseWorker::Handle(const wire::Attachment& m, int64_t now_ns, Effects* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  if (bounds_.Keep(EvidenceBounds::kAttachment, m.name.size() + m.mime.size()))
    Emit(Attached{queue_.front().ref, SingleLine(m.name, 100), SingleLine(m.mime, 100), m.path}, out);
}

void CaseWorker::Handle(const wire::Log& m, int64_t now_ns, Effects* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  const char* const levels[] = {"", "warning: ", "error: "};
  OnOutput(levels[std::clamp(m.level, 0, 2)] + m.text + "\n", now_ns, out);
}

void CaseWorker::Handle(const wire::Poisoned& m, int64_t now_ns, Effects* out) {
  if (IsCurrent(m.serial, now_ns, out)) Retire("poisoned: " + SingleLine(m.reason));
}

void CaseWorker::Handle(const wire::Uncaught& m, int64_t now_ns, Effects* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  failed_ = true;
  if (bounds_.Keep(EvidenceBounds::kFinding, m.what.size()))
    Report(HarnessFinding("uncaught-exception", "uncaught exception: " + m.what), out);
  else
    error_dropped_ = true;
}

// The worker says what was evaluated; whether that is a pass is decided here.
Outcome CaseWorker::OutcomeOf(const wire::CaseFinished& m, Effects* out) {
  if (!m.context_error.empty()) Report(HarnessFinding("context-broken", m.context_error), out);
  if (!failed_ && !m.skip && m.evaluated <= 0)
    Report(HarnessFinding("checked-nothing",
                          "no expectation was evaluated, no finding reported, and nothing skipped"),
           out);
  if (m.leaked)
    Report(HarnessFinding("leaked-process", "the check left a process running; it was killed"), out);
  if (failed_) return Failed{};
  if (m.skip)
    return Skipped{m.skip->kind, SingleLine(m.skip->need), SingleLine(m.skip->seen, kMostBytesOfWhatWasSeen),
                   m.skip->kind == SkipKind::kMemory ? m.skip->resource : Resource::kNone};
  return Passed{};
}

void CaseWorker::Handle(const wire::CaseFinished& m, int64_t now_ns, Effects* out) {
  if (!IsCurrent(m.serial, now_ns, out)) return;
  // Too late: its time was up, it broke a bound, or a thread of it had crashed, before it said this.
  if (termination_ || crash_reported()) return;
  AttemptResult result = TakeResult(OutcomeOf(m, out), now_ns, out);
  result.leaked = m.leaked;
  result.context_broken = !m.context_error.empty();
  if (result.context_broken) Retire("broken CUDA context");
  if (m.leaked) Retire("leaked a process");
  if (shared_) {
    // Sent before the result is evaluated and recorded: the process runs the next case meanwhile. It does not
    // say that it begins, which would wake us for nothing.
    const bool goes_on = accepting() && !queue_.empty();
    if (goes_on) SendCurrent(out);
    out->emplace_back(AttemptEnded{std::move(result)});
    if (goes_on) Announce(out);
    if (!retired()) return;
    GiveBackRest(out);
    if (state_ == State::kServing) Kill(now_ns, out);  // nothing of use can come from it any more
  } else {
    verdict_ = std::move(result);
    if (state_ != State::kServing) return;
    Enter(State::kStopping, now_ns);
    if (m.leaked) Kill(now_ns, out);
  }
}

}  // namespace cudnn_ci
