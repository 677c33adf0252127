// What the host's driver says of itself in files and names, and what follows from it: the version of
// the kernel module, of the user library, and which entry of CUDA_VISIBLE_DEVICES hides the GPUs.
// Pure functions over text, apart from the two readers at the end. Calls no CUDA.
#ifndef CUDNN_CI_PLUGINS_COMMON_DRIVER_FILES_H_
#define CUDNN_CI_PLUGINS_COMMON_DRIVER_FILES_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// "580.159.04" from the text of /proc/driver/nvidia/version (proprietary and open module) or of
// /sys/module/nvidia/version; empty if there is none in it.
std::string ParseModuleVersion(const std::string& text);

// "580.95.05" of ".../libcuda.so.580.95.05"; empty for names without a version.
std::string VersionOfLibraryFile(const std::string& real_path);

// True if a directory of the path is called "compat": a cuda-compat package's user-mode driver,
// which differs from the kernel module on purpose.
bool IsCompatPath(const std::string& real_path);

// The first entry of CUDA_VISIBLE_DEVICES that names no GPU; CUDA ignores it and all after it.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables
// Empty if every entry is good, and for an empty value.
std::string FirstBadVisibleDevice(const std::string& value, const std::vector<std::string>& uuids);

// The kernel module's version by the files of /proc and /sys; empty when no module is loaded or the
// container hides it.
std::string LoadedModuleVersion();

// "/dev/nvidiactl present, /dev/nvidia0 cannot be opened (Permission denied), ...": the state of the
// device nodes CUDA opens first.
std::string DeviceNodes();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_DRIVER_FILES_H_
