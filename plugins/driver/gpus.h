// The GPUs a process sees, in PCI order. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_DRIVER_GPUS_H_
#define CUDNN_CI_PLUGINS_DRIVER_GPUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/driver_api.h"

namespace cudnn_ci {

struct Gpu {
  std::string uuid;  // as nvidia-smi writes it: "GPU-1b2c3d4e-...", "MIG-..." for an instance
  std::string name, compute_capability, pci_bus_id;
  uint64_t memory_bytes = 0;
  std::string compute_mode;  // "default", "exclusive_process", "prohibited"; empty: unknown
};

// "GPU-00112233-4455-6677-8899-aabbccddeeff".
std::string FormatUuid(const CUuuid& uuid, bool mig);

// Every device after cuInit succeeded. Creates no context. Sorted by PCI bus id whatever
// CUDA_DEVICE_ORDER says, since that variable also decides what CUDA_VISIBLE_DEVICES means and must
// stay the user's. Throws std::runtime_error with the driver's words.
std::vector<Gpu> VisibleGpus(const DriverApi& api);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_DRIVER_GPUS_H_
