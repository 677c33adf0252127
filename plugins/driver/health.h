// What is worth knowing of GPUs that work, and who holds the memory of one that has none left.
#ifndef CUDNN_CI_PLUGINS_DRIVER_HEALTH_H_
#define CUDNN_CI_PLUGINS_DRIVER_HEALTH_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "common/nvml_api.h"
#include "driver/gpus.h"

namespace cudnn_ci {

// Reports warnings and notes about the visible GPUs; nothing here fails the case.
void ReportHealth(Context& ctx, const NvmlApi& nvml, const std::vector<Gpu>& gpus);

// What a GPU's memory is held by, as NVML tells.
struct MemoryUse {
  bool known = false;
  uint64_t free = 0;    // bytes; only if known
  std::string holders;  // "process 123: 70000 MiB, ..." (ids of the host); empty: NVML names none
};
MemoryUse MemoryOf(const NvmlApi& nvml, const std::string& uuid);

// What a context and a small kernel need at most; measured: about 600 MiB on an H200.
inline constexpr uint64_t kContextBytes = uint64_t{1} << 30;

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_DRIVER_HEALTH_H_
