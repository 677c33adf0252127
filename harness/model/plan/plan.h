// The plan: which cases exist, fixed before anything runs. A pure function of matrix, catalog, devices
// and selection.
#ifndef CUDNN_CI_MODEL_PLAN_PLAN_H_
#define CUDNN_CI_MODEL_PLAN_PLAN_H_

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/matrix/matrix.h"
#include "model/plan/check_info.h"
#include "model/record/event.h"
#include "model/record/outcome.h"

namespace cudnn_ci {

// A check with all parameters bound; immutable.
struct Case {
  CasePlanned planned;  // identity, requirement, parameters
  Devices devices = Devices::kNone;
  bool shareable = false;
  // Not on the run's first device: may share a process with checks of other plugins (CCI_CHECK_POOLED).
  bool pooled = false;
  // Of a plugin that does not come with cudnn-ci. No case of another plugin runs in a process in which it
  // has been.
  bool third_party = false;
  // On the run's first device, pooled by its check, not shareable, and without a subject: it opens no library
  // of the image, so that it may come first in the warm worker of the cases that need it.
  bool leading = false;
  // The process that runs it may have initialised the driver before its turn comes: pooled by its check, on
  // the first device, and not of those that test the driver itself.
  bool prepared = false;
  // A failure may be the GPU's: it is repeated on another one (CCI_CHECK_SECOND_OPINION).
  bool second_opinion = false;
  // So many times as slow as in the baseline it may be; 0: it is not held to one.
  double max_slowdown = 0;
  // With one device: several processes of that may run such cases at a time, warm workers if it is shareable,
  // and else one for each case (CCI_CHECK_CONCURRENT).
  bool concurrent = false;
  // Each usually takes a tenth of a second or more (CCI_CHECK_SLOW_CASES).
  bool slow = false;
  std::vector<size_t> prerequisites;  // indices into Plan::cases, all smaller than this case's own
  // Predetermined by the plan itself: the plugin would not load, it disturbs others without --disturb, ...
  std::optional<Outcome> predetermined;
  std::vector<Finding> findings;  // of a predetermined one
  // Required by the matrix, or by what it requires, and left out because it disturbs others.
  bool left_out = false;
};

struct Plan {
  std::vector<Case> cases;  // prerequisites before what needs them
  Notices not_gated;        // what the contract does not promise or no case tests
  Notices warnings;
  Notices partial;  // "filtered", "shard 2/4", "static stage", "without --disturb (host.fill)"; empty: whole
  std::string sha256;  // PlanFingerprint of the whole plan, before it was dealt to shards
  int64_t whole = 0;   // cases of the whole plan
};

// A value that no machine could run: its plugin's word while the plan is made.
struct InvalidParam {
  std::string parameter;  // "groups", "shape.pad"; empty: several together
  std::string why;
};
struct Validation {
  std::vector<std::vector<InvalidParam>> invalid;  // by place in what was asked; shorter: the rest is good
  std::vector<BrokenPlugin> failed;                // plugins whose hook crashed, hung or broke the contract
};
// Lets the plugins validate the parameters of these cases; checks of one plugin may stand anywhere among
// them.
using Validate = std::function<Validation(const std::vector<const CasePlanned*>& cases)>;

struct PlanOptions {
  // Of the run, in order. Empty: none was found, and cases go to a nominal gpu0.
  std::vector<DeviceInfo> devices;
  std::string filter;          // GoogleTest's syntax over "id"; empty: all
  std::vector<CaseRef> cases;  // those alone; one without a device is meant on every device
  // Of an earlier run: those that are gone are warned of, unless all are, or one with its device.
  bool cases_of_record = false;
  int shard_index = 0, shard_count = 0;
  bool is_node = false;       // not dealt: each of shard_count nodes runs all cases
  bool static_stage = false;  // only what needs no GPU
  bool disturb = false;
  std::string no_device;  // why no device was found, when `devices` is empty
  // Each becomes a red case of every selection and shard: what was planned rests on facts that are not there.
  std::vector<FactsProblem> facts_problems;
  // Asked for every distinct combination of parameters, selected or not, of checks that validate. Empty:
  // no plugin is asked.
  Validate validate;
};

// `catalog` is one without CatalogProblems. A plugin that failed to validate is treated like one that could
// not be loaded.
std::variant<Plan, std::vector<Problem>> MakePlan(const Matrix& matrix, const Catalog& catalog,
                                                  const PlanOptions& options);

// What tells plans apart: SHA-256, in hex, over ids, devices and parameters of the cases of a whole plan in
// its order. `plugin.facts` cases are not among them.
std::string PlanFingerprint(const std::vector<const CasePlanned*>& cases);

// "conv.forward[dtype=float16,shape=stem]" from the bound parameters without shape fields; `subject` and
// `name` are added when not empty.
std::string CaseId(const std::string& check, const Params& params, const std::string& subject,
                   const std::string& name);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_PLAN_PLAN_H_
