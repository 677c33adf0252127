#include "image/cpu_builds.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "common/joined.h"
#include "common/knowledge_rows.h"
#include "common/overlap.h"
#include "image/packages/python_requirements.h"
#include "image/symbols/symbols_remedy.h"

namespace cudnn_ci {
namespace {

using Row = nlohmann::json;

constexpr std::size_t kMostNamed = 3;

bool Has(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// What the local part of a version names: MachineKind::kCpu of "2.8.0+cpu", kOther of "2.8.0+xpu".
std::optional<MachineKind> MachineOf(const std::string& version, const MachineWords& machines) {
  const std::size_t plus = version.find('+');
  if (plus == std::string::npos) return {};
  const std::size_t end = version.find_first_of("0123456789._-", plus + 1);
  const auto found = machines.find(version.substr(plus + 1, end == std::string::npos ? end : end - plus - 1));
  return found == machines.end() ? std::nullopt : std::optional(found->second);
}

// Whether a package of a framework is its build for the CPU.
bool IsForCpu(const Package& package, const std::vector<std::string>& for_cpu, const ImageFiles& image,
              const SymbolRules& rules) {
  const BuiltWith torch = package.name == "torch" ? TorchOf(image.folders) : BuiltWith();
  return Has(for_cpu, package.name) || MachineOf(package.version, rules.machines) == MachineKind::kCpu ||
         (!torch.version.empty() && torch.cuda.empty() &&
          MachineOf(torch.version, rules.machines) != MachineKind::kOther);
}

// The names of libraries that code needs which neither `builds` have brought nor CUDA's packages.
std::set<std::string> NeededByOthers(const ImageFiles& image, const SymbolRules& rules,
                                     const std::vector<const Package*>& builds, LoaderFiles* files) {
  std::set<std::string> names;
  for (const ImageFile& file : image.files) {
    const Package* owner = image.packages.OwnerOf(file.path);
    if (owner &&
        (rules.IsOfLibraries(owner->name) || std::find(builds.begin(), builds.end(), owner) != builds.end()))
      continue;
    if (const LoaderFiles::File opened = files->Open(file.path); opened.table)
      names.insert(opened.table->needed.begin(), opened.table->needed.end());
  }
  return names;
}

// The packages of CUDA's libraries that nobody requires but `builds`, whose extras serve another build, and
// of which no other code needs a file.
std::vector<std::string> Orphans(const ImageFiles& image, const SymbolRules& rules,
                                 const std::vector<const Package*>& builds, LoaderFiles* files) {
  PythonRequirements requirements(&image.packages);
  std::vector<const Package*> orphans;
  for (const Package& package : image.packages.packages())
    if (package.manager == PackageManager::kPython && rules.IsOfLibraries(package.name) &&
        PackagesThatRequire(image.packages, &requirements, package, true, builds).empty())
      orphans.push_back(&package);
  if (orphans.empty()) return {};
  const std::set<std::string> needed = NeededByOthers(image, rules, builds, files);
  for (const ImageFile& file : image.files)
    if (needed.count(file.path.substr(file.path.rfind('/') + 1)) > 0)
      std::erase(orphans, image.packages.OwnerOf(file.path));
  std::vector<std::string> texts;
  for (const Package* orphan : orphans) texts.push_back(orphan->Text());
  return texts;
}

}  // namespace

std::string CpuBuild::Text() const {
  const std::vector<std::string> named(unneeded.begin(),
                                       unneeded.begin() + std::min(unneeded.size(), kMostNamed));
  return framework + " is " + package + ", a build for the CPU, and no package requires " + Joined(named) +
         (unneeded.size() > named.size() ? " and " + std::to_string(unneeded.size() - named.size()) + " more"
                                         : "") +
         ": it may have replaced the build for GPUs";
}

std::vector<CpuBuild> CpuBuildsBesideCuda(const ImageFiles& image, const SymbolRules& rules,
                                          const TableEntry& entry, LoaderFiles* files) {
  std::vector<CpuBuild> builds;
  std::vector<const Package*> packages;
  for (const Row& framework : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_FRAMEWORK))
    for (const std::string& name : TextsOf(framework, "distributions")) {
      const Package* package = image.packages.Python(name);
      if (!package) continue;
      // What is for GPUs may open libraries that it does not require, as CTranslate2 does.
      if (!IsForCpu(*package, TextsOf(framework, "for_cpu"), image, rules)) return {};
      packages.push_back(package);
      builds.push_back({TextOf(framework, "title"), package->Text(), {}});
    }
  if (builds.empty()) return builds;
  const std::vector<std::string> orphans = Orphans(image, rules, packages, files);
  if (orphans.empty()) return {};
  for (CpuBuild& build : builds) build.unneeded = orphans;
  return builds;
}

}  // namespace cudnn_ci
