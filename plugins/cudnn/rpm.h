// Which packages own cuDNN's files, by the program rpm.
#ifndef CUDNN_CI_PLUGINS_CUDNN_RPM_H_
#define CUDNN_CI_PLUGINS_CUDNN_RPM_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "image/packages/package.h"

namespace cudnn_ci {

// The packages that rpm says own the file; none where there is no database. Without the program rpm that is
// logged, and nothing is looked at.
std::vector<Package> RpmPackagesOf(Context& ctx, const std::string& file);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_RPM_H_
