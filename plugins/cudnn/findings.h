// The ids of this plugin's findings, spelled once, and the contract's three forms.
#ifndef CUDNN_CI_PLUGINS_CUDNN_FINDINGS_H_
#define CUDNN_CI_PLUGINS_CUDNN_FINDINGS_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "common/cudnn_api.h"

namespace cudnn_ci {

inline constexpr char kCudnnMissing[] = "cudnn-missing";
inline constexpr char kCudnnSublibraryUnloadable[] = "cudnn-sublibrary-unloadable";
inline constexpr char kCudnnOtherLibrary[] = "cudnn-other-library";
inline constexpr char kCudnnMixedDirectories[] = "cudnn-mixed-directories";
inline constexpr char kCudnnMixedVersions[] = "cudnn-mixed-versions";
inline constexpr char kCudnnOverridden[] = "cudnn-overridden";
inline constexpr char kCudnnOverriddenByOlder[] = "cudnn-overridden-by-older";
inline constexpr char kCudnnPartsOverridden[] = "cudnn-parts-overridden";
inline constexpr char kCudnnPartLacking[] = "cudnn-part-lacking";
inline constexpr char kCudnnNotPromised[] = "cudnn-not-promised";
inline constexpr char kCudnnOutsideContract[] = "cudnn-outside-contract";
inline constexpr char kCudnnFlavourMismatch[] = "cudnn-flavour-mismatch";
inline constexpr char kCudnnAwaitsDriver[] = "cudnn-awaits-driver";
inline constexpr char kCudnnDriverLibraryMissing[] = "cudnn-driver-library-missing";
inline constexpr char kCudnnJitOnly[] = "cudnn-jit-only";
inline constexpr char kCudnnJitCompleted[] = "cudnn-jit-completed";
inline constexpr char kCublasLtUnusable[] = "cublaslt-unusable";
inline constexpr char kCudnnHeaderMismatch[] = "cudnn-header-mismatch";
inline constexpr char kCudnnPackageMismatch[] = "cudnn-package-mismatch";
inline constexpr char kCudnnGpuUnsupported[] = "cudnn-gpu-unsupported";
inline constexpr char kGpuNewerThanCudnn[] = "gpu-newer-than-cudnn";
inline constexpr char kKnownRegression[] = "known-regression";
inline constexpr char kCudnnInitFailed[] = "cudnn-init-failed";
inline constexpr char kCudnnInitOutOfMemory[] = "cudnn-init-out-of-memory";
inline constexpr char kCudnnHandleLeak[] = "cudnn-handle-leak";
inline constexpr char kCudnnPressureUnclear[] = "cudnn-pressure-unclear";
inline constexpr char kCudnnLostUnderPressure[] = "cudnn-lost-under-pressure";
inline constexpr char kCudnnNoPlans[] = "cudnn-no-plans";
inline constexpr char kCudnnPlansFailed[] = "cudnn-plans-failed";

struct CudnnContract {
  bool absent = false;      // the image promises to carry no cuDNN
  Promise promise;          // else which version it promises
  std::vector<int> majors;  // in which order to look for one (CudnnMajors)

  // Ends the check as skipped: what is neither promised nor there is not gated.
  void SkipUnlessPromised(Context& ctx, bool found) const {
    if (!found && promise.range.empty())
      ctx.Skip(CCI_SKIP_ABSENT, "cuDNN, or image.cudnn in the matrix", "neither");
  }
};

// Valid as long as `ctx`.
inline CudnnContract ReadCudnnContract(const Context& ctx) {
  CudnnContract contract;
  contract.absent = ctx.Contract("image.cudnn") == "absent";
  contract.promise = PromiseOf(ctx, "image.cudnn");
  contract.majors = CudnnMajors(contract.promise, ctx.SubjectFolders());
  return contract;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_FINDINGS_H_
