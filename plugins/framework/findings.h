// The ids of this plugin's findings, spelled once.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_FINDINGS_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_FINDINGS_H_

namespace cudnn_ci {

inline constexpr char kFrameworkPythonUnusable[] = "framework-python-unusable";
inline constexpr char kFrameworkImportFailed[] = "framework-import-failed";
inline constexpr char kFrameworkNoGpu[] = "framework-no-gpu";
inline constexpr char kFrameworkCudnnUnfit[] = "framework-cudnn-unfit";
inline constexpr char kFrameworkCudaMismatch[] = "framework-cuda-mismatch";
inline constexpr char kFrameworkCudnnMixed[] = "framework-cudnn-mixed";
inline constexpr char kFrameworkCrashed[] = "framework-crashed";
inline constexpr char kFrameworkTimedOut[] = "framework-timed-out";
inline constexpr char kFrameworkFailed[] = "framework-failed";
inline constexpr char kFrameworkWrongResult[] = "framework-wrong-result";
inline constexpr char kFrameworkWrongAttention[] = "framework-wrong-attention";
inline constexpr char kFrameworkLibrariesMissing[] = "framework-libraries-missing";
inline constexpr char kFrameworkDriverTooOld[] = "framework-driver-too-old";
inline constexpr char kFrameworkDecoyTaken[] = "framework-decoy-taken";
// Warnings.
inline constexpr char kFrameworkCudnnForeign[] = "framework-cudnn-foreign";
inline constexpr char kFrameworkNeedsPreload[] = "framework-needs-preload";
inline constexpr char kFrameworkCudnnAbsent[] = "framework-cudnn-absent";
// A note.
inline constexpr char kFrameworkWithoutCudnn[] = "framework-without-cudnn";

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_FINDINGS_H_
