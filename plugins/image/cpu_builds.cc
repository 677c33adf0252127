#include "image/cpu_builds.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

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

// Whether a package of a framework is its build for the CPU.
bool IsForCpu(const Package& package, const std::vector<std::string>& for_cpu, const ImageFiles& image) {
  const BuiltWith torch = package.name == "torch" ? TorchOf(image.folders) : BuiltWith();
  return Has(for_cpu, package.name) || package.version.find("+cpu") != std::string::npos ||
         (!torch.version.empty() && torch.cuda.empty() && torch.version.find("+rocm") == std::string::npos);
}

// The packages of CUDA's libraries that nobody requires but `builds`, whose extras serve another build.
std::vector<std::string> Orphans(const ImageFiles& image, const SymbolRules& rules,
                                 const std::vector<const Package*>& builds) {
  PythonRequirements requirements(&image.packages);
  std::vector<std::string> orphans;
  for (const Package& package : image.packages.packages()) {
    const bool of_cuda =
        std::any_of(rules.gpu_libraries.begin(), rules.gpu_libraries.end(), [&](const GpuLibrary& library) {
          return package.name == library.package || package.name.starts_with(library.package + "-cu");
        });
    if (of_cuda && package.manager == PackageManager::kPython &&
        WhoRequires(image.packages, &requirements, package, true, builds).empty())
      orphans.push_back(package.Text());
  }
  return orphans;
}

}  // namespace

std::vector<std::string> CpuBuildsBesideCuda(const ImageFiles& image, const SymbolRules& rules,
                                             const TableEntry& entry) {
  std::vector<std::string> builds;
  std::vector<const Package*> packages;
  for (const Row& framework : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_FRAMEWORK))
    for (const std::string& name : TextsOf(framework, "distributions")) {
      const Package* package = image.packages.Python(name);
      if (!package) continue;
      // What is for GPUs may open libraries that it does not require, as CTranslate2 does.
      if (!IsForCpu(*package, TextsOf(framework, "for_cpu"), image)) return {};
      packages.push_back(package);
      builds.push_back(TextOf(framework, "title") + " is " + package->Text() + ", a build for the CPU");
    }
  if (builds.empty()) return builds;
  std::vector<std::string> orphans = Orphans(image, rules, packages);
  if (orphans.empty()) return {};
  const std::size_t count = orphans.size();
  orphans.resize(std::min(count, kMostNamed));
  const std::string beside =
      ", and nobody requires " + Joined(orphans) +
      (count > orphans.size() ? " and " + std::to_string(count - orphans.size()) + " more" : "") +
      ", as where it has replaced the build for GPUs";
  for (std::string& build : builds) build += beside;
  return builds;
}

}  // namespace cudnn_ci
