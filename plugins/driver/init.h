// Why cuInit fails, and which GPUs the environment hides: the finding's id, and the concrete things.
// Reports nothing.
#ifndef CUDNN_CI_PLUGINS_DRIVER_INIT_H_
#define CUDNN_CI_PLUGINS_DRIVER_INIT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/driver_api.h"
#include "common/driver_files.h"
#include "common/nvml_api.h"

namespace cudnn_ci {

// Whether the container was given nothing of a driver, neither mounts nor nodes nor a kernel module, so that
// this libcuda is a file of the image and speaks for no host.
bool IsOfImageAlone(const std::string& real_path);

// What a container shows of a driver that it was given: device nodes, the module, the runtime's variables.
std::string DriverTraces();

struct InitFailure {
  const char* slug;
  std::string detail;
};

// Asks NVML, the device nodes and the files of the driver.
InitFailure ExplainInit(const DriverApi& api, const NvmlApi& nvml, CUresult result);

// The finding of a libcuda of another version than the kernel module: where NVML, which comes with the host's
// driver, fits the module, the image brought that libcuda.
const char* SlugOfOtherLibrary(const std::string& nvml_version, const std::string& module);

// /dev/nvidiactl, or the first GPU node where no GPU's can be opened, that is there and may not be opened;
// null: none.
const DeviceNode* DeniedNode(const std::vector<DeviceNode>& nodes);

// Whether /dev/nvidia-uvm cannot be used while /dev/nvidiactl can: CUDA needs both, nvidia-smi only the
// second.
bool IsUvmTheCause(const std::vector<DeviceNode>& nodes, bool stale);

// What a container may hold a process to.
struct Sandbox {
  std::uint64_t address_bytes = UINT64_MAX;  // RLIMIT_AS; UINT64_MAX: no limit
  std::string kernel;                        // its version, as uname(2) tells it
};
Sandbox OwnSandbox();

// What of it explains this code of cuInit, beginning with "; "; empty: nothing does. 2 (out of memory) comes
// from a limit of address space, of which CUDA reserves more than host and GPUs have memory; 304 (a call of
// the operating system failed) from gVisor, which passes on only those calls of a driver that it knows.
std::string SandboxDetail(int code, const Sandbox& sandbox);

// What hides GPUs, as far as can be told: variables, how many NVML sees, device nodes. Begins with "; ".
std::string VisibilityDetail(const NvmlApi& nvml);

// The entry of CUDA_VISIBLE_DEVICES that ends the list, quoted, of a variable that has one; else empty.
std::string BadVisibleDevice(const NvmlApi& nvml);

// cuInit, again for up to `seconds` while the GPUs' fabric is not ready (802), which it is some time after
// the host has started. `waiting` is called once, before the first pause. *waited_s: how long it took, 0 if
// there was no pause.
CUresult InitWhenFabricIsReady(const DriverApi& api, double seconds, const std::function<void()>& waiting,
                               double* waited_s);

inline constexpr double kFabricWaitS = 30;
// A fact: for how many whole seconds the facts step waited for the fabric; absent: it did not.
inline constexpr char kFabricWaitFact[] = "driver.fabric_wait_s";

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_DRIVER_INIT_H_
