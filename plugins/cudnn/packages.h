// Which packages own cuDNN's files, by the records of Python's installers, dpkg and rpm. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_CUDNN_PACKAGES_H_
#define CUDNN_CI_PLUGINS_CUDNN_PACKAGES_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "image/packages/package.h"

namespace cudnn_ci {

// The Python packages that claim the libraries of a folder "SITE-PACKAGES/nvidia/cudnn/lib", by their
// metadata beside it: "nvidia-cudnn-cu13" of "nvidia_cudnn_cu13-9.19.0.56.dist-info"; sorted by name.
std::vector<Package> PackagesOf(const std::string& directory);

// The installed packages of cuDNN of which dpkg's records say that one of these files of the system's folders
// is theirs. `root` is put before the path of the records.
std::vector<Package> DpkgPackagesOf(const std::vector<std::string>& files, const std::string& root = {});

// The packages that rpm says own the file; none where there is no database. Without the program rpm that is
// logged, and nothing is looked at.
std::vector<Package> RpmPackagesOf(Context& ctx, const std::string& file);

// The answer of `rpm -qf --queryformat '%{NAME} %{VERSION}-%{RELEASE}\n'`.
std::vector<Package> ParseRpmAnswer(const std::string& text);

// True if package managers have files there: /usr/lib/..., /usr/local/cuda/..., not a folder of Python's
// packages.
bool IsSystemFolder(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_PACKAGES_H_
