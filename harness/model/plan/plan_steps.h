// The steps of MakePlan, in the order it takes them: bind, expand, link, order, select. Private to model.
// Knows nothing of workers or time: the same input gives the same plan on every machine.
#ifndef CUDNN_CI_MODEL_PLAN_PLAN_STEPS_H_
#define CUDNN_CI_MODEL_PLAN_PLAN_STEPS_H_

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/plan/covering_array.h"
#include "model/plan/plan.h"

namespace cudnn_ci {

// Beyond these a matrix is taken for a slip: an axis too many, not a wish.
inline constexpr size_t kMaxCases = 1'000'000;
inline constexpr size_t kMaxDependencies = 20'000'000;
inline constexpr size_t kMaxPlanBytes = size_t{1} << 30;  // of all parameters of all cases, in JSON

struct PlanInput {
  PlanInput(const Matrix& m, const Catalog& c, const PlanOptions& o);

  const CheckInfo* Check(const std::string& name) const;
  // The stem of the broken plugin file that would have held the check; empty when there is none.
  std::string BrokenStem(const std::string& check) const;
  std::string PluginPath(const std::string& plugin) const;

  const Matrix& matrix;
  const Catalog& catalog;
  const PlanOptions& options;
  std::vector<std::string> devices;  // "gpu0", ...; at least one
  std::unordered_map<std::string, const CheckInfo*> by_name;
};

// A parameter's value as checked against its declaration.
struct Bound {
  std::string name;
  Value value;
  std::vector<std::pair<std::string, Value>> fields;  // of a shape: "shape.x", ...
  std::string id_text;                                // empty: cannot stand in a case id
  size_t bytes = 0;                                   // in JSON, with the fields
};

inline void AllowAbsence(std::vector<SkipKind>* allowed) {
  if (std::find(allowed->begin(), allowed->end(), SkipKind::kAbsent) == allowed->end())
    allowed->push_back(SkipKind::kAbsent);
}

// Adds the parameter and its fields.
void PutParam(const Bound& bound, Params* params);

class Binder {
 public:
  Binder(const PlanInput& input, std::vector<Problem>* problems) : input_(input), problems_(problems) {}

  // Nothing, with a problem reported, when the value does not fit the declaration.
  std::optional<Bound> Bind(const CheckInfo& check, const ParamInfo& param, const Json& json);
  // The declared default. A default that does not fit is the plugin's problem.
  std::optional<Bound> BindDefault(const CheckInfo& check, const ParamInfo& param);
  // The value as it stands, where no declaration is at hand because the plugin is broken.
  std::optional<Bound> BindRaw(const std::string& name, const Json& json);

 private:
  using Fields = std::vector<std::pair<std::string, Value>>;
  std::optional<Value> Convert(const ParamInfo& param, const Json& json, const std::string& what);
  bool CheckItem(const ParamInfo& param, const Json& json, const std::string& what);
  std::optional<Fields> BindShape(const CheckInfo& check, const ParamInfo& param, const Json& json,
                                  const std::string& name);
  std::optional<Fields> BindFields(const CheckInfo& check, const ParamInfo& param, const Shape& shape);
  std::nullopt_t Report(const Position& position, std::string message);

  const PlanInput& input_;
  std::vector<Problem>* problems_;
  std::map<std::string, std::optional<Fields>> shapes_;  // by check, parameter and shape: reported once
};

// From entries to cases, in the order of the file.
class Expander {
 public:
  Expander(const PlanInput& input, std::vector<Problem>* problems)
      : input_(input), problems_(problems), binder_(input, problems) {}

  void AddBrokenPlugins();
  void AddEntries();
  // A case of a check that the matrix does not list, with default parameters. False, with a problem
  // reported, when a parameter has no default.
  bool AddPulledIn(const CheckInfo& check, const std::string& subject, const std::string& device,
                   const CheckInfo& needed_by);
  // The place in cases() of the case that stands for a broken plugin file.
  size_t BrokenCase(const std::string& stem) const { return broken_.at(stem); }
  std::vector<Case>& cases() { return cases_; }

