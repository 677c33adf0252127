// Which cases of the whole plan this run is about: stage, filter, literal ids, shard.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/json/json_tree.h"
#include "model/plan/plan_steps.h"

namespace cudnn_ci {

namespace {

// Cases, and each once more without its device, as which it stands for itself on every device.
using CaseSet = std::set<CaseRef>;

// Keeps what is selected and, walking backwards, what it needs.
std::vector<Case> Keep(std::vector<Case> cases, std::vector<bool> keep) {
  for (size_t i = cases.size(); i-- > 0;) {
    if (!keep[i]) continue;
    for (const size_t p : cases[i].prerequisites) {
      if (!keep[p]) cases[p].planned.prerequisite = true;
      keep[p] = true;
    }
  }
  std::vector<size_t> place(cases.size());
  std::vector<Case> kept;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!keep[i]) continue;
    place[i] = kept.size();
    kept.push_back(std::move(cases[i]));
    for (size_t& p : kept.back().prerequisites) p = place[p];
  }
  return kept;
}

// The id that shares most of its beginning and end with `wanted`: linear, where the edit distance to every
// id of a large plan would take minutes.
std::string NearestId(const std::string& wanted, const std::vector<Case>& cases) {
  std::string nearest;
  size_t most = 0;
  for (const Case& c : cases) {
    const std::string& id = c.planned.ref.id;
    const auto front =
        std::mismatch(wanted.begin(), wanted.end(), id.begin(), id.end()).first - wanted.begin();
    const auto back =
        std::mismatch(wanted.rbegin(), wanted.rend(), id.rbegin(), id.rend()).first - wanted.rbegin();
    const auto common = static_cast<size_t>(front + back);
    if (common <= most) continue;
    most = common;
    nearest = id;
  }
  return DidYouMean(wanted, {nearest});
}

// The device of a recorded case that is not in the plan because this run does not use that device, or no
// longer all that the earlier one used; else empty. The matrix has not dropped such a case.
std::string GoneDevice(const CaseRef& ref, const CaseSet& known, const std::vector<DeviceInfo>& devices) {
  const std::string& device = ref.device;
  if (!device.starts_with("gpu") || device.find_first_not_of("0123456789", 3) != std::string::npos) return "";
  const bool used =
      std::any_of(devices.begin(), devices.end(), [&](const DeviceInfo& d) { return d.name == device; });
  return used && known.count({ref.id, ""}) == 0 ? "" : device;
}

}  // namespace

void CheckCaseIds(const PlanInput& input, const std::vector<Case>& cases, std::vector<Problem>* problems) {
  const std::vector<CaseRef>& asked = input.options.cases;
  if (asked.empty()) return;
  CaseSet known;
  for (const Case& c : cases) known.insert(c.planned.ref), known.insert({c.planned.ref.id, ""});
  const auto is_known = [&](const CaseRef& ref) { return known.count(ref) > 0; };
  const bool forgive = input.options.cases_of_record && std::any_of(asked.begin(), asked.end(), is_known);
  for (const CaseRef& ref : asked) {
    if (is_known(ref)) continue;
    const std::string id = ref.device.empty() ? ref.id : IdWithDevice(ref);
    if (const std::string device = forgive ? GoneDevice(ref, known, input.options.devices) : "";
        !device.empty()) {
      AddProblem(problems, {input.matrix.path, 0, 0},
                 "--rerun-failed: " + id + " did not pass, and this run does not repeat it on " + device +
                     "; run without --rerun-failed, or with --device all");
      continue;
    }
    if (forgive) {
      AddProblem(problems, {input.matrix.path, 0, 0},
                 "--rerun-failed: " + id +
                     " did not pass, and is no longer in the plan; run without --rerun-failed to test the "
                     "whole new plan");
      continue;
    }
    const std::string near = NearestId(id, cases);
    AddProblem(
        problems, {input.matrix.path, 0, 0},
        "--case " + id + ": the plan has no such case" +
            (near.empty() ? "; `cudnn-ci list` shows them all" : "; did you mean " + Quote(near) + "?"));
  }
}

std::vector<Case> Select(const PlanOptions& options, std::vector<Case> cases) {
  if (!options.static_stage && options.cases.empty() && options.filter.empty()) return cases;
  std::vector<bool> keep(cases.size(), true);
  if (options.static_stage) {
    // Without the GPU nothing is known about what needs it: a case that is tested without one is tested
    // against itself.
    for (size_t i = 0; i < cases.size(); ++i) {
      keep[i] = cases[i].devices == Devices::kNone;
      std::erase_if(cases[i].prerequisites, [&](size_t p) { return cases[p].devices != Devices::kNone; });
    }
  }
  const CaseSet asked(options.cases.begin(), options.cases.end());
  for (size_t i = 0; i < cases.size(); ++i) {
    const CaseRef& ref = cases[i].planned.ref;
    if (!asked.empty() && asked.count(ref) == 0 && asked.count({ref.id, ""}) == 0) keep[i] = false;
    if (!options.filter.empty() && !FilterMatch(options.filter, ref.id) &&
        !FilterMatch(options.filter, IdWithDevice(ref))) {
      keep[i] = false;
    }
  }
  return Keep(std::move(cases), std::move(keep));
}

std::vector<Case> Deal(const PlanOptions& options, std::vector<Case> cases) {
  if (options.shard_count <= 1 || options.is_node) return cases;
  std::vector<bool> keep(cases.size());
  const auto count = static_cast<uint64_t>(options.shard_count);
  for (size_t i = 0; i < cases.size(); ++i) {
    keep[i] = Fnv1a(cases[i].planned.ref.id) % count + 1 == static_cast<uint64_t>(options.shard_index);
  }
  return Keep(std::move(cases), std::move(keep));
}

}  // namespace cudnn_ci
