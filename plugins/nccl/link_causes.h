// What of a host is known to come between GPUs, as far as a container can see it. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_NCCL_LINK_CAUSES_H_
#define CUDNN_CI_PLUGINS_NCCL_LINK_CAUSES_H_

#include <string>

namespace cudnn_ci {

// "; seen: an IOMMU is on (42 groups), /dev/shm has 64 MiB"; empty: nothing is seen.
std::string LinkCausesSeen();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_LINK_CAUSES_H_
