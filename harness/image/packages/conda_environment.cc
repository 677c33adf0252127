#include "image/packages/conda_environment.h"

#include <string_view>

#include "base/path.h"
#include "image/packages/record_text.h"

namespace cudnn_ci {
namespace {

constexpr std::string_view kFolder = "/conda-meta", kEnding = ".json";

}  // namespace

bool IsCondaEnvironment(const std::string& prefix) { return IsFolder(prefix + std::string(kFolder)); }

std::vector<Package> CondaPackagesIn(const std::string& prefix) {
  std::vector<Package> packages;
  const std::string folder = prefix + std::string(kFolder);
  for (const std::string& entry : RecordNames(folder)) {
    if (!entry.ends_with(kEnding)) continue;
    const std::string stem = entry.substr(0, entry.size() - kEnding.size());
    const std::size_t build = stem.rfind('-');
    const std::size_t version =
        build == std::string::npos || build == 0 ? std::string::npos : stem.rfind('-', build - 1);
    const bool told = version != std::string::npos;
    packages.push_back({PackageManager::kConda, PrintableRecord(told ? stem.substr(0, version) : stem),
                        told ? PrintableRecord(stem.substr(version + 1, build - version - 1)) : "",
                        folder + "/" + entry});
  }
  return packages;
}

}  // namespace cudnn_ci