 private:
  struct Axis {
    std::vector<Bound> values;
    // [combination][value]: whether a combination of the entry's "exclude" or "slow" may have the value.
    std::vector<std::vector<bool>> excluded, slow;
  };
  class Combiner;
  void AddEntry(size_t index);
  // The combinations of this entry's axes that the plan takes, by the places of their values. Nothing, with a
  // problem reported, where they are too many.
  std::optional<std::vector<Combination>> Combinations(const Entry& entry, const std::vector<Axis>& axes);
  bool BindEntry(const Entry& entry, const CheckInfo* check, std::vector<Bound>* fixed,
                 std::vector<Axis>* axes);
  bool BindParams(const Entry& entry, const CheckInfo* check, std::vector<Bound>* fixed);
  bool BindAxis(const Entry& entry, const CheckInfo* check, const Json::Member& member, Axis* axis);
  bool CheckSize(const Entry& entry, const std::vector<Bound>& fixed, const std::vector<Axis>& axes);
  bool AddDefaults(const Entry& entry, const CheckInfo& check, std::vector<Bound>* fixed);
  const ParamInfo* FindParam(const CheckInfo& check, const Json::Member& member);
  bool RequireIdText(const Bound& bound, const Json& json, bool is_axis, const Entry& entry);
  void AddCombinations(const Entry& entry, const Case& prototype, const std::vector<Bound>& fixed,
                       const std::vector<Axis>& axes, const std::vector<Combination>& combinations);
  void AddCase(Case c, const Entry* entry);
  Case Prototype(const CheckInfo* check, const std::string& name) const;
  // Settles the case as skipped when its check disturbs others and that was not asked for.
  void LeaveOutIfDisturbing(const CheckInfo* check, Case* c) const;
  std::vector<std::string> SubjectsOf(const Entry& entry, const CheckInfo* check);
  // Whether another subject has the package that the case asks, and its own has not (Matrix::adapters).
  bool IsOfAnotherSubject(const CasePlanned& planned) const;
  // With what the matrix does not hold against the subject (Matrix::unpromised).
  std::vector<SkipKind> AllowedSkips(std::vector<SkipKind> allowed, const CheckInfo* check,
                                     const std::string& subject) const;

  const PlanInput& input_;
  std::vector<Problem>* problems_;
  Binder binder_;
  std::vector<Case> cases_;
  size_t bytes_ = 0;                               // of their parameters
  std::unordered_map<std::string, size_t> known_;  // id and device -> place in cases_
  std::map<std::pair<int, int>, bool> clashes_;    // entries that make the same case: reported once
  std::map<std::string, size_t> broken_;           // stem -> place in cases_
};

// Tells cases apart: id and device.
inline std::string CaseKey(const CaseRef& ref) { return ref.id + "\n" + ref.device; }

// Reports circles among the prerequisites of the catalog's checks; true if there is none.
bool CheckCycles(const PlanInput& input, std::vector<Problem>* problems);

// Pulls in prerequisites that the matrix does not list and fills Case::prerequisites.
void LinkPrerequisites(const PlanInput& input, Expander* expander, std::vector<Problem>* problems);

// Prerequisites first; within that by layer, then as they came.
std::vector<Case> InOrder(std::vector<Case> cases);

// Reports case ids of the options that the plan does not have.
void CheckCaseIds(const PlanInput& input, const std::vector<Case>& cases, std::vector<Problem>* problems);

// Asks options.validate about the cases, each combination of parameters once, and reports what is invalid
// where the matrix says it. Returns the plugins that failed.
std::vector<BrokenPlugin> ValidateCases(const PlanInput& input, const std::vector<Case>& cases,
                                        std::vector<Problem>* problems);

// Reports promises of the contract that no required case of the whole plan tests.
void CheckPromises(const PlanInput& input, const std::vector<Case>& cases, std::vector<Problem>* problems);
// What the contract does not promise, and what it promises and no case of the selection tests.
Notices NotGated(const PlanInput& input, const std::vector<Case>& selected);

// What stage and filters leave, with the prerequisites of what was selected.
std::vector<Case> Select(const PlanOptions& options, std::vector<Case> cases);
// This shard's share, with its prerequisites.
std::vector<Case> Deal(const PlanOptions& options, std::vector<Case> cases);

// "check[a=1,b=2]" from parts sorted by key.
std::string CaseIdOf(std::string_view check,
                     const std::vector<std::pair<std::string_view, std::string_view>>& parts);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_PLAN_PLAN_STEPS_H_
