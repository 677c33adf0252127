#include "model/plan/catalog_rules.h"

#include <cctype>
#include <set>

#include "base/text.h"
#include "model/json/json_tree.h"
#include "model/plan/plan_steps.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

constexpr char kSuffix[] = ".cci.so";

bool IsName(const std::string& text, char separator) {
  if (text.empty() || text.size() > 100) return false;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (!std::islower(u) && !std::isdigit(u) && c != separator) return false;
  }
  return separator == '-' || std::islower(static_cast<unsigned char>(text[0]));
}

std::string Stem(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const size_t suffix = sizeof kSuffix - 1;
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - suffix) : name;
}

bool IsPluginVersion(const std::string& text) {
  const std::optional<Version> version = ParseVersion(text);
  return version && version->parts.size() == 3;
}

// One pass over the plugins; the first to declare a name or finding id has it.
class Rules {
 public:
  explicit Rules(const Catalog& catalog)
      : catalog_(catalog), input_(matrix_, catalog, options_), binder_(input_, &problems_) {}

  std::vector<Problem> Run() {
    for (const FindingInfo& finding : HarnessFindings()) slugs_.emplace(finding.slug, "cudnn-ci itself");
    for (const PluginInfo& plugin : catalog_.plugins) CheckPlugin(plugin);
    CheckCycles(input_, &problems_);
    return std::move(problems_);
  }

 private:
  // Where each name was declared first.
  using Places = std::map<std::string, std::string>;

  void Report(const PluginInfo& plugin, std::string message) {
    AddProblem(&problems_, {plugin.path, 0, 0}, std::move(message));
  }

  void RequireNew(const PluginInfo& plugin, const char* what, const std::string& name, Places* places) {
    const auto [first, added] = places->emplace(name, plugin.path);
    if (added) return;
    Report(plugin, std::string("a second ") + what + " " + Quote(name) + "; the first is in " +
                       (first->second == plugin.path ? "the same file" : first->second) +
                       "; rename one of them");
  }

  void CheckPlugin(const PluginInfo& plugin) {
    const auto [first, added] = plugins_.emplace(plugin.name, plugin.path);
    if (!added) {
      // Everything in it is there twice: one problem says so.
      return Report(plugin, "a second plugin named " + Quote(plugin.name) + "; the first is " +
                                first->second + "; remove one of them");
    }
    if (!IsName(plugin.name, '_') || Stem(plugin.path) != plugin.name) {
      Report(plugin, "the plugin's name is " + Quote(plugin.name) +
                         ", which differs from its file's; rename one of them");
    }
    if (!IsPluginVersion(plugin.version)) {
      Report(plugin, "the plugin's version " + Quote(plugin.version) + " is not MAJOR.MINOR.PATCH");
    }
    if (plugin.checks.empty()) {
      Report(plugin, "the plugin " + Quote(plugin.name) + " has no checks; remove it or register its checks");
    }
    for (const FindingInfo& finding : plugin.findings) {
      if (!IsName(finding.slug, '-'))
        Report(plugin, "the slug " + Quote(finding.slug) + " is not [a-z0-9-]+");
      RequireNew(plugin, "finding", finding.slug, &slugs_);
    }
    for (const CheckInfo& check : plugin.checks) CheckCheck(plugin, check);
  }

  void CheckCheck(const PluginInfo& plugin, const CheckInfo& check) {
    const std::string prefix = plugin.name + ".";
    if (check.plugin != plugin.name || !check.name.starts_with(prefix) ||
        !IsName(check.name.substr(prefix.size()), '_')) {
      Report(plugin, "the check " + Quote(check.name) + " is not named " + prefix + "[a-z][a-z0-9_]*");
    }
    RequireNew(plugin, "check", check.name, &checks_);
    for (const std::string& name : check.prerequisites) {
      if (catalog_.FindCheck(name) || !input_.BrokenStem(name).empty()) continue;
      Report(plugin, check.name + " requires " + Quote(name) + ", a check that no plugin has" +
                         Hint(name, catalog_.CheckNames()));
    }
    std::set<std::string> names;
    for (const ParamInfo& param : check.params) CheckParam(plugin, check, param, &names);
  }

  void CheckParam(const PluginInfo& plugin, const CheckInfo& check, const ParamInfo& param,
                  std::set<std::string>* names) {
    const std::string what = check.name + " has a parameter " + Quote(param.name);
    if (!IsName(param.name, '_')) Report(plugin, what + ", which is not [a-z][a-z0-9_]*");
    if (!names->insert(param.name).second) Report(plugin, what + " twice");
    if (param.name == "subject" || param.name == "name") {
      Report(plugin, what + ", which has another meaning in case ids; rename it");
    }
    if (param.min_i64 > param.max_i64) Report(plugin, what + " with a minimum above its maximum");
    std::set<std::string> fields;
    for (const ParamInfo& field : param.fields) CheckParam(plugin, check, field, &fields);
    if (!param.default_json) return;
    // Which shapes there are is the matrix's to say.
    if (param.type != ParamType::kShape) binder_.BindDefault(check, param);
  }

  const Catalog& catalog_;
  const Matrix matrix_{};
  const PlanOptions options_{};
  const PlanInput input_;
  std::vector<Problem> problems_;
  Binder binder_;
  Places plugins_, checks_, slugs_;
};

}  // namespace

std::vector<Problem> CatalogProblems(const Catalog& catalog) { return Rules(catalog).Run(); }

}  // namespace cudnn_ci
