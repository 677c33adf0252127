// The libraries that the shared objects of an installed package are, or need by name.
#ifndef CUDNN_CI_IMAGE_CONTENTS_RECORDED_LIBRARIES_H_
#define CUDNN_CI_IMAGE_CONTENTS_RECORDED_LIBRARIES_H_

#include <functional>
#include <string>
#include <vector>

#include "image/packages/package.h"

namespace cudnn_ci {

// True if a shared object that the package has recorded needs a library for which `wanted` is true, or is
// one.
bool HasLibrary(const Package& package, const std::function<bool(const std::string& name)>& wanted);

// The first shared object that the package has recorded, that exists, and whose name and needed libraries
// `wanted` takes; empty: there is none, or the record cannot be read.
std::string FindLibrary(
    const Package& package,
    const std::function<bool(const std::string& name, const std::vector<std::string>& needed)>& wanted);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_RECORDED_LIBRARIES_H_
