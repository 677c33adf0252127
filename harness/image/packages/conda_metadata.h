// Packages of a conda environment, by the JSON files of its conda-meta.
// https://docs.conda.io/projects/conda-build/en/stable/resources/package-spec.html
#ifndef CUDNN_CI_IMAGE_PACKAGES_CONDA_METADATA_H_
#define CUDNN_CI_IMAGE_PACKAGES_CONDA_METADATA_H_

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/packages/package.h"

namespace cudnn_ci {

// Whether a prefix is a conda environment.
bool IsCondaEnvironment(const std::string& prefix);

// Every package of an environment by the names of its files, "NAME-VERSION-BUILD.json", which are not opened.
std::vector<Package> CondaPackagesIn(const std::string& prefix);

// The package of a file of conda-meta by what it says of itself. Calls `take` with the path of each file that
// it has. An error names the file and says why it is no record of conda's.
Result<Package> ReadCondaPackage(const std::string& prefix, const std::string& records,
                                 const std::function<void(const std::string& path)>& take);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_CONDA_METADATA_H_
