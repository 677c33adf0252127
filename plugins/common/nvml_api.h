// NVML, bound at run time. Prototypes are declared by hand, from
// https://docs.nvidia.com/deploy/nvml-api/: many images have cuda.h and no nvml.h. NVML sees the
// host's driver and GPUs regardless of CUDA_VISIBLE_DEVICES. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_COMMON_NVML_API_H_
#define CUDNN_CI_PLUGINS_COMMON_NVML_API_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/late_function.h"
#include "image/contents/driver_library.h"

namespace cudnn_ci {

inline constexpr int kNvmlDriverMismatch = 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH

struct NvmlDevice {
  std::string uuid, name;
  std::string memory_free;  // bytes; empty: unknown, as inside MIG
  std::string slowed_by;    // what holds its clocks down by force, in words; empty: nothing, or unknown
  unsigned index = 0;       // as NVML counts
};

// A process that computes on a GPU. Its id is the host's, which a container may know by another or not at
// all.
struct NvmlProcess {
  unsigned pid = 0;
  std::optional<uint64_t> bytes;  // of device memory
};

// What NVML tells of one GPU; absent: it does not tell, as of a GPU without ECC or inside MIG.
struct NvmlHealth {
  std::string brand;  // as NVIDIA_REQUIRE_CUDA writes it: "tesla", "geforcertx"; empty: unknown
  std::optional<bool> persistence;
  std::optional<bool> mig, mig_pending;                // now, and after the next reset
  std::optional<unsigned> mig_instances;               // while MIG is on
  std::optional<uint64_t> uncorrected_errors;          // of memory, since the driver was loaded
  bool repair_pending = false, repair_failed = false;  // of memory: pages to retire, rows to remap
  std::vector<NvmlProcess> processes;
};

// What stands between one GPU and others, as NVML tells it; absent or 0: it does not tell, or there is none.
struct NvmlLinks {
  unsigned up = 0;  // NVLinks
  // Of a GPU behind NVSwitches: whether the fabric manager has made it part of the fabric.
  std::optional<bool> in_fabric;
  std::string out_of_order;  // why the GPU itself does not answer, or what it needs first, in words
};

// One NVML session: Load() initialises it, the destructor ends it. Use from one thread.
class NvmlApi {
 public:
  NvmlApi() = default;
  ~NvmlApi();
  NvmlApi(const NvmlApi&) = delete;
  NvmlApi& operator=(const NvmlApi&) = delete;

  // Loads "libnvidia-ml.so.1" and calls nvmlInit_v2. False: error() has the loader's or NVML's words, or
  // says that the file is truncated, and status() NVML's number (-1 when the library did not load). A library
  // that is not the host's is believed in nothing: then status() is -1, and foreign() says why.
  bool Load();
  // Why the library that the loader takes is not the host's, as a finding's detail; empty: nothing shows
  // that.
  const std::string& foreign() const { return foreign_; }
  // The driver's version by the words of one that is not believed, or by its file's name; empty: it has none.
  const std::string& claimed() const { return claimed_; }
  // Whether its file is a mount: what a container runtime does with the host's, and no image can.
  bool mounted() const { return mounted_; }
  bool library_loaded() const { return library_.loaded(); }
  const std::string& error() const { return error_; }
  int status() const { return status_; }
  // The file that was loaded, as the loader recorded it (links not followed); empty if none was.
  std::string path() const { return library_.Path(); }

  // All of these return empty values where NVML refuses (MIG, a missing function): unknown, not zero.
  std::string DriverVersion() const;
  std::vector<NvmlDevice> Devices() const;
  NvmlHealth Health(const NvmlDevice& device) const;
  NvmlLinks Links(const NvmlDevice& device) const;

 private:
  using Device = struct nvmlDevice_st*;
  struct ProcessInfo {  // nvmlProcessInfo_t
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
  };
  struct Memory {
    unsigned long long total, free, used;
  };
  struct FabricInfo {  // nvmlGpuFabricInfo_t
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned state;
  };
  struct FieldValue {  // nvmlFieldValue_t
    unsigned field, scope;
    long long timestamp, latency;
    unsigned type;
    int status;
    unsigned long long value;
  };
  void BindHealth();
  void BindLinks();
  void ReadMig(Device device, NvmlHealth* health) const;
  std::vector<NvmlProcess> Processes(Device device) const;

  LateLibrary library_;
  LateFunction<int()> init_, shutdown_;
  LateFunction<const char*(int)> error_string_;
  LateFunction<int(char*, unsigned)> driver_version_;
  LateFunction<int(unsigned*)> device_count_;
  LateFunction<int(unsigned, Device*)> device_by_index_;
  LateFunction<int(Device, char*, unsigned)> device_name_, device_uuid_;
  LateFunction<int(Device, Memory*)> device_memory_;
  LateFunction<int(Device, unsigned long long*)> slowdown_reasons_;
  LateFunction<int(Device, int*)> persistence_, retired_pending_;
  LateFunction<int(Device, unsigned*)> brand_, mig_most_;
  LateFunction<int(Device, unsigned*, unsigned*)> mig_mode_;
  LateFunction<int(Device, unsigned, Device*)> mig_by_index_;
  LateFunction<int(Device, int, int, unsigned long long*)> ecc_errors_;
  LateFunction<int(Device, unsigned*, unsigned*, unsigned*, unsigned*)> remapped_rows_;
  LateFunction<int(Device, unsigned*, ProcessInfo*)> processes_;
  LateFunction<int(Device, unsigned, int*)> nvlink_state_;
  LateFunction<int(Device, FabricInfo*)> fabric_info_;
  LateFunction<int(Device, int, FieldValue*)> field_values_;
  // What of the library is known now speaks against it: then foreign_ says so, and nothing is asked of it.
  bool Refuse(NvmlClaim* claim);

  std::string error_, foreign_, claimed_;
  int status_ = -1;
  bool mounted_ = false;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NVML_API_H_
