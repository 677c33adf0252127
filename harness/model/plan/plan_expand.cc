// Entries of the matrix into cases: subjects, devices, axes.
#include <algorithm>

#include "base/text.h"
#include "model/json/json_tree.h"
#include "model/plan/plan_steps.h"

namespace cudnn_ci {

namespace {

constexpr const char* kPluginLoad = "plugin.load";
// Which ask packages of one environment (plugins/kernels).
constexpr const char *kPackageCheck = "kernels.package", *kCoveredCheck = "kernels.covered";

// A file's stem may hold what an id cannot.
std::string IdStem(std::string stem) {
  for (char& c : stem) {
    if (!IsIdText(std::string(1, c))) c = '_';
  }
  if (stem.empty()) stem += '_';
  return stem;
}

std::string PluginOf(const std::string& check) { return check.substr(0, check.find('.')); }

}  // namespace

void Expander::AddBrokenPlugins() {
  for (const BrokenPlugin& plugin : input_.catalog.broken) {
    const std::string detail = plugin.path + ": " + plugin.reason;
    const auto [place, added] = broken_.emplace(plugin.stem, cases_.size());
    if (!added) {
      cases_[place->second].findings.push_back(HarnessFinding(plugin.slug, detail));
      continue;
    }
    Case c;
    c.planned.check = kPluginLoad;
    c.planned.plugin = "plugin";
    c.planned.timeout_s = input_.matrix.default_timeout_s;
    c.planned.params["file"] = plugin.stem;
    c.planned.ref.id = CaseIdOf(kPluginLoad, {{"file", IdStem(plugin.stem)}});
    // Two stems may become one id text: "a-b" and "a_b".
    while (known_.count(CaseKey(c.planned.ref)) > 0) c.planned.ref.id.insert(c.planned.ref.id.end() - 1, '_');
    c.predetermined = Errored{ErrorKind::kPluginLoad, plugin.reason};
    c.findings.push_back(HarnessFinding(plugin.slug, detail));
    AddCase(std::move(c), nullptr);
  }
}

void Expander::AddEntries() {
  for (size_t i = 0; i < input_.matrix.entries.size(); ++i) AddEntry(i);
}

Case Expander::Prototype(const CheckInfo* check, const std::string& name) const {
  Case c;
  c.planned.check = name;
  if (check == nullptr) {
    c.planned.plugin = PluginOf(name);
    return c;
  }
  c.planned.plugin = check->plugin;
  c.planned.layer = check->layer;
  c.devices = check->devices;
  c.third_party = check->third_party;
  c.shareable = check->shareable;
  c.second_opinion = check->second_opinion && check->devices == Devices::kOne;
  c.slow = check->slow_cases;
  // A pooled check that is not shareable joins a process of others, where it is the only one of its kind.
  c.concurrent = check->concurrent && check->devices == Devices::kOne && (check->shareable || !check->pooled);
  // AddCase knows the device. A framework's check has no context that it could share.
  c.pooled = (check->pooled || check->shareable) && check->layer != Layer::kFramework;
  c.leading = check->pooled && !check->shareable && !check->per_subject;
  c.prepared = check->pooled && !check->shareable && check->layer != Layer::kDriver;
  return c;
}

void Expander::LeaveOutIfDisturbing(const CheckInfo* check, Case* c) const {
  if (check == nullptr || !check->disturbs || input_.options.disturb) return;
  c->predetermined = Skipped{SkipKind::kAbsent, "--disturb", "not given"};
  c->left_out = c->planned.required;
  c->planned.required = false;
}

std::vector<std::string> Expander::SubjectsOf(const Entry& entry, const CheckInfo* check) {
  if (check != nullptr && !check->per_subject && !entry.subjects.empty()) {
    AddProblem(problems_, entry.position,
               "\"subjects\" has no meaning here: " + check->name +
                   " does not look at libraries and runs once; remove it");
  }
  if (check == nullptr || !check->per_subject) return {""};
  if (!entry.subjects.empty()) return entry.subjects;
  std::vector<std::string> all;
  for (const SubjectInfo& subject : input_.matrix.subjects) all.push_back(subject.name);
  return all;
}

std::vector<SkipKind> Expander::AllowedSkips(std::vector<SkipKind> allowed, const CheckInfo* check,
                                             const std::string& subject) const {
  const auto lacks = input_.matrix.unpromised.find(subject);
  if (check == nullptr || lacks == input_.matrix.unpromised.end()) return allowed;
  // A promise that is held against the subject all the same stays red for who tests it.
  const bool still_judges = std::any_of(check->judges.begin(), check->judges.end(), [&](const auto& key) {
    return input_.matrix.contract.count(key) > 0 && lacks->second.count(key) == 0;
  });
  if (!still_judges) AllowAbsence(&allowed);
  return allowed;
}

bool Expander::IsOfAnotherSubject(const CasePlanned& planned) const {
  if (planned.check != kPackageCheck && planned.check != kCoveredCheck) return false;
  const auto param = planned.params.find("adapter");
  const auto* const adapter =
      param == planned.params.end() ? nullptr : std::get_if<std::string>(&param->second);
  const auto has = [&](const auto& of_subject) {
    return adapter == nullptr ? !of_subject.second.empty() : of_subject.second.count(*adapter) > 0;
  };
  const auto& all = input_.matrix.adapters;
  const auto own = all.find(planned.subject);
  return std::any_of(all.begin(), all.end(), has) && (own == all.end() || !has(*own));
}

void Expander::AddEntry(size_t index) {
  const Entry& entry = input_.matrix.entries[index];
  const CheckInfo* check = input_.Check(entry.check);
  const std::string broken = check == nullptr ? input_.BrokenStem(entry.check) : "";
  if (check == nullptr && broken.empty()) {
    std::vector<std::string> known = input_.catalog.CheckNames();
    AddProblem(problems_, entry.check_position,
               "no plugin has the check " + Quote(entry.check) + Hint(entry.check, known));
    return;
  }
  std::vector<Bound> fixed;
  std::vector<Axis> axes;
  if (!BindEntry(entry, check, &fixed, &axes) || !CheckSize(entry, fixed, axes)) return;
  const auto combinations = Combinations(entry, axes);
  if (!combinations) return;

  Case prototype = Prototype(check, entry.check);
  CasePlanned& planned = prototype.planned;
  planned.entry = static_cast<int>(index);
  planned.required = entry.required.value_or(input_.matrix.default_required);
  LeaveOutIfDisturbing(check, &prototype);
  const double declared = check == nullptr ? 0 : check->timeout_s;
  planned.timeout_s = entry.timeout_s.value_or(declared > 0 ? declared : input_.matrix.default_timeout_s);
  planned.allow_flaky = entry.allow_flaky.value_or(false);
  const double percent = entry.max_slowdown_percent.value_or(input_.matrix.default_max_slowdown_percent);
  if (percent > 0) prototype.max_slowdown = 1 + percent / 100;
  if (!broken.empty()) {
    const size_t blocker = broken_.at(broken);
    prototype.predetermined = Blocked{cases_[blocker].planned.ref};
    prototype.prerequisites = {blocker};
  }
  for (const std::string& subject : SubjectsOf(entry, check)) {
    planned.subject = subject;
    planned.allow_skip = AllowedSkips(entry.allow_skip, check, subject);
    const bool each = prototype.devices == Devices::kOne;
    for (const std::string& device : each ? input_.devices : std::vector<std::string>{""}) {
      planned.ref.device = device;
      AddCombinations(entry, prototype, fixed, axes, *combinations);
    }
  }
}

const ParamInfo* Expander::FindParam(const CheckInfo& check, const Json::Member& member) {
  std::vector<std::string> known;
  for (const ParamInfo& param : check.params) {
    if (param.name == member.key) return &param;
    known.push_back(param.name);
  }
  const std::string hint = known.empty() ? "; it has none" : Hint(member.key, known);
  AddProblem(problems_, member.position, check.name + " has no parameter " + Quote(member.key) + hint);
  return nullptr;
}

bool Expander::RequireIdText(const Bound& bound, const Json& json, bool is_axis, const Entry& entry) {
  if (!bound.id_text.empty() || (!is_axis && !entry.name.empty())) return true;
  AddProblem(problems_, json.position,
             "this value of " + Quote(bound.name) +
                 " is not allowed in a case id, which has letters, digits, \"_\", \".\" and \"+\"; " +
                 (is_axis ? "write an entry for each such value, each with a \"name\""
                          : "give the entry a \"name\" instead"));
  return false;
}

bool Expander::BindParams(const Entry& entry, const CheckInfo* check, std::vector<Bound>* fixed) {
  bool good = true;
  for (const Json::Member& member : entry.params) {
    const ParamInfo* param = check == nullptr ? nullptr : FindParam(*check, member);
    if (check != nullptr && param == nullptr) {
      good = false;
      continue;
    }
    std::optional<Bound> bound = check == nullptr ? binder_.BindRaw(member.key, member.value)
                                                  : binder_.Bind(*check, *param, member.value);
    if (!bound || !RequireIdText(*bound, member.value, false, entry)) {
      good = false;
      continue;
    }
    fixed->push_back(std::move(*bound));
  }
  return good;
}

bool Expander::BindAxis(const Entry& entry, const CheckInfo* check, const Json::Member& member, Axis* axis) {
  const ParamInfo* param = check == nullptr ? nullptr : FindParam(*check, member);
  if (check != nullptr && param == nullptr) return false;
  bool good = true;
  axis->excluded.resize(entry.exclude.size());
  axis->slow.resize(entry.slow.size());
  const auto match = [&member](const std::vector<Json::Object>& combinations, const Json& value,
                               std::vector<std::vector<bool>>* out) {
    for (size_t i = 0; i < combinations.size(); ++i) {
      const Json* wanted = Find(combinations[i], member.key);
      (*out)[i].push_back(wanted == nullptr || SameJson(*wanted, value));
    }
  };
  for (const Json& value : std::get<Json::Array>(member.value.value)) {
    std::optional<Bound> bound =
        check == nullptr ? binder_.BindRaw(member.key, value) : binder_.Bind(*check, *param, value);
    if (!bound || !RequireIdText(*bound, value, true, entry)) {
      good = false;
      continue;
    }
    axis->values.push_back(std::move(*bound));
    match(entry.exclude, value, &axis->excluded);
    match(entry.slow, value, &axis->slow);
  }
  return good;
}

bool Expander::AddDefaults(const Entry& entry, const CheckInfo& check, std::vector<Bound>* fixed) {
  bool good = true;
  for (const ParamInfo& param : check.params) {
    if (Find(entry.params, param.name) != nullptr || Find(entry.axes, param.name) != nullptr) continue;
    if (!param.default_json) {
      AddProblem(
          problems_, entry.position,
          check.name + " needs a value for " + Quote(param.name) + "; give it in \"params\" or \"axes\"");
      good = false;
    } else if (std::optional<Bound> bound = binder_.BindDefault(check, param)) {
      fixed->push_back(std::move(*bound));
    } else {
      good = false;
    }
  }
  return good;
}

bool Expander::BindEntry(const Entry& entry, const CheckInfo* check, std::vector<Bound>* fixed,
                         std::vector<Axis>* axes) {
  bool good = BindParams(entry, check, fixed);
  for (const Json::Member& member : entry.axes) {
    axes->emplace_back();
    good = BindAxis(entry, check, member, &axes->back()) && good;
  }
  return (check == nullptr || AddDefaults(entry, *check, fixed)) && good;
}

bool Expander::AddPulledIn(const CheckInfo& check, const std::string& subject, const std::string& device,
                           const CheckInfo& needed_by) {
  Case c = Prototype(&check, check.name);
  c.planned.subject = subject;
  c.planned.ref.device = device;
  c.planned.prerequisite = true;
  c.planned.allow_skip = AllowedSkips({}, &check, subject);
  LeaveOutIfDisturbing(&check, &c);
  c.planned.timeout_s = check.timeout_s > 0 ? check.timeout_s : input_.matrix.default_timeout_s;
  size_t bytes = 0;
  for (const ParamInfo& param : check.params) {
    if (!param.default_json) {
      AddProblem(problems_, {input_.matrix.path, 0, 0},
                 needed_by.name + " requires " + check.name + ", whose " + Quote(param.name) +
                     " has no default; list " + check.name + " in \"checks\" with a value for it");
      return false;
    }
    const std::optional<Bound> bound = binder_.BindDefault(check, param);
    if (!bound) return false;
    PutParam(*bound, &c.planned.params);
    bytes += bound->bytes;
  }
  if (bytes > kMaxParamBytes) {
    AddProblem(problems_, {input_.PluginPath(check.plugin), 0, 0},
               "the default parameters of " + check.name + " take " + std::to_string(bytes) +
                   " bytes, more than the " + std::to_string(kMaxParamBytes) +
                   " that a worker accepts; repair the plugin");
    return false;
  }
  c.planned.ref.id = CaseId(check.name, c.planned.params, subject, "");
  AddCase(std::move(c), nullptr);
  return true;
}

}  // namespace cudnn_ci
