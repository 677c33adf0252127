#include "model/record/event.h"

#include "base/signal_text.h"
#include "model/record/names.h"

namespace cudnn_ci {

namespace {

constexpr const char* kModes[] = {"alone", "shared", "confirm", "retry", "elsewhere", "concurrent"};
constexpr const char* kFlags[] = {"leaked",          "slow",  "confirmed-alone", "taken-as-is",
                                  "order-dependent", "flaky", "retried",         "step-skipped"};
// As sentences. Of the first one see CancelledBy.
constexpr const char* kCancellations[] = {"", "interrupted", "interrupted twice",
                                          "its case does not run in it"};
constexpr const char* kCancelReasons[] = {"signal", "time-limit", "fail-fast"};

}  // namespace

const char* Name(AttemptMode mode) { return NameOf(kModes, mode); }
bool Parse(const std::string& name, AttemptMode* out) { return ParseName(kModes, name, out); }
const char* Name(Flag flag) { return NameOf(kFlags, flag); }
bool Parse(const std::string& name, Flag* out) { return ParseName(kFlags, name, out); }
const char* Name(CancelReason reason) { return NameOf(kCancelReasons, reason); }
bool Parse(const std::string& name, CancelReason* out) { return ParseName(kCancelReasons, name, out); }

std::string TextOf(const RunCancelled& cancelled) {
  if (cancelled.reason != CancelReason::kSignal) return std::string("--") + Name(cancelled.reason);
  return SignalName(cancelled.signal);
}

Errored CancelledBy(Cancellation why, const RunCancelled& run) {
  const std::string words =
      why == Cancellation::kRunEnded ? "the run was ended by " + TextOf(run) : NameOf(kCancellations, why);
  return {ErrorKind::kCancelled, words};
}

const char* Name(const EventBody& body) {
  return std::visit([](const auto& e) { return e.kName; }, body);
}

Scope ScopeOf(const EventBody& body) {
  return std::visit([](const auto& e) { return e.kScope; }, body);
}

}  // namespace cudnn_ci
