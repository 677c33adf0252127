#include "model/event.h"

#include "model/names.h"

namespace cudnn_ci {

namespace {

constexpr const char* kModes[] = {"alone", "shared", "confirm", "retry"};
constexpr const char* kFlags[] = {"leaked", "slow",   "confirmed-alone", "taken-as-is", "order-dependent",
                                  "flaky",  "waived", "retried",         "step-skipped"};
// In the order of EventBody's alternatives.
constexpr const char* kEvents[] = {"RunStarted",      "CasePlanned",    "PlanEnd",    "WorkerStarted",
                                   "WorkerEnded",     "AttemptStarted", "Step",       "ExpectationFailed",
                                   "Finding",         "Measurement",    "Attachment", "CaseSlow",
                                   "AttemptFinished", "CaseFinished",   "DeviceLost", "RunCancelled",
                                   "RunFinished"};
static_assert(std::variant_size_v<EventBody> == 17);

}  // namespace

const char* Name(AttemptMode mode) { return NameOf(kModes, mode); }
const char* Name(Flag flag) { return NameOf(kFlags, flag); }
bool Parse(const std::string& name, Flag* out) { return ParseName(kFlags, name, out); }
const char* Name(const EventBody& body) { return NameOf(kEvents, body.index()); }

}  // namespace cudnn_ci
