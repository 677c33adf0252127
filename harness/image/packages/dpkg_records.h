// Debian packages by dpkg's records: its status file, and, in images without a package manager, a file for
// each package in status.d. Text files in /var/lib/dpkg, which are read and bounded; no program is run.
// https://manpages.debian.org/bookworm/dpkg/dpkg-query.1.en.html
#ifndef CUDNN_CI_IMAGE_PACKAGES_DPKG_RECORDS_H_
#define CUDNN_CI_IMAGE_PACKAGES_DPKG_RECORDS_H_

#include <functional>
#include <string>
#include <vector>

#include "image/packages/package.h"

namespace cudnn_ci {

// A package, and the files that say which files it has; none where nobody has recorded that.
struct DpkgPackage {
  Package package;
  std::vector<std::string> lists;
};

// The packages that are installed and whose name begins so. `root` is put before the path of the records. A
// status file of more than kMostRecordBytes is not read.
std::vector<DpkgPackage> DpkgPackagesIn(const std::string& root, const std::string& name_begins = {});

// Calls `take` with each path of a list, as dpkg has it: absolute, without `root`. Returns the bytes read.
std::size_t ForEachFileOfList(const std::string& list,
                              const std::function<void(const std::string& path)>& take);

// Whether a package without a list has this file, by name alone: libnccl2 has /usr/lib/.../libnccl.so.2, and
// libcudnn9-cuda-13 has libcudnn_graph.so.9. True of the system's folders of libraries alone: to others
// anybody copies files.
bool HasByName(const Package& package, const std::string& file);

// A path by its shorter name: a merged /usr has one folder by two names, "/usr/lib" and "/lib".
std::string WithoutUsr(const std::string& path);

// True if rpm's database is there, in any of its formats. It can only be read by rpm itself.
bool HasRpmDatabase(const std::string& root = {});

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_DPKG_RECORDS_H_
