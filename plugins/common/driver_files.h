// What the host's driver says of itself in files and names, and what follows from it: the version of
// the kernel module, of the user library, and which entry of CUDA_VISIBLE_DEVICES hides the GPUs.
// Pure functions over text, apart from the readers at the end. Calls no CUDA.
#ifndef CUDNN_CI_PLUGINS_COMMON_DRIVER_FILES_H_
#define CUDNN_CI_PLUGINS_COMMON_DRIVER_FILES_H_

#include <optional>
#include <string>
#include <vector>

namespace cudnn_ci {

// "580.159.04" from the text of /proc/driver/nvidia/version (proprietary and open module) or of
// /sys/module/nvidia/version; empty if there is none in it.
std::string ParseModuleVersion(const std::string& text);

// "580.95.05" of ".../libcuda.so.580.95.05"; empty for names without a driver's version.
std::string VersionOfLibraryFile(const std::string& real_path);

// True for the library of WSL and Jetson, libcuda.so.1.1: their drivers count otherwise than those that
// NVIDIA's tables of versions speak of.
bool CountsOtherwise(const std::string& real_path);

// True if a directory of the path is called "compat": a cuda-compat package's user-mode driver,
// which differs from the kernel module on purpose.
bool IsCompatPath(const std::string& real_path);

// True for a library that comes with the host's driver and never with an image: "libcuda.so.1",
// "libnvidia-ptxjitcompiler.so.1". What needs one of these cannot be loaded where there is no driver.
bool IsDriverLibrary(const std::string& name);

// The library of the driver whose absence the loader complains of; empty if it complains of something else.
std::string AwaitedLibrary(const std::string& error);

// The first entry of CUDA_VISIBLE_DEVICES that names no GPU; CUDA ignores it and all after it.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables
// Empty if every entry is good, and for an empty value.
std::string FirstBadVisibleDevice(const std::string& value, const std::vector<std::string>& uuids);

// The same as far as it can be told without knowing the GPUs: an empty value is the entry "", a number below
// zero or a word names none, and none may be named twice. Nothing: no entry is surely bad.
std::optional<std::string> SurelyBadVisibleDevice(const std::string& value);

// A GPU's hardware errors in the kernel's log: 48, 63, 64, 74, 79, 92, 94, 95, 119, 120. The other numbers
// come from programs as well, perhaps from somebody else's on this host.
// https://docs.nvidia.com/deploy/xid-errors/
struct Xid {
  std::string pci;  // "0000:18:00"
  int number = 0;
};
// Every such line of the log, in its order, each GPU and number once.
std::vector<Xid> ParseHardwareXids(const std::string& log);

// "79, 119": the numbers of the GPU at that address, as the driver tells it ("0000:4B:00.0"; the log has
// small letters and leaves out the function).
std::string XidsOf(const std::string& pci_bus_id, const std::vector<Xid>& xids);

// A device node, and whether this process can open it for reading and writing, as CUDA does.
struct DeviceNode {
  std::string path;
  int error = 0;       // errno of opening it; 0: it opens
  unsigned major = 0;  // of the node; 0: it is none
};
// The major number of a driver in the text of /proc/devices; 0: it has none.
unsigned ParseDeviceMajor(const std::string& text, const std::string& driver);

// "/dev/nvidiactl present, /dev/nvidia0 cannot be opened (Permission denied), ...": at most eight of them.
std::string Describe(const std::vector<DeviceNode>& nodes);

// ---- Readers. `root` is put before every path; tests read a folder of their own. ----

// The kernel module's version by the files of /proc and /sys; empty when no module is loaded or the
// container hides it.
std::string LoadedModuleVersion(const std::string& root = {});

// /dev/nvidiactl, every /dev/nvidiaN (nvidia0 if there is none) and /dev/nvidia-uvm, which CUDA opens.
std::vector<DeviceNode> DeviceNodes(const std::string& root = {});

// Whether the node /dev/nvidia-uvm has another major number than its driver has now, as after the module was
// loaded again. False where either is unknown.
bool IsUvmNodeStale(const std::vector<DeviceNode>& nodes, const std::string& root = {});

// The libcuda.so.1 that a container runtime, WSL or a host's package put into a folder of its own, where not
// every image's loader looks: those that could be loaded, each file once.
std::vector<std::string> MountedDriverLibraries(const std::string& root = {});

// Hardware errors since the host started, where this process may read the kernel's log; else none.
std::vector<Xid> LoggedHardwareXids(const std::string& root = {});

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_DRIVER_FILES_H_
