// The ids of this plugin's findings, spelled once: a check that reports an undeclared finding id is a bug
// the compiler should find.
#ifndef CUDNN_CI_PLUGINS_DRIVER_FINDINGS_H_
#define CUDNN_CI_PLUGINS_DRIVER_FINDINGS_H_

namespace cudnn_ci {

inline constexpr char kDriverLibraryMissing[] = "driver-library-missing";
inline constexpr char kDriverStubLibrary[] = "driver-stub-library";
inline constexpr char kDriverLibraryOffPath[] = "driver-library-off-path";
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
inline constexpr char kComputeCapabilityNotMounted[] = "driver-compute-not-mounted";
inline constexpr char kDeviceNodeDenied[] = "device-node-denied";
inline constexpr char kUvmNodeUnusable[] = "uvm-node-unusable";
inline constexpr char kMigWithoutInstance[] = "mig-without-instance";
inline constexpr char kMpsUnreachable[] = "mps-unreachable";
inline constexpr char kDeviceMemoryHeld[] = "device-memory-held";
inline constexpr char kImageRequirementUnsatisfied[] = "image-requirement-unsatisfied";
// Warnings.
inline constexpr char kImageRequiresMore[] = "image-requires-more-than-it-needs";
inline constexpr char kNewerThanVersionTable[] = "newer-than-version-table";
inline constexpr char kDriverCompatUnsupported[] = "driver-compat-unsupported";
inline constexpr char kVisibleDevicesCut[] = "visible-devices-cut";
inline constexpr char kFabricWasSlow[] = "fabric-was-slow";
inline constexpr char kUncorrectedMemoryErrors[] = "uncorrected-memory-errors";
inline constexpr char kMemoryRepairPending[] = "memory-repair-pending";
inline constexpr char kXidLogged[] = "xid-logged";
inline constexpr char kDebuggingVariables[] = "debugging-variables";
// Notes.
inline constexpr char kPersistenceOff[] = "persistence-off";
inline constexpr char kExclusiveComputeMode[] = "exclusive-compute-mode";
inline constexpr char kMigModePending[] = "mig-mode-pending";
inline constexpr char kComputeCacheUnusable[] = "compute-cache-unusable";

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_DRIVER_FINDINGS_H_
