#include "image/device_code/file_uses.h"

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {
namespace {

bool IsOfFramework(const std::string& import, const SymbolRules& rules) {
  return std::any_of(rules.packages.begin(), rules.packages.end(), [&](const PackageRule& rule) {
    return std::count(rule.import_names.begin(), rule.import_names.end(), import) > 0;
  });
}

// True if pip compiled the package from sources, whose owner chose the cards
// (https://packaging.python.org/en/latest/specifications/direct-url-data-structure/).
bool IsBuiltHere(const Package& package) {
  const std::string origin = ReadSmallFile(package.records + "/direct_url.json");
  return origin.find("\"dir_info\"") != std::string::npos || origin.find("\"vcs_info\"") != std::string::npos;
}

}  // namespace

FileUse FileUses::Of(const std::string& path) {
  if (!imports_.Loads(path)) return imports_.MayLoad(path) ? FileUse::kPerhaps : FileUse::kUnknown;
  const Package* owner = image_->packages.OwnerOf(path);
  const std::string import = imports_.PackageOf(path);
  if (!owner || owner->manager != PackageManager::kPython || import.empty() || IsOfFramework(import, *rules_))
    return FileUse::kImported;
  bool required = false;
  for (const Package& other : image_->packages.packages()) {
    if (other.manager != PackageManager::kPython || other.name == owner->name) continue;
    for (const PythonRequirement& requirement : requirements_.Of(other)) {
      if (requirement.name != owner->name) continue;
      required = required || !requirement.optional;
      for (const std::string& name : ImportNamesOf(other))
        if (imports_.Imports(name, import)) return FileUse::kImported;
    }
  }
  if (required) return FileUse::kRequired;
  return IsBuiltHere(*owner) ? FileUse::kImported : FileUse::kOwnImport;
}

}  // namespace cudnn_ci
