#include "model/plan/check_info.h"

#include "model/record/names.h"

namespace cudnn_ci {

namespace {

constexpr const char* kParamTypes[] = {"boolean",          "integer",         "number", "string",
                                       "list of integers", "list of strings", "shape"};
constexpr const char* kDevices[] = {"none", "one", "all", "environment"};

}  // namespace

const char* Name(ParamType type) { return NameOf(kParamTypes, type); }
const char* Name(Devices devices) { return NameOf(kDevices, devices); }

const CheckInfo* Catalog::FindCheck(const std::string& name) const {
  for (const PluginInfo& plugin : plugins) {
    for (const CheckInfo& check : plugin.checks) {
      if (check.name == name) return &check;
    }
  }
  return nullptr;
}

const PluginInfo* Catalog::FindPlugin(const std::string& name) const {
  for (const PluginInfo& plugin : plugins) {
    if (plugin.name == name) return &plugin;
  }
  return nullptr;
}

const FindingInfo* Catalog::FindFinding(const std::string& slug) const {
  for (const PluginInfo& plugin : plugins) {
    for (const FindingInfo& finding : plugin.findings) {
      if (finding.slug == slug) return &finding;
    }
  }
  return FindHarnessFinding(slug);
}

std::vector<std::string> Catalog::CheckNames() const {
  std::vector<std::string> names;
  for (const PluginInfo& plugin : plugins) {
    for (const CheckInfo& check : plugin.checks) names.push_back(check.name);
  }
  return names;
}

}  // namespace cudnn_ci
