// Whether a cuDNN supports the GPUs that are here, by the table of version facts.
#ifndef CUDNN_CI_PLUGINS_CUDNN_SUPPORT_H_
#define CUDNN_CI_PLUGINS_CUDNN_SUPPORT_H_

#include <cudnn_ci/check.hpp>

#include <string>

namespace cudnn_ci {

// Judges the visible GPUs, as the facts tell of them, against the release of this version for this CUDA
// major. Of a release that the table does not know, and without a GPU, nothing is said.
void JudgeGpuSupport(Context& ctx, const std::string& version, int cuda_major);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_SUPPORT_H_
