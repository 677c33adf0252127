// The rows of the table that speak of a release, and the GPUs beside them.
#include "cudnn/support.h"

#include <cudnn_ci/facts.h>

#include <cstdlib>

#include "common/judge.h"
#include "cudnn/findings.h"

namespace cudnn_ci {
namespace {

// Compute capabilities, "7.5"; empty: not known.
struct Supported {
  std::string lowest, highest;
};

// A release has a row for each group of toolkits: what one of them supports, the release does.
Supported SupportedBy(Context& ctx, const std::string& version, int cuda_major) {
  Supported supported;
  for (int i = 0;; ++i) {
    const std::string row = CCI_COMPATIBILITY_CUDNN + std::to_string(cuda_major) + "." + std::to_string(i);
    const std::string from = ctx.Compatibility(row + CCI_COMPATIBILITY_CUDNN_FROM);
    if (from.empty()) return supported;
    const std::string to = ctx.Compatibility(row + CCI_COMPATIBILITY_CUDNN_TO);
    if (!ctx.Satisfies(version, ">=" + from) || !ctx.Satisfies(version, "<=" + to)) continue;
    const std::string lowest = ctx.Compatibility(row + CCI_COMPATIBILITY_CUDNN_LOWEST);
    const std::string highest = ctx.Compatibility(row + CCI_COMPATIBILITY_CUDNN_HIGHEST);
    if (!lowest.empty() && (supported.lowest.empty() || ctx.Satisfies(lowest, "<" + supported.lowest)))
      supported.lowest = lowest;
    if (!highest.empty() && (supported.highest.empty() || ctx.Satisfies(highest, ">" + supported.highest)))
      supported.highest = highest;
  }
}

}  // namespace

void JudgeGpuSupport(Context& ctx, const std::string& version, int cuda_major) {
  const Supported supported = SupportedBy(ctx, version, cuda_major);
  const int count = std::atoi(ctx.Fact(CCI_FACT_GPU_COUNT).c_str());
  if (supported.lowest.empty() || count <= 0) return;
  const std::string release = "cuDNN " + version + " for CUDA " + std::to_string(cuda_major);
  const std::string as_of = " (version facts as of " + ctx.Compatibility(CCI_COMPATIBILITY_AS_OF) + ")";
  std::string too_old, too_new;
  const std::string promised = ctx.Contract("runner.compute_capability");
  bool any = false, judged = false;
  for (int i = 0; i < count; ++i) {
    const std::string gpu = CCI_FACT_GPU + std::to_string(i);
    const std::string capability = ctx.Fact((gpu + CCI_FACT_GPU_COMPUTE_CAPABILITY).c_str());
    if (capability.empty()) return;
    // One that the fleet does not promise is the runner's fault, and driver.devices says so.
    if (!promised.empty() && !ctx.Satisfies(capability, promised)) continue;
    judged = true;
    const std::string text = ctx.Fact((gpu + CCI_FACT_GPU_NAME).c_str()) + " has " + capability;
    const bool old = ctx.Satisfies(capability, "<" + supported.lowest);
    any = any || !old;
    if (old) too_old += (too_old.empty() ? "" : ", ") + text;
    // Inside a major, kernels run on every later minor version.
    const bool newer =
        !supported.highest.empty() && std::atoi(capability.c_str()) > std::atoi(supported.highest.c_str());
    if (newer) too_new += (too_new.empty() ? "" : ", ") + text;
  }
  if (!judged) return;
  // Beside one that is supported, another need not be used.
  Judge(ctx, any, release + " supports the GPUs from " + supported.lowest + " on", kCudnnGpuUnsupported, [&] {
    return release + " supports compute capability " + supported.lowest + " and later" + as_of + "; " +
           too_old;
  });
  if (!too_new.empty())
    ctx.Finding(kGpuNewerThanCudnn, release + " has kernels up to compute capability " + supported.highest +
                                        as_of + "; " + too_new);
}

}  // namespace cudnn_ci
