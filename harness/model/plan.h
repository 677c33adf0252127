// The plan: which cases exist, fixed before anything runs. A pure function of matrix, catalog, devices
// and selection.
#ifndef CUDNN_CI_MODEL_PLAN_H_
#define CUDNN_CI_MODEL_PLAN_H_

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/check_info.h"
#include "model/event.h"
#include "model/matrix.h"
#include "model/outcome.h"

namespace cudnn_ci {

// A check with all parameters bound; immutable.
struct Case {
  CasePlanned planned;  // identity, requirement, parameters
  Devices devices = Devices::kNone;
  bool shareable = false;
  // Not on the run's first device: may share a process with checks of other plugins (CCI_CHECK_POOLED).
  bool pooled = false;
  std::vector<size_t> prerequisites;  // indices into Plan::cases, all smaller than this case's own
  // Settled by the plan itself: the plugin would not load, it disturbs others without --disturb, ...
  std::optional<Outcome> settled;
  std::vector<Finding> findings;  // of a settled case
  // Required by the matrix, or by what it requires, and left out because it disturbs others.
  bool left_out = false;
};

struct Plan {
  std::vector<Case> cases;             // prerequisites before what needs them
  std::vector<std::string> not_gated;  // what the contract does not promise, in words
  std::vector<std::string> warnings;
  // "filtered", "shard 2/4", "static stage", "without --disturb (host.fill)"; empty: whole.
  std::string partial;
  std::string sha256;  // over ids, devices and parameters
};

struct PlanOptions {
  // Of the run, in order. Empty: none was found, and cases go to a nominal gpu0.
  std::vector<DeviceInfo> devices;
  std::string filter;                 // GoogleTest's syntax over "id"; empty: all
  std::vector<std::string> case_ids;  // literal, with or without "@gpu1"
  int shard_index = 0, shard_count = 0;
  bool static_stage = false;  // only what needs no GPU
  bool disturb = false;
  std::string no_device;  // why no device was found, when `devices` is empty
  // Each becomes a red case of every selection and shard: what was planned rests on facts that are not there.
  std::vector<FactsProblem> facts_problems;
};

// `catalog` is one without CatalogProblems.
std::variant<Plan, std::vector<Problem>> MakePlan(const Matrix& matrix, const Catalog& catalog,
                                                  const PlanOptions& options);

// "conv.forward[dtype=float16,shape=stem]" from the bound parameters without shape fields; `subject` and
// `name` are added when not empty.
std::string CaseId(const std::string& check, const Params& params, const std::string& subject,
                   const std::string& name);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_PLAN_H_
