// What an interpreter has installed that matters here, by the names of its packages' metadata: frameworks,
// and cuDNN; and what of it uses a GPU, by the headers of its libraries. Nothing is imported.
#ifndef CUDNN_CI_IMAGE_CONTENTS_ENVIRONMENT_PACKAGES_H_
#define CUDNN_CI_IMAGE_CONTENTS_ENVIRONMENT_PACKAGES_H_

#include <string>

#include "base/package_names.h"
#include "base/variables.h"
#include "image/contents/python_environment.h"

namespace cudnn_ci {

// Of the interpreter at an absolute path, seen with these variables, by the names of packages. Without a
// name: which one is a subject, and what it is called, depends on the others (image/contents/environments.h).
PythonEnvironment DescribeEnvironment(const std::string& interpreter, const Variables& environment,
                                      const PackageNames& names);

// True if a main library of cuDNN of a known major lies in the folder, whole or not.
bool HoldsCudnn(const std::string& folder);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_ENVIRONMENT_PACKAGES_H_
