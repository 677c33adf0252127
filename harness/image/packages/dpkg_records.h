// Debian packages by dpkg's records: its status file, and, in images without a package manager, a file for
// each package in status.d. Text files in /var/lib/dpkg, which are read and bounded; no program is run.
// https://manpages.debian.org/bookworm/dpkg/dpkg-query.1.en.html
#ifndef CUDNN_CI_IMAGE_PACKAGES_DPKG_RECORDS_H_
#define CUDNN_CI_IMAGE_PACKAGES_DPKG_RECORDS_H_

#include <string>
#include <vector>

#include "image/packages/package.h"

namespace cudnn_ci {

// A package, and the files that say which files it has; none if that is not recorded.
struct DpkgPackage {
  Package package;
  std::vector<std::string> lists;
};

// A package that owns files, and those: real paths of the ones that were asked for.
struct DpkgOwner {
  Package package;
  std::vector<std::string> files;
};

// The packages that are installed and whose name begins so. `root` is put before the path of the records. A
// status file of more than kMostRecordBytes is not read.
std::vector<DpkgPackage> DpkgPackagesIn(const std::string& root, const std::string& name_begins = {});

// Those of them that own one of these files. Without a list of its files a package owns the libraries of its
// name in the system's folders, into which files are not copied by hand: libnccl2 owns
// /usr/lib/.../libnccl.so.2, and libcudnn9-cuda-13 libcudnn_graph.so.9, which libcudnn9-dev-cuda-13 does not.
std::vector<DpkgOwner> DpkgOwnersOf(const std::vector<std::string>& files, const std::string& root,
                                    const std::string& name_begins = {});

// True if rpm's database is there, in any of its formats. It can only be read by rpm itself.
bool HasRpmDatabase(const std::string& root = {});

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_DPKG_RECORDS_H_
