// Events: the record of a run, in order. The journal is this list, one JSON object a line; console,
// JUnit and JSON are folds over it. Events carry facts, never display policy.
//
// Whoever takes events has one overload per type and visits EventBody with it: a new type compiles only when
// fold, journal and console each say what they do with it.
#ifndef CUDNN_CI_MODEL_RECORD_EVENT_H_
#define CUDNN_CI_MODEL_RECORD_EVENT_H_

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "image/contents/subject.h"
#include "model/json/value.h"
#include "model/record/case_ref.h"
#include "model/record/finding.h"
#include "model/record/knowledge_file.h"
#include "model/record/notice.h"
#include "model/record/outcome.h"
#include "model/record/table.h"

namespace cudnn_ci {

// One GPU the run uses. N of "gpuN" is its place among the visible ones in PCI order.
struct DeviceInfo {
  std::string name;  // "gpu0"
  std::string uuid, model, compute_capability;
  bool operator==(const DeviceInfo&) const = default;
};

// A plugin file as it was described: what the run tested with.
struct PluginIdentity {
  std::string name, version, path;
  std::string sha256;  // of the file, lower-case hex; empty: it could not be read
  // What named its folder: "CUDNN_CI_PLUGIN_PATH", "--plugin-dir"; empty: it is the tool's own.
  std::string from = {};
  bool operator==(const PluginIdentity&) const = default;
};

// A failure that is known and accepted until a date. Matches case *and* finding id, and the blame where it
// has one.
struct Waiver {
  std::string case_pattern, slug, reason, owner;
  std::string expires;     // "2027-03-31": the last day it holds
  std::string blame = {};  // "image"; empty: whoever is to blame
  bool operator==(const Waiver&) const = default;
};

// The table of version facts that the run was given (model/matrix/compatibility.h).
struct VersionTable {
  std::string as_of;         // the day of the facts, "2026-11-20"; empty: there was no table
  std::string path, sha256;  // the file
  bool operator==(const VersionTable&) const = default;
};

// A run that a merged one was made of: a shard, or the run on one type of GPU.
struct RunPart {
  std::string name;  // "2/4", "t4"
  std::string run_id, timestamp, hostname;
  std::string driver;             // its version; empty: none was found
  std::vector<std::string> gpus;  // models, of the GPUs that were used
  std::string command_line;       // for a reproduction on this type of GPU
  std::string verdict;            // of this part alone, by its name; "missing": there is no record of it
  double seconds = 0;             // 0: it did not come to its end
  bool operator==(const RunPart&) const = default;
};

// What an event is about. A merge carries it over by this (model/merge/merge_parts.h): an event without a
// scope does not compile there.
enum class Scope {
  kMadeAnew,   // the frame of a record: the merged one has its own
  kRun,        // the run as a whole
  kWorker,     // one worker, by its number
  kCase,       // one case, by its `ref`
  kCaseOrRun,  // the case of its `ref`; the run where that is empty
};

// Every event has the name it bears in the journal, and its scope.

struct RunStarted {
  static constexpr const char* kName = "RunStarted";
  static constexpr Scope kScope = Scope::kMadeAnew;
  std::string run_id;
  std::string timestamp;  // UTC, "2026-01-31T10:00:00Z"
  // Of the word that RunFinished tells, in lower-case hex; empty: the run was given none.
  std::string token_sha256;
  std::string version;  // of cudnn-ci
  std::string hostname;
  std::string matrix_name, matrix_path, matrix_sha256;
  std::string image;  // by digest ("app@sha256:..."), else by id; "unidentified" if not given
  // Who said so: "engine" (what its inspector prints holds this digest), "told" (the caller alone); empty:
  // no one.
  std::string digest_from;
  std::string command_line;  // as typed, for the reproduction
  // The same run in a new container of the image, for a shell: `docker run ...`. Empty: the image is
  // unidentified.
  std::string container_command;
  VersionTable compatibility;
  std::vector<KnowledgeFile> knowledge;  // what else is known, in the order of reading
  std::vector<SubjectInfo> subjects;
  std::vector<DeviceInfo> devices;
  std::map<std::string, std::string> contract;                      // "runner.driver" -> ">=525.60.13"
  std::map<std::string, std::map<std::string, std::string>> facts;  // by subject
  // Who set the variables that facts tell of, by name: "image", "runner", "runner, over the image's". Empty:
  // the image's configuration is not known.
  std::map<std::string, std::string> environment;
  Notices not_gated;                    // what the contract does not promise or no case tests
  Notices warnings;                     // of discovery and planning
  std::vector<PluginIdentity> plugins;  // sorted by name
  Notices partial;                      // why this run is not a whole verdict; empty: it is
  bool report_only = false;
  int shard_index = 0, shard_count = 0;  // 0: not sharded
  // What the runs were that this one was merged from: "shards", "nodes", "gpus"; empty: it is one run.
  std::string merged_by;
  std::vector<RunPart> parts;  // in order; empty unless merged
};

// A waiver of the matrix, in its order; after RunStarted. One event each: there may be thousands.
struct WaiverDeclared {
  static constexpr const char* kName = "WaiverDeclared";
  static constexpr Scope kScope = Scope::kMadeAnew;
  Waiver waiver;
};

struct CasePlanned {
  static constexpr const char* kName = "CasePlanned";
  static constexpr Scope kScope = Scope::kMadeAnew;
  CaseRef ref;
  std::string check, plugin, subject;
  Layer layer = Layer::kOther;
  bool required = true;
  bool prerequisite = false;  // pulled in, not asked for by the matrix or the filter
  double timeout_s = 0;
  int entry = -1;  // index of the matrix entry it comes from; -1: pulled in
  // In the whole plan, from 0, whatever part of it this run is: by it a merge finds the plan's order again.
  // -1: not recorded.
  int place = -1;
  std::vector<SkipKind> allow_skip;
  bool allow_flaky = false;  // a pass on retry counts as passed
  Params params;
};

struct PlanEnd {
  static constexpr const char* kName = "PlanEnd";
  static constexpr Scope kScope = Scope::kMadeAnew;
  int64_t count = 0;
  std::string plan_sha256;
  // Cases of the whole plan, before it was dealt to shards; what has a higher place (plugin.facts) stands in
  // every shard. -1: not recorded.
  int64_t whole = -1;
};

struct WorkerStarted {
  static constexpr const char* kName = "WorkerStarted";
  static constexpr Scope kScope = Scope::kWorker;
  int64_t worker = 0;  // counts from 1
  int64_t pid = 0;
  std::string plugin, subject, device;
  bool shared = false;
  // Warm workers that may use its device at a time, itself among them: above 1 what its cases measure is of a
  // GPU that others use as well.
  int64_t sharing = 1;
};
struct WorkerEnded {
  static constexpr const char* kName = "WorkerEnded";
  static constexpr Scope kScope = Scope::kWorker;
  int64_t worker = 0;
  std::string how;  // "exit 0", "SIGKILL", ...
  std::string why;  // "done", "retired: crashed", ...
};

// How an attempt runs. Only passes and allowed skips may come from a shared worker.
// kCrossDevice is on another GPU than the case's: it tells whose fault a failure is, and is never the case's
// outcome. kConcurrent is a process with one case beside others of its kind.
enum class AttemptMode { kAlone, kShared, kConfirm, kRetry, kCrossDevice, kConcurrent };
const char* Name(AttemptMode mode);  // "alone", "shared", "confirm", "retry", "elsewhere", "concurrent"
bool Parse(const std::string& name, AttemptMode* out);

struct AttemptStarted {
  static constexpr const char* kName = "AttemptStarted";
  static constexpr Scope kScope = Scope::kCase;
  CaseRef ref;
  int attempt = 1;
  int64_t worker = 0;
  AttemptMode mode = AttemptMode::kAlone;
};

struct StepReached {
  static constexpr const char* kName = "Step";
  static constexpr Scope kScope = Scope::kCase;
  CaseRef ref;
  std::string name;
};
struct ExpectationFailed {
  static constexpr const char* kName = "ExpectationFailed";
  static constexpr Scope kScope = Scope::kCase;
  CaseRef ref;
  std::string file;
  int line = 0;
  std::string what;
};
struct FindingReported {
  static constexpr const char* kName = "Finding";
  static constexpr Scope kScope = Scope::kCaseOrRun;
  CaseRef ref;  // empty id: about the run
  Finding finding;
};
struct Measured {
  static constexpr const char* kName = "Measurement";
  static constexpr Scope kScope = Scope::kCase;
  CaseRef ref;
  std::string name;
  double value = 0;
  std::string unit;
  std::string goal;  // "", "lower", "higher"
};
struct Attached {
  static constexpr const char* kName = "Attachment";
  static constexpr Scope kScope = Scope::kCase;
  CaseRef ref;
  std::string name, mime;
  std::string path;          // relative to the output folder
  AttachedTable table = {};  // its content, where it is one; else empty
};
struct CaseSlow {
  static constexpr const char* kName = "CaseSlow";
  static constexpr Scope kScope = Scope::kCase;
  CaseRef ref;
  double seconds = 0, limit = 0;
};

// What happened to a case on its way; shown in every report.
enum class Flag { kLeaked, kSlow, kConfirmed, kUnconfirmed, kOrderDependent, kFlaky, kRetried, kStepSkipped };
const char* Name(Flag flag);  // "leaked", "slow", "confirmed-alone", "taken-as-is", "order-dependent", ...
bool Parse(const std::string& name, Flag* out);

struct AttemptFinished {
  static constexpr const char* kName = "AttemptFinished";
  static constexpr Scope kScope = Scope::kCase;
  CaseRef ref;
  int attempt = 1;
  int64_t worker = 0;
  Outcome outcome;
  double seconds = 0;
  std::string output;    // tail of stdout, stderr and log, cleaned and bounded; empty when it passed
  std::string evidence;  // what was seen of a hung or crashed process
};
struct CaseFinished {
  static constexpr const char* kName = "CaseFinished";
  static constexpr Scope kScope = Scope::kCase;
  CaseRef ref;
  Outcome outcome;
  double seconds = 0;  // of all attempts
  std::vector<Flag> flags;
};
struct DeviceLost {
  static constexpr const char* kName = "DeviceLost";
  static constexpr Scope kScope = Scope::kRun;
  std::string device, reason;
};
// Why a run stops before its plan is done.
enum class CancelReason { kSignal, kTimeLimit, kFailFast };
const char* Name(CancelReason reason);  // "signal", "time-limit", "fail-fast"
bool Parse(const std::string& name, CancelReason* out);

struct RunCancelled {
  static constexpr const char* kName = "RunCancelled";
  static constexpr Scope kScope = Scope::kRun;
  CancelReason reason = CancelReason::kSignal;
  int signal = 0;  // its number, when a signal is the reason
};
// As people type or know it: "SIGINT", "--time-limit", "--fail-fast".
std::string TextOf(const RunCancelled& cancelled);

// Why a process is ended that did nothing wrong: the run ends before its plan is done; a signal, or a second
// one, ends it at once; the case that it was prepared for does not come.
enum class Cancellation { kRunEnded, kInterrupted, kInterruptedTwice, kCaseGone };
// How its case ends. `run`: of kRunEnded.
Errored CancelledBy(Cancellation why, const RunCancelled& run = {});

struct RunFinished {
  static constexpr const char* kName = "RunFinished";
  static constexpr Scope kScope = Scope::kMadeAnew;
  double seconds = 0;
  std::string token = {};  // the secret of --run-token, unknown to every check
};

using EventBody =
    std::variant<RunStarted, WaiverDeclared, CasePlanned, PlanEnd, WorkerStarted, WorkerEnded, AttemptStarted,
                 StepReached, ExpectationFailed, FindingReported, Measured, Attached, CaseSlow,
                 AttemptFinished, CaseFinished, DeviceLost, RunCancelled, RunFinished>;

// What was told, as a part of the record. Whoever tells takes texts as they come, from images, plugins and
// files; here they are cleaned (CleanText), and whoever reads an event writes them as they are.
struct Event {
  Event(int64_t number, int64_t since_start_ms, EventBody&& told);
  Event(int64_t number, int64_t since_start_ms, const EventBody& told)
      : Event(number, since_start_ms, EventBody(told)) {}
  int64_t seq;   // counts from 1, without gaps
  int64_t t_ms;  // since the run started, monotonic
  EventBody body;
};

// For overloads that treat several events alike: template <OneOf<WorkerStarted, WorkerEnded> E> ...
template <class E, class... Es>
concept OneOf = (std::same_as<E, Es> || ...);

const char* Name(const EventBody& body);  // the alternative's kName
Scope ScopeOf(const EventBody& body);     // the alternative's kScope

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_EVENT_H_
