// Packages of an image whose kernels an adapter asks (kernels.package), which a matrix that was chosen by
// itself does not list.
#ifndef CUDNN_CI_MODEL_INVENTORY_KERNEL_PACKAGES_H_
#define CUDNN_CI_MODEL_INVENTORY_KERNEL_PACKAGES_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/package_names.h"
#include "image/contents/candidate.h"
#include "model/record/notice.h"

namespace cudnn_ci {

// What says so, of all candidates together: the releases that an adapter is for, and those that none is for.
// None where there is no such package.
std::optional<Notice> KernelsNotTested(const std::vector<Candidate>& candidates,
                                       const std::vector<AdaptedPackage>& adapted);

// The adapters whose packages the candidate has, of any release.
std::set<std::string> AdaptersFor(const Candidate& candidate, const std::vector<AdaptedPackage>& adapted);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_INVENTORY_KERNEL_PACKAGES_H_
