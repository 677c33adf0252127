// How many GPUs a case of all devices has.
#ifndef CUDNN_CI_PLUGINS_COMMON_VISIBLE_GPUS_H_
#define CUDNN_CI_PLUGINS_COMMON_VISIBLE_GPUS_H_

#include <algorithm>
#include <string>

#include "common/loader_path.h"

namespace cudnn_ci {

// By CUDA_VISIBLE_DEVICES, which the harness sets to the run's GPUs for such a case; 0: to none. Any thread.
inline int VisibleGpus() {
  const std::string visible = Environment("CUDA_VISIBLE_DEVICES");
  return visible.empty() ? 0 : static_cast<int>(std::count(visible.begin(), visible.end(), ',')) + 1;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_VISIBLE_GPUS_H_
