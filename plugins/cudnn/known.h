// What is known to be wrong in the judged release, by the table of version facts, before anybody meets it.
#ifndef CUDNN_CI_PLUGINS_CUDNN_KNOWN_H_
#define CUDNN_CI_PLUGINS_CUDNN_KNOWN_H_

#include <cudnn_ci/check.hpp>

#include <string>

#include "common/install_line.h"

namespace cudnn_ci {

// One warning for all that gives wrong numbers or crashes in this release on a visible GPU and that another
// release is without; which convolutions are computed here, the cases of the matrix know. `cublaslt` is the
// version of the one that cuDNN uses, empty if it is not known. `package`: what is to be upgraded.
void WarnOfKnownRegressions(Context& ctx, const std::string& version, const std::string& cublaslt,
                            const InstalledPackage& package);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_KNOWN_H_
