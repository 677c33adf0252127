// The outcome of a case: every way to end, as a value.
#ifndef CUDNN_CI_MODEL_RECORD_OUTCOME_H_
#define CUDNN_CI_MODEL_RECORD_OUTCOME_H_

#include <string>
#include <variant>
#include <vector>

#include "model/record/case_ref.h"
#include "model/record/finding.h"

namespace cudnn_ci {

enum class SkipKind { kUnsupported, kAbsent, kMemory, kVersion };
// What a skip of kind memory lacked; kNone: a skip of another kind.
enum class Resource { kNone, kDeviceMemory, kHostMemory };
enum class ErrorKind {
  kCrashed,
  kTimedOut,
  kExited,
  kProtocol,
  kOutOfMemory,
  kOutputLimit,
  kProcessLimit,
  kPluginLoad,
  kDeviceLost,
  kAbandoned,
  kKilledFromOutside,  // by a signal that cudnn-ci did not send
  kCancelled
};
// Whose code a crash was in: unknown; a plugin's or the worker's own; the image's; the host's driver's.
enum class CrashSite { kUnknown, kHarness, kImage, kDriver };
const char* Name(CrashSite site);  // "unknown", "harness", "image", "driver"
bool Parse(const std::string& name, CrashSite* out);
const char* Name(SkipKind kind);      // "unsupported", "absent", "memory", "version"
const char* Name(ErrorKind kind);     // "crashed", "timed_out", ...
const char* Name(Resource resource);  // "", "device-memory", "host-memory"
bool Parse(const std::string& name, SkipKind* out);
bool Parse(const std::string& name, Resource* out);
bool Parse(const std::string& name, ErrorKind* out);

struct Passed {
  bool operator==(const Passed&) const = default;
};
struct Failed {
  bool operator==(const Failed&) const = default;
};  // why: the case's failed expectations and findings
struct Skipped {
  SkipKind kind = SkipKind::kUnsupported;
  std::string need, seen;
  Resource resource = Resource::kNone;
  bool operator==(const Skipped&) const = default;
};
struct Blocked {
  // The prerequisite. A record tells it by DisplayId: where its device is empty, RootBlocker finds the case.
  CaseRef by;
  bool operator==(const Blocked&) const = default;
};
struct Errored {
  ErrorKind kind = ErrorKind::kCrashed;
  std::string detail;                    // "SIGSEGV (Segmentation fault) after its verdict, in step algo=1"
  CrashSite site = CrashSite::kUnknown;  // of kCrashed; kProcessLimit: whose processes; kTimedOut: SiteOfHang
  bool operator==(const Errored&) const = default;
};
struct NotRun {
  std::string reason;  // "the run was interrupted", ...
  bool operator==(const NotRun&) const = default;
};

using Outcome = std::variant<NotRun, Passed, Failed, Skipped, Blocked, Errored>;

const char* Name(const Outcome& outcome);  // "passed", "failed", "errored", "skipped", "blocked", "not_run"

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_OUTCOME_H_
