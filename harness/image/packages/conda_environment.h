// A conda environment, and its packages by the names of their records.
// https://docs.conda.io/projects/conda-build/en/stable/resources/package-spec.html
#ifndef CUDNN_CI_IMAGE_PACKAGES_CONDA_ENVIRONMENT_H_
#define CUDNN_CI_IMAGE_PACKAGES_CONDA_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "image/packages/package.h"

namespace cudnn_ci {

// Whether a prefix is a conda environment.
bool IsCondaEnvironment(const std::string& prefix);

// Every package of an environment by the names of its files, "NAME-VERSION-BUILD.json", which are not opened.
std::vector<Package> CondaPackagesIn(const std::string& prefix);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_CONDA_ENVIRONMENT_H_
