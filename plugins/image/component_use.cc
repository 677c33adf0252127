#include "image/component_use.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "base/path.h"
#include "base/text.h"
#include "image/elf/elf_file.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNames = 10000;

std::set<std::string> FileNamesIn(const std::string& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && names.size() < kMostNames;
       it.increment(error))
    names.insert(it->path().filename().string());
  return names;
}

bool OpensAny(const PackageRule& rule, const std::set<std::string>& names) {
  for (const auto* steps : {&rule.first, &rule.main, &rule.later})
    for (const OpenStep& step : *steps)
      if (std::any_of(names.begin(), names.end(),
                      [&](const std::string& name) { return GlobMatch(step.name, name); }))
        return true;
  return false;
}

}  // namespace

bool ComponentUse::IsRequired(const Package& owner) {
  for (const Package& package : image_->packages.packages()) {
    if (package.manager != PackageManager::kPython || package.name == owner.name) continue;
    for (const PythonRequirement& requirement : requirements_.Of(package))
      if (requirement.name == owner.name) return true;
  }
  return false;
}

bool ComponentUse::MayBeLoaded(const std::string& path) {
  const Package* owner = image_->packages.OwnerOf(path);
  if (!LiesInAny(path, image_->folders) || !owner || owner->manager != PackageManager::kPython) return true;
  if (IsRequired(*owner)) return true;
  const std::string folder = DirectoryOf(path);
  const std::set<std::string> names = FileNamesIn(folder);
  for (const PackageRule& rule : rules_->packages)
    if (OpensAny(rule, names) &&
        std::any_of(image_->folders.begin(), image_->folders.end(),
                    [&](const std::string& packages) { return rule.AppliesTo(packages); }))
      return true;
  for (const ImageFile& file : image_->files) {
    if (DirectoryOf(file.path) == folder) continue;
    const std::vector<std::string> needed = ElfFile(file.path).Needed();
    if (std::any_of(needed.begin(), needed.end(),
                    [&](const std::string& name) { return names.count(name) > 0; }))
      return true;
  }
  return false;
}

}  // namespace cudnn_ci
