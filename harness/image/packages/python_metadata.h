// Python packages by their metadata: "torch-2.11.0.dist-info" folders, and the ".egg-info" of older
// installers and of distributions, which is a folder or a file.
//   https://packaging.python.org/en/latest/specifications/recording-installed-packages/
//   https://setuptools.pypa.io/en/latest/deprecated/python_eggs.html
#ifndef CUDNN_CI_IMAGE_PACKAGES_PYTHON_METADATA_H_
#define CUDNN_CI_IMAGE_PACKAGES_PYTHON_METADATA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/packages/package.h"

namespace cudnn_ci {

// A Python package's name in its one form: lower case, "-" between words, so that "nvidia_cudnn.cu13" is
// "nvidia-cudnn-cu13" (https://packaging.python.org/en/latest/specifications/name-normalization/).
std::string NormalizedName(const std::string& name);

// The package of an entry of a folder of packages, "torch-2.11.0+cu128.dist-info" or
// "torch-1.13.1-py3.11.egg-info". An ".egg-info" whose name has no version is read (PKG-INFO). None: the
// entry is no package's.
std::optional<Package> PythonPackageOf(const std::string& folder, const std::string& entry);

// Every package of a folder, sorted by the names of their metadata.
std::vector<Package> PythonPackagesIn(const std::string& folder);

// A file as a package has recorded it.
struct RecordedFile {
  std::string path;
  std::string hash;         // "sha256=" and URL-safe base64; empty: not recorded
  std::uintmax_t size = 0;  // 0: not recorded
};

// Calls `take` with each file that a package has recorded (RECORD, or installed-files.txt of an ".egg-info"
// folder), at most kMostRecordBytes of them. Returns the bytes read: 0 without a list, which is
// usual of what a distribution installs. An error names the RECORD that exists and cannot be read.
Result<std::size_t> ForEachRecordOf(const Package& package,
                                    const std::function<void(const RecordedFile& file)>& take);
// The same with the paths alone.
Result<std::size_t> ForEachFileOf(const Package& package,
                                  const std::function<void(const std::string& path)>& take);

// The names by which a package is imported, as its list of files has sources of them: "torch" of
// torch/__init__.py, "six" of six.py. Sorted, at most 1,000; none where the list cannot be read.
std::vector<std::string> ImportNamesOf(const Package& package);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_PYTHON_METADATA_H_
