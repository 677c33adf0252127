// What of a host is known to come between GPUs, as far as a container can see it. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_NCCL_LINK_CAUSES_H_
#define CUDNN_CI_PLUGINS_NCCL_LINK_CAUSES_H_

#include <string>

namespace cudnn_ci {

// "; seen: an IOMMU is on (42 groups), GPU 1 has 2 of 18 NVLinks down"; empty: nothing is seen. NVML is asked
// in a process of its own, for 5 s at most. For a process without CUDA, which it forks.
std::string LinkCausesSeen();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_LINK_CAUSES_H_
