// The ids of this plugin's findings, spelled once.
#ifndef CUDNN_CI_PLUGINS_TOOLKIT_FINDINGS_H_
#define CUDNN_CI_PLUGINS_TOOLKIT_FINDINGS_H_

namespace cudnn_ci {

inline constexpr char kToolkitRuntimeMissing[] = "toolkit-runtime-missing";
inline constexpr char kToolkitOutsideContract[] = "toolkit-outside-contract";
inline constexpr char kToolkitNotPromised[] = "toolkit-not-promised";
inline constexpr char kCublasUnusable[] = "cublas-unusable";
inline constexpr char kCublasMixedDirectories[] = "cublas-mixed-directories";
inline constexpr char kCublasGemmFailed[] = "cublas-gemm-failed";
inline constexpr char kNvrtcMissing[] = "nvrtc-missing";
inline constexpr char kNvrtcOutsideContract[] = "nvrtc-outside-contract";
inline constexpr char kNvrtcCompileFailed[] = "nvrtc-compile-failed";
inline constexpr char kNvrtcKernelFailed[] = "nvrtc-kernel-failed";

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_TOOLKIT_FINDINGS_H_
