// Which installed package brought a file, by the records of Python's installers, conda and dpkg. Read from
// files; no program of the image is run. Judges nothing.
#ifndef CUDNN_CI_IMAGE_PACKAGES_INSTALLED_PACKAGES_H_
#define CUDNN_CI_IMAGE_PACKAGES_INSTALLED_PACKAGES_H_

#include <map>
#include <string>
#include <vector>

namespace cudnn_ci {

enum class PackageSource { kPython, kConda, kDpkg };

struct PackageRecord {
  PackageSource source = PackageSource::kPython;
  // As its records have it; of Python packages in the form of the packaging standard: lower case, "-" between
  // words (https://packaging.python.org/en/latest/specifications/name-normalization/).
  std::string name, version;
  // The folder or file of its records: "/opt/venv/lib/python3.12/site-packages/torch-2.11.0.dist-info".
  std::string records;

  // "torch 2.11.0".
  std::string Text() const { return name + (version.empty() ? "" : " " + version); }
};

// The packages of an environment, and the owners of its files.
class InstalledPackages {
 public:
  // Every "NAME-VERSION.dist-info" of a folder of Python packages, with the files of its RECORD
  // (https://packaging.python.org/en/latest/specifications/recording-installed-packages/). A file that is no
  // library, archive or piece of device code (HoldsCode) gets no owner.
  void AddPython(const std::string& folder);
  // Every package of a conda environment, by the JSON files of its conda-meta.
  void AddConda(const std::string& prefix);
  // The Debian packages that own one of these files; `root` is put before the path of dpkg's records.
  void AddDpkg(const std::vector<std::string>& files, const std::string& root = {});

  const std::vector<PackageRecord>& packages() const { return packages_; }
  // Null: no package says that the file is its own. Links are followed. Valid until the next Add.
  const PackageRecord* OwnerOf(const std::string& file) const;
  // The Python package of this normalized name; null: none. The first on sys.path where there are several.
  const PackageRecord* Python(const std::string& name) const;
  // Records that could not be read or were cut at a bound, one text each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void AddRecord(const std::string& folder, std::size_t package);
  void AddCondaFile(const std::string& prefix, const std::string& file);

  std::vector<PackageRecord> packages_;
  std::map<std::string, std::size_t> owners_;  // real path to index
  std::vector<std::string> problems_;
  std::size_t recorded_ = 0;  // bytes of RECORD files
};

// True for names of files that may hold native or device code: "libfoo.so", "libfoo.so.9", "foo.a",
// "foo.cubin", "foo.fatbin", "foo.ptx".
bool HoldsCode(const std::string& name);

// A Python package's name in its one form: "nvidia_cudnn.cu13" is "nvidia-cudnn-cu13".
std::string NormalizedName(const std::string& name);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_INSTALLED_PACKAGES_H_
