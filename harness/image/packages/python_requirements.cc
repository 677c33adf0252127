#include "image/packages/python_requirements.h"

#include <algorithm>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "image/packages/python_metadata.h"
#include "image/packages/record_text.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostOfMetadata = 64 << 10, kMostRequired = 2000;

bool IsNamePart(char c) {
  return c == '_' || c == '-' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

}  // namespace

std::optional<PythonRequirement> ParseRequirement(std::string_view text) {
  const std::size_t marker = std::min(text.find(';'), text.size());
  const std::string_view wanted = text.substr(0, marker);
  std::size_t end = 0;
  while (end < wanted.size() && IsNamePart(wanted[end])) ++end;
  if (end == 0) return std::nullopt;
  PythonRequirement requirement;
  requirement.name = PrintableRecord(NormalizedName(std::string(wanted.substr(0, end))));
  requirement.optional = text.find("extra", marker) != std::string_view::npos;
  const std::size_t equal = wanted.find("==");
  if (equal == std::string_view::npos) return requirement;
  const std::size_t begin = std::min(wanted.find_first_not_of("= ", equal), wanted.size());
  const std::string_view version =
      wanted.substr(begin, std::min(wanted.find_first_of(" ,)", begin), wanted.size()) - begin);
  if (version.find('*') == std::string_view::npos)
    requirement.version = PrintableRecord(std::string(version));
  return requirement;
}

std::vector<PythonRequirement> RequirementsOf(const Package& package) {
  std::vector<PythonRequirement> requirements;
  if (package.manager != PackageManager::kPython) return requirements;
  std::string path = package.records + "/METADATA";
  if (!Exists(path)) path = IsFolder(package.records) ? package.records + "/PKG-INFO" : package.records;
  bool headers = true;
  ForEachLine(ReadSmallFile(path, kMostOfMetadata), [&](std::string_view line) {
    constexpr std::string_view kRequires = "Requires-Dist: ";
    headers = headers && !line.empty();
    if (!headers || !line.starts_with(kRequires) || requirements.size() >= kMostRequired) return;
    if (auto requirement = ParseRequirement(line.substr(kRequires.size())))
      requirements.push_back(std::move(*requirement));
  });
  return requirements;
}

const std::vector<PythonRequirement>& PythonRequirements::Of(const Package& package) {
  const auto [at, fresh] = read_.try_emplace(package.records);
  if (fresh) at->second = RequirementsOf(package);
  return at->second;
}

const std::set<std::string>& PythonRequirements::AllOf(const Package& asker) {
  const auto [at, fresh] = all_.try_emplace(asker.records);
  std::set<std::string>& all = at->second;
  if (!fresh) return all;
  std::vector<const Package*> waiting = {&asker};
  while (!waiting.empty()) {
    const Package& next = *waiting.back();
    waiting.pop_back();
    for (const PythonRequirement& requirement : Of(next)) {
      if (requirement.optional || !all.insert(requirement.name).second) continue;
      if (const Package* found = packages_->Python(requirement.name)) waiting.push_back(found);
    }
  }
  return all;
}

bool PythonRequirements::Requires(const Package& asker, const std::string& name) {
  return AllOf(asker).count(name) > 0;
}

const Package* PythonRequirements::PinningPackage(const std::string& name, const Package* first,
                                                  std::string* version) {
  const auto pins = [&](const Package& package) {
    for (const PythonRequirement& requirement : Of(package))
      if (requirement.name == name && !requirement.version.empty()) {
        *version = requirement.version;
        return true;
      }
    return false;
  };
  if (first && pins(*first)) return first;
  for (const Package& package : packages_->packages())
    if (package.manager == PackageManager::kPython && pins(package)) return &package;
  return nullptr;
}

}  // namespace cudnn_ci
