// An installed package, as its package manager's records have it.
#ifndef CUDNN_CI_IMAGE_PACKAGES_PACKAGE_H_
#define CUDNN_CI_IMAGE_PACKAGES_PACKAGE_H_

#include <string>

namespace cudnn_ci {

enum class PackageManager { kPython, kConda, kDpkg, kRpm };

struct Package {
  PackageManager manager = PackageManager::kPython;
  // As its records have it; of Python packages in the form of NormalizedName.
  std::string name, version;
  // The folder or file of its records: "/opt/venv/lib/python3.12/site-packages/torch-2.11.0.dist-info".
  std::string records;

  // "torch 2.11.0".
  std::string Text() const { return name + (version.empty() ? "" : " " + version); }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_PACKAGE_H_
