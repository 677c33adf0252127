// What an interpreter has installed that matters here, by the names of its packages' metadata: frameworks,
// and cuDNN. Nothing is imported and no file of a package is read.
#ifndef CUDNN_CI_IMAGE_CONTENTS_ENVIRONMENT_PACKAGES_H_
#define CUDNN_CI_IMAGE_CONTENTS_ENVIRONMENT_PACKAGES_H_

#include <optional>
#include <string>
#include <utility>

#include "model/inventory/python_environment.h"
#include "model/matrix/image_identity.h"

namespace cudnn_ci {

// Of the interpreter at an absolute path, seen with these variables. Without a name: which one is a subject,
// and what it is called, depends on the others (image/contents/environments.h).
PythonEnvironment DescribeEnvironment(const std::string& interpreter, const Variables& environment);

// Name and version of a package by an entry of a folder of packages, "torch-2.11.0+cu128.dist-info" or
// "torch-1.13.1-py3.11.egg-info"; the name in lower case, with "_" between its words
// (https://packaging.python.org/en/latest/specifications/name-normalization/). Nothing: it is none.
std::optional<std::pair<std::string, std::string>> PackageOf(const std::string& entry);

// True if a main library of cuDNN of a known major lies in the folder, whole or not.
bool HoldsCudnn(const std::string& folder);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_ENVIRONMENT_PACKAGES_H_
