// NVML, bound at run time. Prototypes are declared by hand, from
// https://docs.nvidia.com/deploy/nvml-api/: many images have cuda.h and no nvml.h. NVML sees the
// host's driver and GPUs regardless of CUDA_VISIBLE_DEVICES. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_COMMON_NVML_API_H_
#define CUDNN_CI_PLUGINS_COMMON_NVML_API_H_

#include <string>
#include <vector>

#include "common/late_function.h"

namespace cudnn_ci {

inline constexpr int kNvmlDriverMismatch = 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH

struct NvmlDevice {
  std::string uuid, name;
  std::string memory_free;  // bytes; empty: unknown, as inside MIG
};

// One NVML session: Load() initialises it, the destructor ends it. Use from one thread.
class NvmlApi {
 public:
  NvmlApi() = default;
  ~NvmlApi();
  NvmlApi(const NvmlApi&) = delete;
  NvmlApi& operator=(const NvmlApi&) = delete;

  // Loads "libnvidia-ml.so.1" and calls nvmlInit_v2. False: error() has the loader's or NVML's words,
  // and status() NVML's number (-1 when the library did not load).
  bool Load();
  bool library_loaded() const { return library_.loaded(); }
  const std::string& error() const { return error_; }
  int status() const { return status_; }

  // All of these return empty values where NVML refuses (MIG, a missing function): unknown, not zero.
  std::string DriverVersion() const;
  std::vector<NvmlDevice> Devices() const;

 private:
  using Device = struct nvmlDevice_st*;
  LateLibrary library_;
  LateFunction<int()> init_, shutdown_;
  LateFunction<const char*(int)> error_string_;
  LateFunction<int(char*, unsigned)> driver_version_;
  LateFunction<int(unsigned*)> device_count_;
  LateFunction<int(unsigned, Device*)> device_by_index_;
  LateFunction<int(Device, char*, unsigned)> device_name_, device_uuid_;
  struct Memory {
    unsigned long long total, free, used;
  };
  LateFunction<int(Device, Memory*)> device_memory_;
  std::string error_;
  int status_ = -1;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NVML_API_H_
