// Which package of the distribution owns cuDNN's files, by the records of dpkg and rpm. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_CUDNN_PACKAGES_H_
#define CUDNN_CI_PLUGINS_CUDNN_PACKAGES_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "cudnn/copies.h"

namespace cudnn_ci {

// The installed packages of cuDNN of which dpkg's records say that one of these files is theirs: text files
// in /var/lib/dpkg, which are read and bounded; no program is run. A package whose list of files is not
// there, as in images without a package manager (status.d), has those in the system's folders. `root` is put
// before every path.
std::vector<CudnnPackage> DpkgPackagesOf(const std::vector<std::string>& files, const std::string& root = {});

// True if rpm's database is there, in any of its formats. It can only be read by rpm itself.
bool HasRpmDatabase(const std::string& root = {});

// The packages that rpm says own the file; none where there is no database. Without the program rpm that is
// logged, and nothing is looked at.
std::vector<CudnnPackage> RpmPackagesOf(Context& ctx, const std::string& file);

// The answer of `rpm -qf --queryformat '%{NAME} %{VERSION}-%{RELEASE}\n'`.
std::vector<CudnnPackage> ParseRpmAnswer(const std::string& text);

// True if package managers have files there: /usr/lib/..., /usr/local/cuda/..., not a folder of Python's
// packages.
bool IsSystemFolder(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_PACKAGES_H_
