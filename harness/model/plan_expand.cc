// Entries of the matrix into cases: subjects, devices, axes.
#include <algorithm>

#include "base/text.h"
#include "model/json_position.h"
#include "model/plan_steps.h"

namespace cudnn_ci {

namespace {

constexpr const char* kPluginLoad = "plugin.load";

// A file's stem may hold what an id cannot.
std::string IdStem(std::string stem) {
  for (char& c : stem) {
    if (!IsIdText(std::string(1, c))) c = '_';
  }
  if (stem.empty()) stem += '_';
  return stem;
}

std::string PluginOf(const std::string& check) { return check.substr(0, check.find('.')); }

std::string KeyOf(const CaseRef& ref) { return ref.id + "\n" + ref.device; }

// The parts of an id that an entry fixes, in order, with a place for each axis.
struct IdPart {
  std::string key, text;
  int axis = -1;
};

}  // namespace

void Expander::AddBrokenPlugins() {
  for (const BrokenPlugin& plugin : input_.catalog.broken) {
    const std::string detail = plugin.path + ": " + plugin.reason;
    const auto [place, added] = broken_.emplace(plugin.stem, cases_.size());
    if (!added) {
      cases_[place->second].findings.push_back(HarnessFinding("plugin-load", detail));
      continue;
    }
    Case c;
    c.planned.check = kPluginLoad;
    c.planned.plugin = "plugin";
    c.planned.timeout_s = input_.matrix.default_timeout_s;
    c.planned.params["file"] = plugin.stem;
    c.planned.ref.id = CaseIdOf(kPluginLoad, {{"file", IdStem(plugin.stem)}});
    // Two stems may become one id text: "a-b" and "a_b".
    while (known_.count(KeyOf(c.planned.ref)) > 0) c.planned.ref.id.insert(c.planned.ref.id.end() - 1, '_');
    c.settled = Errored{ErrorKind::kPluginLoad, plugin.reason};
    c.findings.push_back(HarnessFinding("plugin-load", detail));
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
  c.shareable = check->shareable;
  c.pooled = check->pooled || check->shareable;  // AddCase knows the device
  if (check->disturbs && !input_.options.disturb) {
    c.settled = Skipped{SkipKind::kAbsent, "--disturb", "not given"};
  }
  return c;
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
  if (!BindEntry(entry, check, &fixed, &axes)) return;

  Case prototype = Prototype(check, entry.check);
  CasePlanned& planned = prototype.planned;
  planned.entry = static_cast<int>(index);
  planned.required = entry.required.value_or(input_.matrix.default_required) && !prototype.settled;
  const double declared = check == nullptr ? 0 : check->timeout_s;
  planned.timeout_s = entry.timeout_s.value_or(declared > 0 ? declared : input_.matrix.default_timeout_s);
  planned.allow_skip = entry.allow_skip;
  planned.allow_flaky = entry.allow_flaky.value_or(false);
  if (!broken.empty()) {
    const size_t blocker = broken_.at(broken);
    prototype.settled = Blocked{cases_[blocker].planned.ref.id};
    prototype.prerequisites = {blocker};
  }
  for (const std::string& subject : SubjectsOf(entry, check)) {
    planned.subject = subject;
    const bool each = prototype.devices == Devices::kOne;
    for (const std::string& device : each ? input_.devices : std::vector<std::string>{""}) {
      planned.ref.device = device;
      AddCombinations(index, prototype, fixed, axes);
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
                 " cannot stand in a case id, which holds letters, digits, \"_\", \".\" and \"+\"; " +
                 (is_axis ? "make an entry for each such value, each with a \"name\""
                          : "give the entry a \"name\" that stands for it"));
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
  for (const Json& value : std::get<Json::Array>(member.value.value)) {
    std::optional<Bound> bound =
        check == nullptr ? binder_.BindRaw(member.key, value) : binder_.Bind(*check, *param, value);
    if (!bound || !RequireIdText(*bound, value, true, entry)) {
      good = false;
      continue;
    }
    axis->values.push_back(std::move(*bound));
    for (size_t i = 0; i < entry.exclude.size(); ++i) {
      const Json* excluded = Find(entry.exclude[i], member.key);
      axis->excluded[i].push_back(excluded == nullptr || SameJson(*excluded, value));
    }
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
  size_t count = 1;
  for (const Json::Member& member : entry.axes) {
    axes->emplace_back();
    good = BindAxis(entry, check, member, &axes->back()) && good;
    count *= std::get<Json::Array>(member.value.value).size();
    if (count > kMaxCases) {
      AddProblem(problems_, member.position,
                 "with this axis the entry makes more than " + std::to_string(kMaxCases) +
                     " cases; split it or drop values");
      return false;
    }
  }
  return (check == nullptr || AddDefaults(entry, *check, fixed)) && good;
}

namespace {

// Counts like an odometer, the last axis fastest; false after the last combination.
bool Advance(std::vector<size_t>* digits, const std::vector<size_t>& sizes) {
  for (size_t i = digits->size(); i-- > 0;) {
    if (++(*digits)[i] < sizes[i]) return true;
    (*digits)[i] = 0;
  }
  return false;
}

void Put(const Bound& bound, Params* params) {
  params->insert_or_assign(bound.name, bound.value);
  for (const auto& [name, value] : bound.fields) params->insert_or_assign(name, value);
}

}  // namespace

void Expander::AddCombinations(size_t index, const Case& prototype, const std::vector<Bound>& fixed,
                               const std::vector<Axis>& axes) {
  const Entry& entry = input_.matrix.entries[index];
  Case base = prototype;
  std::vector<IdPart> parts;
  for (const Bound& bound : fixed) {
    Put(bound, &base.planned.params);
    if (!bound.id_text.empty()) parts.push_back({bound.name, bound.id_text});
  }
  std::vector<size_t> sizes;
  for (const Axis& axis : axes) {
    parts.push_back({axis.values.front().name, "", static_cast<int>(sizes.size())});
    sizes.push_back(axis.values.size());
  }
  if (!base.planned.subject.empty()) parts.push_back({"subject", base.planned.subject});
  if (!entry.name.empty()) parts.push_back({"name", entry.name});
  std::sort(parts.begin(), parts.end(), [](const IdPart& a, const IdPart& b) { return a.key < b.key; });

  size_t count = 1;
  for (const size_t size : sizes) count *= size;
  // Never less than double, or entry after entry would move all cases before it.
  if (cases_.size() + count > cases_.capacity()) {
    cases_.reserve(std::max(cases_.size() + count, 2 * cases_.capacity()));
    known_.reserve(cases_.capacity());
  }
  std::vector<size_t> digits(axes.size());
  std::vector<std::pair<std::string_view, std::string_view>> texts(parts.size());
  bool any = false;
  do {
    const auto left_out = [&](size_t exclusion) {
      for (size_t a = 0; a < axes.size(); ++a) {
        if (!axes[a].excluded[exclusion][digits[a]]) return false;
      }
      return true;
    };
    bool excluded = false;
    for (size_t e = 0; e < entry.exclude.size() && !excluded; ++e) excluded = left_out(e);
    if (excluded) continue;
    any = true;
    Case c = base;
    for (size_t a = 0; a < axes.size(); ++a) Put(axes[a].values[digits[a]], &c.planned.params);
    for (size_t i = 0; i < parts.size(); ++i) {
      const int a = parts[i].axis;
      texts[i] = {parts[i].key, a < 0 ? parts[i].text : axes[a].values[digits[a]].id_text};
    }
    c.planned.ref.id = CaseIdOf(entry.check, texts);
    AddCase(std::move(c), &entry);
  } while (cases_.size() <= kMaxCases && Advance(&digits, sizes));
  if (cases_.size() > kMaxCases) {
    AddProblem(
        problems_, entry.position,
        "with this entry the plan has more than " + std::to_string(kMaxCases) + " cases; split the matrix");
  } else if (!any) {
    AddProblem(problems_, entry.position,
               "\"exclude\" leaves nothing of this entry; remove one or the other");
  }
}

void Expander::AddCase(Case c, const Entry* entry) {
  c.pooled = c.pooled && c.devices == Devices::kOne && c.planned.ref.device != input_.devices.front();
  const auto [place, added] = known_.emplace(KeyOf(c.planned.ref), cases_.size());
  if (added) {
    cases_.push_back(std::move(c));
    return;
  }
  const int first = cases_[place->second].planned.entry;
  if (entry == nullptr || !clashes_.emplace(std::make_pair(first, c.planned.entry), true).second) return;
  const std::string what = "the case " + Quote(c.planned.ref.id);
  if (first == c.planned.entry) {
    AddProblem(problems_, entry->position, what + " comes twice of this entry; an axis lists a value twice");
  } else {
    const Position& other = input_.matrix.entries[static_cast<size_t>(first)].position;
    AddProblem(
        problems_, entry->position,
        what + " is made by the entry at " + ToString(other) + " already; give one of them a \"name\"");
  }
}

bool Expander::AddPulledIn(const CheckInfo& check, const std::string& subject, const std::string& device,
                           const CheckInfo& needed_by) {
  Case c = Prototype(&check, check.name);
  c.planned.subject = subject;
  c.planned.ref.device = device;
  c.planned.prerequisite = true;
  c.planned.required = !c.settled;
  c.planned.timeout_s = check.timeout_s > 0 ? check.timeout_s : input_.matrix.default_timeout_s;
  for (const ParamInfo& param : check.params) {
    if (!param.default_json) {
      AddProblem(problems_, {input_.matrix.path, 0, 0},
                 needed_by.name + " requires " + check.name + ", whose " + Quote(param.name) +
                     " has no default; list " + check.name + " in \"checks\" with a value for it");
      return false;
    }
    const std::optional<Bound> bound = binder_.BindDefault(check, param);
    if (!bound) return false;
    Put(*bound, &c.planned.params);
  }
  c.planned.ref.id = CaseId(check.name, c.planned.params, subject, "");
  AddCase(std::move(c), nullptr);
  return true;
}

}  // namespace cudnn_ci
