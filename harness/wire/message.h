// What harness and worker say to each other: typed messages, one JSON object a packet of at most
// 64 KiB on an AF_UNIX SOCK_SEQPACKET, so that no frame can be torn and nothing is allocated on the
// other side's word. Both sides come from one build; the protocol carries a version all the same,
// for a worker of another one.
#ifndef CUDNN_CI_WIRE_MESSAGE_H_
#define CUDNN_CI_WIRE_MESSAGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/json/value.h"
#include "model/plan/check_info.h"
#include "model/record/crash.h"
#include "model/record/outcome.h"

namespace cudnn_ci::wire {

inline constexpr int kVersion = 6;
inline constexpr size_t kMaxPacket = 64 * 1024;
// Longest text a worker puts into one message; longer ones are cut by the sender.
inline constexpr size_t kMaxText = 16 * 1024;

// Most problems with the parameters of one case that a worker sends.
inline constexpr size_t kMaxProblems = 32;

// Each message bears its name in the packet ("m"); its fields are listed in message_fields.h.

// ---- harness to worker ----

// Describe the plugin: answered by PluginDescribed, CheckDescribed..., FindingDescribed..., DescribeEnd.
struct Describe {
  static constexpr const char* kName = "describe";
};
// Call the plugin's facts: answered by Fact..., FactsEnd.
struct CollectFacts {
  static constexpr const char* kName = "facts";
};
// What cases may ask for; maps too large for one packet come in several messages, which add up.
struct Configure {
  static constexpr const char* kName = "configure";
  std::map<std::string, std::string> contract, facts;
  std::string subject_name, subject_spec, device_uuid, scratch_dir;
  std::vector<std::string> subject_folders;
};
// The table of version facts and what is known; one of several, which add up.
struct Known {
  static constexpr const char* kName = "known";
  std::string entries;  // a text of wire/entries.h
};
// Create the device's context now, before a case needs it.
struct Warm {
  static constexpr const char* kName = "warm";
};
// Initialise the driver now, and make no context: the case that comes will.
struct Prepare {
  static constexpr const char* kName = "prepare";
};
// Let the check's plugin prepare this case, which may follow: not answered.
struct PrepareCase {
  static constexpr const char* kName = "prepare_case";
  std::string check;
  Params params;
  uint64_t seed = 0;
};
// Prove that the device still computes: answered by CanaryDone.
struct Canary {
  static constexpr const char* kName = "canary";
};
struct Run {
  static constexpr const char* kName = "run";
  int64_t serial = 0;  // tells runs in one worker apart; counts up
  std::string check;   // "conv.forward"
  Params params;
  double timeout_s = 0;
  uint64_t seed = 0;
  std::vector<std::string> skip_steps;
};
// Let the check's plugin validate the parameters of one case: answered by Validated. Uses no device.
struct Validate {
  static constexpr const char* kName = "validate";
  int64_t serial = 0;
  std::string check;
  Params params;
};
// Finish what is queued, then exit 0.
struct Shutdown {
  static constexpr const char* kName = "shutdown";
};

using ToWorker = std::variant<Describe, CollectFacts, Configure, Known, Warm, Prepare, PrepareCase, Canary,
                              Run, Validate, Shutdown>;

// ---- worker to harness ----

struct Hello {
  static constexpr const char* kName = "hello";
  int version = kVersion;
  int64_t pid = 0;
};
// The plugin could not be loaded or is not one; the worker exits after it.
struct PluginFailed {
  static constexpr const char* kName = "plugin_failed";
  std::string reason;
};
struct PluginDescribed {
  static constexpr const char* kName = "plugin";
  PluginInfo info;  // without checks and findings
};
struct CheckDescribed {
  static constexpr const char* kName = "check";
  CheckInfo check;
};
struct FindingDescribed {
  static constexpr const char* kName = "finding_info";
  FindingInfo finding;
};
struct DescribeEnd {
  static constexpr const char* kName = "describe_end";
};
struct Fact {
  static constexpr const char* kName = "fact";
  std::string key, value;
};
struct FactsEnd {
  static constexpr const char* kName = "facts_end";
  std::string failure;  // the plugin's facts threw, or called what they may not; empty: they ended well
};
struct CanaryDone {
  static constexpr const char* kName = "canary_done";
  bool ok = false;
  std::string detail;  // the driver's words; or why there was nothing to test
};
// One value, or ("") several together, that no machine could run.
struct ParamProblem {
  std::string parameter, why;
};
struct Validated {
  static constexpr const char* kName = "validated";
  int64_t serial = 0;
  std::vector<ParamProblem> problems;  // at most kMaxProblems; empty: the parameters are possible
  std::string failure;                 // the hook itself failed, and how; empty: it did not
};
// Of the first case of the process; the harness knows that it waits for later ones.
struct CaseStarted {
  static constexpr const char* kName = "case_started";
  int64_t serial = 0;
};
struct Step {
  static constexpr const char* kName = "step";
  int64_t serial = 0;
  std::string name;
  bool skippable = false;  // the check asked whether to skip it
};
struct Expectation {  // one that did not hold
  static constexpr const char* kName = "expectation";
  int64_t serial = 0;
  std::string file;
  int line = 0;
  std::string what;
};
struct FindingSaid {
  static constexpr const char* kName = "finding";
  int64_t serial = 0;
  std::string slug, detail;
  std::string command = {};  // as of FindingInfo, instead of what is declared
  Where where = Where::kNone;
};
struct Measurement {
  static constexpr const char* kName = "measurement";
  int64_t serial = 0;
  std::string name;
  double value = 0;
  std::string unit, goal;
};
struct Attachment {
  static constexpr const char* kName = "attachment";
  int64_t serial = 0;
  std::string name, mime, path;  // path: the plain name of a file in the worker's scratch folder
};
struct Log {
  static constexpr const char* kName = "log";
  int64_t serial = 0;
  int level = 0;
  std::string text;
};
struct Poisoned {
  static constexpr const char* kName = "poisoned";
  int64_t serial = 0;
  std::string reason;
};
struct Uncaught {
  static constexpr const char* kName = "uncaught";
  int64_t serial = 0;
  std::string what;
};
// Said while the process dies of a signal, before the verdict of whatever runs; the later of two counts.
struct Crashed {
  static constexpr const char* kName = "crashed";
  Crash crash;  // without symbols
};
struct CaseFinished {
  static constexpr const char* kName = "case_finished";
  int64_t serial = 0;
  int64_t evaluated = 0;  // expectations, held or not
  std::optional<Skipped> skip;
  std::string context_error;  // the CUDA context was broken at the end; empty: it was fine or there was none
  bool leaked = false;        // children were left behind
};

using FromWorker =
    std::variant<Hello, PluginFailed, PluginDescribed, CheckDescribed, FindingDescribed, DescribeEnd, Fact,
                 FactsEnd, CanaryDone, Validated, CaseStarted, Step, Expectation, FindingSaid, Measurement,
                 Attachment, Log, Poisoned, Uncaught, Crashed, CaseFinished>;

// Whether a byte of a path stands for itself in Crashed; all others are %XX, in lower-case hex.
constexpr bool NeedsNoEscape(char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '%'; }

// Encoding never fails: text is made valid UTF-8 and cut to fit.
std::string Encode(const ToWorker& message);
std::string Encode(const FromWorker& message);

// Errors say what is wrong with the packet. Never throws, whatever the bytes.
Result<ToWorker> DecodeToWorker(std::string_view packet);
Result<FromWorker> DecodeFromWorker(std::string_view packet);

}  // namespace cudnn_ci::wire

#endif  // CUDNN_CI_WIRE_MESSAGE_H_
