// Packages as the program rpm answers with them.
#ifndef CUDNN_CI_IMAGE_PACKAGES_RPM_ANSWER_H_
#define CUDNN_CI_IMAGE_PACKAGES_RPM_ANSWER_H_

#include <string>
#include <vector>

#include "image/packages/package.h"

namespace cudnn_ci {

// The answer of `rpm -qf --queryformat '%{NAME} %{VERSION}-%{RELEASE}\n'`. At most 64 packages.
std::vector<Package> ParseRpmAnswer(const std::string& text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_RPM_ANSWER_H_
