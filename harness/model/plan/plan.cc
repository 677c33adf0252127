#include "model/plan/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "model/json/json_tree.h"
#include "model/plan/plan_steps.h"
#include "model/record/notice_list.h"
#include "model/verdict/attribution.h"

namespace cudnn_ci {

PlanInput::PlanInput(const Matrix& m, const Catalog& c, const PlanOptions& o)
    : matrix(m), catalog(c), options(o) {
  for (const DeviceInfo& device : options.devices) devices.push_back(device.name);
  if (devices.empty()) devices.emplace_back("gpu0");
  for (const PluginInfo& plugin : catalog.plugins) {
    for (const CheckInfo& check : plugin.checks) by_name.emplace(check.name, &check);
  }
}

const CheckInfo* PlanInput::Check(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::string PlanInput::BrokenStem(const std::string& check) const {
  std::string stem = check.substr(0, check.find('.'));
  for (const BrokenPlugin& plugin : catalog.broken) {
    if (plugin.stem == stem) return stem;
  }
  return "";
}

std::string PlanInput::PluginPath(const std::string& plugin) const {
  const PluginInfo* info = catalog.FindPlugin(plugin);
  return info == nullptr ? plugin : info->path;
}

namespace {

using Problems = std::vector<Problem>;

std::vector<std::string> FindingSlugs(const Catalog& catalog) {
  std::vector<std::string> slugs;
  for (const FindingInfo& finding : HarnessFindings()) slugs.push_back(finding.slug);
  for (const PluginInfo& plugin : catalog.plugins) {
    for (const FindingInfo& finding : plugin.findings) slugs.push_back(finding.slug);
  }
  return slugs;
}

// A waiver that can apply to nothing is a slip or a leftover; the gate is right without it.
Notices WaiverWarnings(const PlanInput& input, const std::vector<Case>& cases) {
  constexpr size_t kMostWarnings = 50;
  Notices warnings;
  for (const auto& [waiver, position] : input.matrix.waivers) {
    if (std::none_of(cases.begin(), cases.end(),
                     [&w = waiver](const Case& c) { return NamesCase(w, c.planned.ref); })) {
      warnings.push_back({NoticeCode::kWaiverWithoutCase,
                          {{"place", ToString(position)}, {"pattern", waiver.case_pattern}}});
    }
    // A broken plugin may be the one that declares it.
    if (!input.catalog.broken.empty()) continue;
    const FindingInfo* declared = input.catalog.FindFinding(waiver.slug);
    if (declared == nullptr) {
      warnings.push_back({NoticeCode::kWaiverWithoutFinding,
                          {{"place", ToString(position)},
                           {"finding", waiver.slug},
                           {"near", DidYouMean(waiver.slug, FindingSlugs(input.catalog))}}});
    } else if (!waiver.blame.empty() && FindHarnessFinding(waiver.slug) == nullptr &&
               waiver.blame != Name(declared->blame)) {
      // Those of the harness have another blame where the layer or the place of a crash says so.
      warnings.push_back({NoticeCode::kWaiverBlame,
                          {{"place", ToString(position)},
                           {"finding", FindingName(waiver)},
                           {"declared", std::string(Name(declared->blame)) + "." + waiver.slug}}});
    }
  }
  if (warnings.size() > kMostWarnings) {
    const auto more = static_cast<int64_t>(warnings.size() - kMostWarnings);
    warnings.resize(kMostWarnings);
    warnings.push_back({NoticeCode::kWaiversCut, {{"count", more}}});
  }
  return warnings;
}

Notices Partial(const PlanOptions& options, const std::vector<Case>& selected) {
  Notices reasons;
  if (!options.filter.empty() || !options.cases.empty()) reasons.push_back({NoticeCode::kFiltered});
  if (options.shard_count > 1)
    reasons.push_back({options.is_node ? NoticeCode::kNode : NoticeCode::kShard,
                       {{"index", int64_t{options.shard_index}}, {"count", int64_t{options.shard_count}}}});
  if (options.static_stage) reasons.push_back({NoticeCode::kStaticStage});
  std::set<std::string> left_out;
  for (const Case& c : selected) {
    if (c.left_out) left_out.insert(c.planned.check);
  }
  if (!left_out.empty()) {
    reasons.push_back({NoticeCode::kWithoutDisturb,
                       {{"checks", std::vector<std::string>(left_out.begin(), left_out.end())}}});
  }
  return reasons;
}

// Lengths before texts, so that no two plans have the same canonical text.
void AppendText(std::string_view text, std::string* out) {
  *out += std::to_string(text.size());
  *out += ':';
  *out += text;
}

}  // namespace

std::string PlanFingerprint(const std::vector<const CasePlanned*>& cases) {
  std::string text;
  for (const CasePlanned* planned : cases) {
    AppendText(planned->ref.id, &text);
    AppendText(planned->ref.device, &text);
    for (const auto& [name, value] : planned->params) {
      // The id holds plain parameters already; a shape's fields and what fits no id it does not.
      const bool scalar = !std::holds_alternative<std::string>(value) &&
                          !std::holds_alternative<std::vector<std::string>>(value) &&
                          !std::holds_alternative<std::vector<int64_t>>(value);
      if (name.find('.') == std::string::npos && (scalar || IsIdText(IdText(value)))) {
        continue;
      }
      AppendText(name, &text);
      AppendText(IdText(value), &text);
    }
    text += '\n';
  }
  return Sha256Hex(text);
}

std::string CaseIdOf(std::string_view check,
                     const std::vector<std::pair<std::string_view, std::string_view>>& parts) {
  std::string id(check);
  if (parts.empty()) return id;
  size_t size = id.size() + 2;
  for (const auto& [key, text] : parts) size += key.size() + text.size() + 2;
  id.reserve(size);
  char separator = '[';
  for (const auto& [key, text] : parts) {
    id += separator;
    id += key;
    id += '=';
    id += text;
    separator = ',';
  }
  return id + ']';
}

std::string CaseId(const std::string& check, const Params& params, const std::string& subject,
                   const std::string& name) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : params) {
    if (key.find('.') != std::string::npos) continue;  // a shape's field: the shape's name stands for it
    std::string text = IdText(value);
    if (IsIdText(text)) texts.emplace(key, std::move(text));
  }
  if (!subject.empty()) texts["subject"] = subject;
  if (!name.empty()) texts["name"] = name;
  return CaseIdOf(check, {texts.begin(), texts.end()});
}

