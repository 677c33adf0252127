#include "model/record/outcome.h"

#include "model/record/names.h"

namespace cudnn_ci {

namespace {

constexpr const char* kSkipKinds[] = {"unsupported", "absent", "memory", "version"};
constexpr const char* kResources[] = {"", "device-memory", "host-memory"};
constexpr const char* kErrorKinds[] = {
    "crashed",       "timed_out",   "exited",      "protocol",  "out_of_memory",       "output_limit",
    "process_limit", "plugin_load", "device_lost", "abandoned", "killed_from_outside", "cancelled"};
constexpr const char* kCrashSites[] = {"unknown", "harness", "image", "driver"};
// In the order of Outcome's alternatives.
constexpr const char* kOutcomes[] = {"not_run", "passed", "failed", "skipped", "blocked", "errored"};
static_assert(std::variant_size_v<Outcome> == 6);

}  // namespace

const char* Name(CrashSite site) { return NameOf(kCrashSites, site); }
bool Parse(const std::string& name, CrashSite* out) { return ParseName(kCrashSites, name, out); }
const char* Name(SkipKind kind) { return NameOf(kSkipKinds, kind); }
const char* Name(ErrorKind kind) { return NameOf(kErrorKinds, kind); }
const char* Name(Resource resource) { return NameOf(kResources, resource); }
bool Parse(const std::string& name, Resource* out) { return ParseName(kResources, name, out); }
bool Parse(const std::string& name, SkipKind* out) { return ParseName(kSkipKinds, name, out); }
bool Parse(const std::string& name, ErrorKind* out) { return ParseName(kErrorKinds, name, out); }

const char* Name(const Outcome& outcome) { return NameOf(kOutcomes, outcome.index()); }

}  // namespace cudnn_ci
