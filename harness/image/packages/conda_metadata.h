// The record of a conda package: a JSON file of its environment's conda-meta.
// https://docs.conda.io/projects/conda-build/en/stable/resources/package-spec.html
#ifndef CUDNN_CI_IMAGE_PACKAGES_CONDA_METADATA_H_
#define CUDNN_CI_IMAGE_PACKAGES_CONDA_METADATA_H_

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/packages/package.h"

namespace cudnn_ci {

// The package of a file of conda-meta by what it says of itself. Calls `take` with the path of each file that
// it has. An error names the file and says why it is no record of conda's.
Result<Package> ReadCondaPackage(const std::string& prefix, const std::string& records,
                                 const std::function<void(const std::string& path)>& take);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_CONDA_METADATA_H_