namespace {

// The catalog as if these plugins could not have been loaded.
Catalog Without(const std::vector<BrokenPlugin>& failed, Catalog catalog) {
  for (const BrokenPlugin& plugin : failed) {
    std::erase_if(catalog.plugins, [&](const PluginInfo& info) { return info.name == plugin.stem; });
    catalog.broken.push_back(plugin);
  }
  return catalog;
}

// Without a device the driver's checks say why, and block what rests on them. A check that uses a device and
// rests on none of them would fail with its own words, and the image would be blamed.
void SettleWithoutDevice(const std::string& why, std::vector<Case>* cases) {
  std::vector<bool> rests_on_driver(cases->size(), false);
  for (size_t i = 0; i < cases->size(); ++i) {
    Case& c = (*cases)[i];
    rests_on_driver[i] = c.planned.layer == Layer::kDriver;
    for (const size_t p : c.prerequisites) rests_on_driver[i] = rests_on_driver[i] || rests_on_driver[p];
    const bool uses_device = c.devices == Devices::kOne || c.devices == Devices::kAll;
    if (!uses_device || rests_on_driver[i] || c.predetermined) continue;
    c.predetermined = Errored{ErrorKind::kDeviceLost, "no device: " + why};
    c.findings.push_back(HarnessFinding("device-lost", "no device: " + why));
  }
}

// Gives the cases of a whole plan their places; returns the fingerprint.
std::string FingerprintAndNumber(std::vector<Case>* cases) {
  std::vector<const CasePlanned*> planned;
  planned.reserve(cases->size());
  for (Case& c : *cases) {
    c.planned.place = static_cast<int>(planned.size());
    planned.push_back(&c.planned);
  }
  return PlanFingerprint(planned);
}

// A plugin whose facts crashed, hung or got no process: how many GPUs there are, or what the image holds, is
// not known, and the rest must not be taken for the whole. Blame follows the plugin's lowest layer.
std::vector<Case> FactsCases(const PlanInput& input) {
  std::vector<Case> cases;
  for (const FactsProblem& problem : input.options.facts_problems) {
    Case c;
    c.planned.check = "plugin.facts";
    c.planned.plugin = "plugin";
    c.planned.timeout_s = input.matrix.default_timeout_s;
    c.planned.params = {{"plugin", problem.plugin}};
    c.planned.ref.id = CaseIdOf(c.planned.check, {{"plugin", problem.plugin}, {"subject", problem.subject}});
    c.planned.subject = problem.subject;
    if (const PluginInfo* plugin = input.catalog.FindPlugin(problem.plugin))
      for (const CheckInfo& check : plugin->checks) c.planned.layer = std::min(c.planned.layer, check.layer);
    c.predetermined = problem.error;
    Finding finding = HarnessFinding(problem.slug, problem.error.detail);
    // Of contradictions the finding id says more than the kind of error.
    if (finding.slug == SlugOf(problem.error.kind)) finding.blame = BlameOf(problem.error, c.planned.layer);
    c.findings.push_back(std::move(finding));
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace

std::variant<Plan, std::vector<Problem>> MakePlan(const Matrix& matrix, const Catalog& catalog,
                                                  const PlanOptions& options) {
  Problems problems;
  const PlanInput input(matrix, catalog, options);
  Expander expander(input, &problems);
  expander.AddBrokenPlugins();
  expander.AddEntries();
  if (problems.empty()) LinkPrerequisites(input, &expander, &problems);
  if (!problems.empty()) return problems;

  std::vector<Case> cases = InOrder(std::move(expander.cases()));
  std::vector<Case> facts = FactsCases(input);
  const size_t selectable = cases.size();
  cases.insert(cases.end(), facts.begin(), facts.end());
  CheckCaseIds(input, cases, &problems);
  cases.resize(selectable);
  CheckPromises(input, cases, &problems);
  const std::vector<BrokenPlugin> failed = ValidateCases(input, cases, &problems);
  if (!problems.empty()) return problems;
  if (!failed.empty()) return MakePlan(matrix, Without(failed, catalog), options);
  Plan plan;
  plan.warnings = WaiverWarnings(input, cases);
  cases = Select(options, std::move(cases));
  plan.not_gated = NotGated(input, cases);
  plan.partial = Partial(options, cases);
  // Before the cases are dealt: all shards of a run carry the same fingerprint and places, so a merge can
  // tell whether they are of one plan, and put them together again.
  plan.sha256 = FingerprintAndNumber(&cases);
  plan.whole = static_cast<int64_t>(cases.size());
  for (size_t i = 0; i < facts.size(); ++i) facts[i].planned.place = static_cast<int>(cases.size() + i);
  plan.cases = Deal(options, std::move(cases));
  std::move(facts.begin(), facts.end(), std::back_inserter(plan.cases));
  if (!options.no_device.empty()) SettleWithoutDevice(options.no_device, &plan.cases);
  return plan;
}

}  // namespace cudnn_ci
