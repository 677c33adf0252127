// The packages of an environment, and which of them brought a file. Tests nothing.
#ifndef CUDNN_CI_IMAGE_PACKAGES_INSTALLED_PACKAGES_H_
#define CUDNN_CI_IMAGE_PACKAGES_INSTALLED_PACKAGES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "image/packages/package.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {

// By the records of Python's installers, conda and dpkg, which are read from files; no program of the image
// is run.
class InstalledPackages {
 public:
  // Every package of a folder of Python packages, with the files that it has recorded. A file that is no
  // library, archive or piece of device code (HoldsCode) gets no owner.
  void AddPython(const std::string& folder);
  // Every package of a conda environment.
  void AddConda(const std::string& prefix);
  // The Debian packages that own one of these files (DpkgOwnersOf); `root` is put before the path of dpkg's
  // records.
  void AddDpkg(const std::vector<std::string>& files, const std::string& root = {});

  const std::vector<Package>& packages() const { return packages_; }
  // Null: no package says that the file is its own. Links are followed. Valid until the next Add.
  const Package* OwnerOf(const std::string& file) const;
  // The Python package of this normalized name; null: none. The first on sys.path where there are several.
  const Package* Python(const std::string& name) const;
  // Records that could not be read or were cut at a bound, one text each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Owner {
    std::size_t package;
    std::string hash;  // as recorded, as of RecordedFile
    std::uintmax_t size;
  };
  // The first package that claims a file is its owner, unless a later one has recorded what the file is.
  void Own(const RecordedFile& file, std::size_t package);

  std::vector<Package> packages_;
  std::map<std::string, Owner> owners_;                  // by real path
  std::uintmax_t may_hash_ = std::uintmax_t{256} << 20;  // bytes of files that two packages claim
  std::vector<std::string> problems_;
  std::size_t recorded_ = 0;  // bytes of Python's lists of files
};

// True for names of files that may hold native or device code: "libfoo.so", "libfoo.so.9", "foo.a",
// "foo.cubin", "foo.fatbin", "foo.ptx".
bool HoldsCode(const std::string& name);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_INSTALLED_PACKAGES_H_
