// From cuInit's code and the traces around it to the one cause.
#include "driver/init.h"

#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/path.h"
#include "common/loader_path.h"
#include "driver/findings.h"
#include "image/contents/driver_library.h"
#include "image/contents/mounts.h"

namespace cudnn_ci {
namespace {

constexpr int kOutOfMemory = 2, kOperatingSystem = 304, kSystemNotReady = 802;
// The version of its kernel that every release of gVisor tells; that of the kernel's release has changed.
// https://github.com/google/gvisor/blob/master/pkg/sentry/syscalls/linux/linux64.go
constexpr char kGvisor[] = "#1 SMP Sun Jan 10 15:06:54 PST 2016";
constexpr char kControlNode[] = "/dev/nvidiactl", kUvmNode[] = "/dev/nvidia-uvm";

std::string Quoted(const char* variable) {
  return std::string(variable) + "='" + Environment(variable) + "'";
}

// "MIG is on and has no instance on every GPU": then there is nothing to compute on.
bool IsMigWithoutInstance(const NvmlApi& nvml) {
  const std::vector<NvmlDevice> devices = nvml.Devices();
  for (const NvmlDevice& device : devices) {
    const NvmlHealth health = nvml.Health(device);
    if (!health.mig.value_or(false) || health.mig_instances.value_or(1) != 0) return false;
  }
  return !devices.empty();
}

std::string ProcessesOf(const NvmlApi& nvml) {
  std::string all;
  for (const NvmlDevice& device : nvml.Devices())
    for (const NvmlProcess& process : nvml.Health(device).processes)
      all +=
          (all.empty() ? "; processes on the GPUs (ids of the host): " : ", ") + std::to_string(process.pid);
  return all;
}

// Whether a compat library, or one of another version than the module, is what does not fit.
const char* SlugOfMismatch(const NvmlApi& nvml, const std::string& library) {
  const std::string module = LoadedModuleVersion(), user = VersionOfLibraryFile(library);
  const bool differ = !module.empty() && !user.empty() && module != user && !IsCompatPath(library);
  return differ ? SlugOfOtherLibrary(nvml.DriverVersion(), module) : kDriverCompatMismatch;
}

const char* SlugWithoutDevice(const NvmlApi& nvml, const std::vector<DeviceNode>& nodes) {
  if (!BadVisibleDevice(nvml).empty()) return kNoVisibleDevice;
  if (DeniedNode(nodes)) return kDeviceNodeDenied;
  return IsMigWithoutInstance(nvml) ? kMigWithoutInstance : kNoVisibleDevice;
}

const char* SlugOf(const NvmlApi& nvml, const std::string& library, const std::vector<DeviceNode>& nodes,
                   int code) {
  if (code >= 805 && code <= 810) return kMpsUnreachable;
  switch (code) {
    case 34:
      return kDriverStubLibrary;
    case 46:
      return IsMigWithoutInstance(nvml) ? kMigWithoutInstance : kDeviceBusy;
    case 100:
    case 101:
      return SlugWithoutDevice(nvml, nodes);
    case kSystemNotReady:
      return kFabricNotReady;
    case 803:
    case 804:
      return SlugOfMismatch(nvml, library);
    case 999:
      if (DeniedNode(nodes)) return kDeviceNodeDenied;
      return IsUvmTheCause(nodes, IsUvmNodeStale(nodes)) ? kUvmNodeUnusable : kDriverUnknownError;
    default:
      return kDriverInitFailed;
  }
}

std::string MismatchDetail(const NvmlApi& nvml, const DriverApi& api, const std::string& library) {
  const std::string module = LoadedModuleVersion(), entry = LibraryPathEntry(api.path());
  std::string detail = "; " + library + " is used" + (entry.empty() ? "" : " through " + entry) + " over " +
                       (module.empty() ? "a kernel module of unknown version" : "kernel module " + module);
  for (const NvmlDevice& device : nvml.Devices()) detail += ", " + device.name;
  return detail;
}

// "NVIDIA_VISIBLE_DEVICES='all'"; "NVIDIA_VISIBLE_DEVICES not set".
std::string ValueOf(const char* variable) {
  return getenv(variable) ? Quoted(variable) : std::string(variable) + " not set";
}

}  // namespace

std::string DriverTraces() {
  const std::string module = LoadedModuleVersion();
  return Describe(DeviceNodes()) + "; /proc/driver/nvidia/version " +
         (module.empty() ? "missing" : "says " + module) + "; " + ValueOf("NVIDIA_VISIBLE_DEVICES") + "; " +
         ValueOf("NVIDIA_DRIVER_CAPABILITIES");
}

// Whether the container was given nothing of a driver, so that this file is a part of the image and speaks
// for no host. Jetson and WSL have device nodes of other names.
bool IsOfImageAlone(const std::string& real_path) {
  const Mounts mounts = Mounts::Read();
  if (!mounts.root_is_of_image() || mounts.IsOfDriver(real_path) || IsCompatPath(real_path)) return false;
  if (!LoadedModuleVersion().empty() || !FindMountedDriver().traces.empty()) return false;
  const std::vector<DeviceNode> nodes = DeviceNodes();
  // Jetson and WSL have device nodes of other names.
  return !Exists("/dev/dxg") && !Exists("/dev/nvmap") &&
         std::all_of(nodes.begin(), nodes.end(), [](const DeviceNode& node) { return node.error == ENOENT; });
}

const char* SlugOfOtherLibrary(const std::string& nvml_version, const std::string& module) {
  return !module.empty() && nvml_version == module ? kDriverCompatMismatch : kDriverModuleMismatch;
}

const DeviceNode* DeniedNode(const std::vector<DeviceNode>& nodes) {
  const DeviceNode* denied = nullptr;
  for (const DeviceNode& node : nodes) {
    if (node.path == kUvmNode) continue;
    const bool control = node.path == kControlNode;
    // A job that was given some of the GPUs may not open the others.
    if (!control && node.error == 0) return nullptr;
    if ((node.error == EPERM || node.error == EACCES) && !denied) denied = &node;
    if (control && denied) return denied;
  }
  return denied;
}

bool IsUvmTheCause(const std::vector<DeviceNode>& nodes, bool stale) {
  bool control = false, uvm = false;
  for (const DeviceNode& node : nodes) {
    if (node.path == kControlNode) control = node.error == 0;
    if (node.path == kUvmNode) uvm = node.error == 0 && !stale;
  }
  return control && !uvm;
}

std::string BadVisibleDevice(const NvmlApi& nvml) {
  const char* value = getenv("CUDA_VISIBLE_DEVICES");
  if (!value) return {};
  const std::optional<std::string> surely = SurelyBadVisibleDevice(value);
  std::vector<std::string> uuids;
  for (const NvmlDevice& device : nvml.Devices()) uuids.push_back(device.uuid);
  const std::string bad = surely || uuids.empty() ? surely.value_or("") : FirstBadVisibleDevice(value, uuids);
  return surely || !bad.empty() ? "'" + bad + "'" : "";
}

Sandbox OwnSandbox() {
  Sandbox sandbox;
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
    sandbox.address_bytes = addresses.rlim_cur;
  utsname kernel{};
  if (uname(&kernel) == 0) sandbox.kernel = kernel.version;
  return sandbox;
}

std::string SandboxDetail(int code, const Sandbox& sandbox) {
  if (code == kOutOfMemory && sandbox.address_bytes != UINT64_MAX)
    return "; the address space is limited to " + std::to_string(sandbox.address_bytes >> 20) +
           " MiB (ulimit -Hv), and CUDA reserves more than the memory of the host and its GPUs: remove the limit";
  if (code == kOperatingSystem && sandbox.kernel == kGvisor)
    return "; the kernel is gVisor, which passes on only the driver calls that it knows: start the container "
           "with runsc --nvproxy and a driver that it supports (runsc nvproxy list-supported-drivers)";
  return {};
}

std::string VisibilityDetail(const NvmlApi& nvml) {
  std::string detail;
  if (getenv("CUDA_VISIBLE_DEVICES")) {
    const std::string bad = BadVisibleDevice(nvml);
    detail += "; " + Quoted("CUDA_VISIBLE_DEVICES");
    if (Environment("CUDA_VISIBLE_DEVICES").empty())
      detail += " (empty: it hides every GPU)";
    else if (!bad.empty())
      detail += " (first bad entry: " + bad + ")";
  }
  if (getenv("NVIDIA_VISIBLE_DEVICES")) detail += "; " + Quoted("NVIDIA_VISIBLE_DEVICES");
  detail += nvml.status() == 0 ? "; NVML sees " + std::to_string(nvml.Devices().size()) + " GPU(s)"
                               : "; NVML: " + nvml.error();
  return detail + "; " + Describe(DeviceNodes());
}

InitFailure ExplainInit(const DriverApi& api, const NvmlApi& nvml, CUresult result) {
  const int code = static_cast<int>(result);
  const std::string library = RealPath(api.path());
  const std::vector<DeviceNode> nodes = DeviceNodes();
  std::string detail = "cuInit: " + api.Describe(result);
  const char* slug = SlugOf(nvml, library, nodes, code);
  if (code == 100 || code == 101)
    detail += VisibilityDetail(nvml);
  else if (code == 803 || code == 804)
    detail += MismatchDetail(nvml, api, library);
  else if (slug == kMpsUnreachable)
    detail += getenv("CUDA_MPS_PIPE_DIRECTORY") ? "; " + Quoted("CUDA_MPS_PIPE_DIRECTORY") : "";
  else
    detail += "; " + library + (code == 34 ? "" : "; " + Describe(nodes));
  if (code == 46) detail += ProcessesOf(nvml);
  detail += SandboxDetail(code, OwnSandbox());
  if (slug == kUvmNodeUnusable && IsUvmNodeStale(nodes))
    detail += "; the major number of /dev/nvidia-uvm is not the one in /proc/devices";
  return {slug, detail};
}

CUresult InitWhenFabricIsReady(const DriverApi& api, double seconds, const std::function<void()>& waiting,
                               double* waited_s) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  *waited_s = 0;
  CUresult result = api.Init(0);
  for (bool first = true; static_cast<int>(result) == kSystemNotReady && elapsed() < seconds; first = false) {
    if (first) waiting();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    result = api.Init(0);
    *waited_s = elapsed();
  }
  return result;
}

}  // namespace cudnn_ci
