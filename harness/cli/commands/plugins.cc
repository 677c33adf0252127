// `cudnn-ci plugins`: the plugins that were found, with their checks and findings, and what is wrong with
// them.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands/table.h"
#include "cli/known.h"
#include "cli/plugin_folders.h"
#include "cli/preparation.h"
#include "cli/shared_options.h"
#include "model/plan/catalog_rules.h"

namespace cudnn_ci {
namespace {

using nlohmann::ordered_json;

ordered_json ToJson(const ParamInfo& p) {
  ordered_json j{{"name", p.name}, {"type", Name(p.type)}};
  if (!p.summary.empty()) j["summary"] = p.summary;
  if (p.default_json) {
    const ordered_json value = ordered_json::parse(*p.default_json, nullptr, false);
    j["default"] = value.is_discarded() ? ordered_json(*p.default_json) : value;
  }
  if (!p.allowed.empty()) j["allowed"] = p.allowed;
  if (!p.fields.empty()) {
    j["fields"] = ordered_json::array();
    for (const ParamInfo& f : p.fields) j["fields"].push_back(ToJson(f));
  }
  return j;
}

ordered_json ToJson(const PluginInfo& p) {
  ordered_json checks = ordered_json::array(), findings = ordered_json::array();
  for (const CheckInfo& c : p.checks) {
    ordered_json params = ordered_json::array();
    for (const ParamInfo& q : c.params) params.push_back(ToJson(q));
    checks.push_back({{"name", c.name},
                      {"summary", c.summary},
                      {"layer", Name(c.layer)},
                      {"devices", Name(c.devices)},
                      {"shareable", c.shareable},
                      {"concurrent", c.concurrent},
                      {"slow_cases", c.slow_cases},
                      {"per_subject", c.per_subject},
                      {"requires", c.prerequisites},
                      {"judges", c.judges},
                      {"params", params}});
  }
  for (const FindingInfo& f : p.findings)
    findings.push_back({{"slug", f.slug},
                        {"severity", Name(f.severity)},
                        {"blame", Name(f.blame)},
                        {"summary", f.summary},
                        {"remedy", f.remedy},
                        {"link", f.link},
                        {"command", f.command},
                        {"where", Name(f.where)},
                        {"of_result", f.of_result}});
  return {{"name", p.name},
          {"version", p.version},
          {"summary", p.summary},
          {"path", p.path},
          {"abi", "1." + std::to_string(p.abi_minor)},
          {"warnings", SentencesOf(p.warnings)},
          {"checks", checks},
          {"findings", findings}};
}

int PrintAsJson(const Catalog& catalog, const std::vector<Problem>& problems) {
  ordered_json plugins = ordered_json::array(), broken = ordered_json::array();
  for (const PluginInfo& p : catalog.plugins) plugins.push_back(ToJson(p));
  for (const BrokenPlugin& b : catalog.broken)
    broken.push_back({{"stem", b.stem}, {"path", b.path}, {"reason", b.reason}});
  ordered_json wrong = ordered_json::array();
  for (const Problem& p : problems) wrong.push_back({{"path", p.position.file}, {"problem", p.message}});
  const ordered_json document = {
      {"schema", "cudnn-ci/plugins/1"}, {"plugins", plugins}, {"broken", broken}, {"problems", wrong}};
  return PrintJson(document.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

class Plugins : public Command {
 public:
  void Declare(CLI::App* app) override {
    app->add_flag("--check", check_, "only check the plugins, as a run would: exit 5 if one is at fault");
    DeclareJson(app, &json_);
    DeclareDiscovery(app, &discovery_);
  }
  Status Check() override { return CheckDiscovery(discovery_); }
  int Run(const Invocation& invocation) override {
    const auto known = LoadKnown(invocation.installation, discovery_);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&known)) return PrintProblems(*problems);
    PrintNotices(std::get<Known>(known).notices);
    Session session({invocation.installation, discovery_});
    const Looked looked = Looked::AtPlugins(&session);
    const Catalog& catalog = looked.discovery().catalog;
    if (const auto unknown = RemedyProblems(std::get<Known>(known), catalog); !unknown.empty())
      return PrintProblems(unknown);
    const std::vector<Problem> problems = CatalogProblems(catalog);
    const int printed =
        json_ ? PrintAsJson(catalog, problems)
              : PrintText(AsText(catalog, problems, AllPluginDirs(invocation.installation, discovery_)));
    if (printed != 0) return printed;
    // What makes a run red does so here.
    return catalog.broken.empty() && problems.empty() ? 0 : 5;
  }

 private:
  std::string AsText(const Catalog& catalog, const std::vector<Problem>& problems,
                     const std::vector<std::string>& folders) const;

  DiscoveryOptions discovery_;
  bool check_ = false, json_ = false;
};

std::string Plugins::AsText(const Catalog& catalog, const std::vector<Problem>& problems,
                            const std::vector<std::string>& folders) const {
  std::string out, warnings;
  for (const PluginInfo& p : catalog.plugins) {
    if (check_) break;
    out += p.name + " " + p.version + "  " + p.summary + "\n  " + p.path + "\n";
    for (const std::string& w : SentencesOf(p.warnings)) out += "  warning: " + w + "\n";
    for (const CheckInfo& c : p.checks)
      out += "  " + c.name + std::string(c.name.size() < 22 ? 22 - c.name.size() : 1, ' ') + c.summary + "\n";
  }
  for (const BrokenPlugin& b : catalog.broken)
    out += b.stem + "  CANNOT BE LOADED\n  " + b.path + "\n  " + b.reason + "\n";
  for (const Problem& p : problems) out += SingleLine(ToString(p), 1000) + "\n";
  if (check_)
    for (const PluginInfo& p : catalog.plugins)
      for (const std::string& w : SentencesOf(p.warnings)) warnings += p.name + ": warning: " + w + "\n";
  if (check_ && out.empty() && !catalog.plugins.empty())
    out = std::to_string(catalog.plugins.size()) + " plugins, " +
          std::to_string(catalog.CheckNames().size()) + " checks: no problems\n" + warnings;
  if (out.empty()) out = "no plugins in " + Join(folders, ", ") + "\n";
  return out;
}

}  // namespace

std::unique_ptr<Command> MakePlugins() { return std::make_unique<Plugins>(); }

}  // namespace cudnn_ci
