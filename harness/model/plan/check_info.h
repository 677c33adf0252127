// What plugins declare: their checks with typed parameters, and the catalog of all that were found.
#ifndef CUDNN_CI_MODEL_PLAN_CHECK_INFO_H_
#define CUDNN_CI_MODEL_PLAN_CHECK_INFO_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/json/value.h"
#include "model/record/facts.h"
#include "model/record/finding.h"
#include "model/record/notice.h"

namespace cudnn_ci {

enum class ParamType { kBool, kI64, kF64, kString, kI64List, kStringList, kShape };
const char* Name(ParamType type);  // "integer", "list of strings", ...

struct ParamInfo {
  std::string name;
  ParamType type = ParamType::kString;
  std::string summary;
  std::optional<std::string> default_json;  // absent: the matrix must give a value
  std::vector<std::string> allowed;         // of a string or string list; empty: any
  int64_t min_i64 = std::numeric_limits<int64_t>::min();
  int64_t max_i64 = std::numeric_limits<int64_t>::max();
  std::vector<ParamInfo> fields;  // of a shape
};

enum class Devices { kNone, kOne, kAll, kEnvironment };
const char* Name(Devices devices);

struct CheckInfo {
  std::string name;    // "conv.forward"
  std::string plugin;  // "conv"
  std::string summary;
  Layer layer = Layer::kOther;
  Devices devices = Devices::kNone;
  bool shareable = false, per_subject = false, disturbs = false, pooled = false;
  bool second_opinion = false;  // a failure is repeated on another GPU: it may be the first one's
  bool slow_cases = false;      // each usually takes a tenth of a second or more (CCI_CHECK_SLOW_CASES)
  bool concurrent = false;      // several processes of one GPU may run its cases at a time
  // Of a plugin that is not the tool's own: it shares no process with another plugin.
  bool third_party = false;
  bool validates = false;  // its plugin validates the parameters of a case while the plan is made
  double timeout_s = 0;    // 0: the matrix's default
  std::vector<ParamInfo> params;
  std::vector<std::string> prerequisites;  // full check names
  std::vector<std::string> judges;         // promises of the contract it is red for: "image.cudnn"
};

// Which file a plugin was when it was described: what is compared before each start, and what it held.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  int64_t size = 0, changed_ns = 0;  // the time of its last change, since the epoch
  std::string sha256;                // hex, of its content
  bool operator==(const FileIdentity&) const = default;
};

struct PluginInfo {
  std::string name, version, summary;
  std::string path;
  FileIdentity file;
  bool third_party = false;  // found in another folder than the tool's own
  uint32_t abi_minor = 0;
  bool has_facts = false, facts_per_subject = false;
  Notices warnings;  // "writable by others", ...
  std::vector<CheckInfo> checks;
  std::vector<FindingInfo> findings;
};

// A file that looked like a plugin and could not be described.
struct BrokenPlugin {
  std::string stem;  // "conv" of conv.cci.so
  std::string path;
  std::string reason;  // the loader's own words, the signal, the exit status
  // Of the finding it stands for: "worker-not-started" and "abandoned" are the runner's fault.
  std::string slug = "plugin-load";
  bool silent = false;       // its process ended before it reached its own main function
  std::string printed = {};  // what its process printed, on one line; part of the reason
};

struct Catalog {
  std::vector<PluginInfo> plugins;  // sorted by name
  std::vector<BrokenPlugin> broken;

  const CheckInfo* FindCheck(const std::string& name) const;
  const PluginInfo* FindPlugin(const std::string& name) const;
  // Of any plugin or of the harness.
  const FindingInfo* FindFinding(const std::string& slug) const;
  std::vector<std::string> CheckNames() const;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_PLAN_CHECK_INFO_H_
