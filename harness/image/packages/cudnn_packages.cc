#include "image/packages/cudnn_packages.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "image/packages/dpkg_records.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {

namespace fs = std::filesystem;

bool IsSystemFolder(const std::string& path) {
  return (path.starts_with("/usr/") || path.starts_with("/lib")) &&
         path.find("-packages/") == std::string::npos;
}

std::vector<Package> CudnnWheelsOf(const std::string& directory) {
  const fs::path package = fs::path(directory).parent_path();  // SITE-PACKAGES/nvidia/cudnn
  if (package.parent_path().filename() != "nvidia") return {};
  const std::string stem = package.filename() == "cudnn_jit" ? "nvidia-cudnn-jit-cu" : "nvidia-cudnn-cu";
  std::vector<Package> packages = PythonPackagesIn(package.parent_path().parent_path().string());
  std::erase_if(packages, [&](const Package& p) { return !p.name.starts_with(stem); });
  std::sort(packages.begin(), packages.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return packages;
}

std::vector<Package> CudnnDpkgPackagesOf(const std::vector<std::string>& files, const std::string& root) {
  std::vector<std::string> systems;
  std::copy_if(files.begin(), files.end(), std::back_inserter(systems), IsSystemFolder);
  std::vector<Package> packages;
  for (DpkgOwner& owner : DpkgOwnersOf(systems, root, "libcudnn"))
    packages.push_back(std::move(owner.package));
  return packages;
}

}  // namespace cudnn_ci
