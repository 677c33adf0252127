// The slugs of this plugin's findings, spelled once: a check that reports an undeclared slug is a bug
// the compiler should find.
#ifndef CUDNN_CI_PLUGINS_DRIVER_FINDINGS_H_
#define CUDNN_CI_PLUGINS_DRIVER_FINDINGS_H_

namespace cudnn_ci {

inline constexpr char kDriverLibraryMissing[] = "driver-library-missing";
inline constexpr char kDriverStubLibrary[] = "driver-stub-library";
inline constexpr char kDriverLibraryUnloadable[] = "driver-library-unloadable";
inline constexpr char kDriverBelowContract[] = "driver-below-contract";
inline constexpr char kDriverVersionUnknown[] = "driver-version-unknown";
inline constexpr char kDriverTooOldForToolkit[] = "driver-too-old-for-toolkit";
inline constexpr char kDriverModuleMismatch[] = "driver-module-mismatch";
inline constexpr char kNoVisibleDevice[] = "no-visible-device";
inline constexpr char kDriverCompatMismatch[] = "driver-compat-mismatch";
inline constexpr char kFabricNotReady[] = "fabric-not-ready";
inline constexpr char kDeviceBusy[] = "device-busy";
inline constexpr char kDriverUnknownError[] = "driver-unknown-error";
inline constexpr char kDriverInitFailed[] = "driver-init-failed";
inline constexpr char kTooFewGpus[] = "too-few-gpus";
inline constexpr char kComputeCapabilityOutsideContract[] = "compute-capability-outside-contract";
inline constexpr char kCanaryFailed[] = "canary-failed";

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_DRIVER_FINDINGS_H_
