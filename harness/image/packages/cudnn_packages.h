// The packages that own cuDNN's files, by the records of Python's installers and of dpkg.
#ifndef CUDNN_CI_IMAGE_PACKAGES_CUDNN_PACKAGES_H_
#define CUDNN_CI_IMAGE_PACKAGES_CUDNN_PACKAGES_H_

#include <string>
#include <vector>

#include "image/packages/package.h"

namespace cudnn_ci {

// The Python packages that claim the libraries of a folder "SITE-PACKAGES/nvidia/cudnn/lib", by their
// metadata beside it: "nvidia-cudnn-cu13" of "nvidia_cudnn_cu13-9.19.0.56.dist-info"; sorted by name.
std::vector<Package> CudnnWheelsOf(const std::string& directory);

// The installed packages of cuDNN whose dpkg records say that one of these files of the system's folders
// is theirs. `root` is put before the path of the records.
std::vector<Package> CudnnDpkgPackagesOf(const std::vector<std::string>& files, const std::string& root = {});

// True if package managers have files there: /usr/lib/..., /usr/local/cuda/..., not a folder of Python's
// packages.
bool IsSystemFolder(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_CUDNN_PACKAGES_H_
