// The slugs of this plugin's findings, spelled once, and the contract's three forms.
#ifndef CUDNN_CI_PLUGINS_CUDNN_FINDINGS_H_
#define CUDNN_CI_PLUGINS_CUDNN_FINDINGS_H_

#include <cudnn_ci/check.hpp>

#include <string>

namespace cudnn_ci {

inline constexpr char kCudnnMissing[] = "cudnn-missing";
inline constexpr char kCudnnSublibraryUnloadable[] = "cudnn-sublibrary-unloadable";
inline constexpr char kCudnnMixedDirectories[] = "cudnn-mixed-directories";
inline constexpr char kCudnnMixedVersions[] = "cudnn-mixed-versions";
inline constexpr char kCudnnNotPromised[] = "cudnn-not-promised";
inline constexpr char kCudnnOutsideContract[] = "cudnn-outside-contract";
inline constexpr char kCudnnFlavourMismatch[] = "cudnn-flavour-mismatch";
inline constexpr char kCudnnInitFailed[] = "cudnn-init-failed";
inline constexpr char kCudnnInitOutOfMemory[] = "cudnn-init-out-of-memory";

struct CudnnContract {
  bool absent = false;  // the image promises to carry no cuDNN
  std::string range;    // else what it promises; empty: nothing, so any version will do

  bool Kept(const Context& ctx, const std::string& version) const {
    return range.empty() || ctx.Satisfies(version, range);
  }
  // Ends the check as skipped: what is neither promised nor there is not gated.
  void SkipUnlessPromised(Context& ctx, bool found) const {
    if (!found && range.empty()) ctx.Skip(CCI_SKIP_ABSENT, "cuDNN, or image.cudnn in the matrix", "neither");
  }
};

inline CudnnContract ReadCudnnContract(const Context& ctx) {
  CudnnContract contract;
  contract.range = ctx.Contract("image.cudnn");
  contract.absent = contract.range == "absent";
  return contract;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_FINDINGS_H_
