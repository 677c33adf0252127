// Enumeration through the driver API.
#include "driver/gpus.h"

#include <algorithm>

namespace cudnn_ci {
namespace {

std::string ComputeModeName(int mode) {
  if (mode == CU_COMPUTEMODE_DEFAULT) return "default";
  if (mode == CU_COMPUTEMODE_PROHIBITED) return "prohibited";
  return "exclusive_process";
}

Gpu Inspect(const DriverApi& api, int ordinal) {
  Gpu gpu;
  CUdevice device = 0;
  api.Require(api.DeviceGet(&device, ordinal), "cuDeviceGet");
  char text[256] = {};
  api.Require(api.DeviceGetName(text, sizeof text - 1, device), "cuDeviceGetName");
  gpu.name = text;
  char bus[32] = {};
  api.Require(api.DeviceGetPciBusId(bus, sizeof bus - 1, device), "cuDeviceGetPCIBusId");
  gpu.pci_bus_id = bus;
  int major = 0, minor = 0;
  api.Require(api.DeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
              "cuDeviceGetAttribute");
  api.Require(api.DeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
              "cuDeviceGetAttribute");
  gpu.compute_capability = std::to_string(major) + "." + std::to_string(minor);
  size_t bytes = 0;
  api.Require(api.DeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  gpu.memory_bytes = bytes;
  int mode = 0;
  if (api.DeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device) == CUDA_SUCCESS)
    gpu.compute_mode = ComputeModeName(mode);
  CUuuid uuid{};
  api.Require(api.DeviceGetUuid(&uuid, device), "cuDeviceGetUuid");
  // A slice of a GPU is named after its profile ("NVIDIA H200 MIG 1g.18gb") and has a UUID of its own.
  gpu.uuid = FormatUuid(uuid, gpu.name.find(" MIG ") != std::string::npos);
  return gpu;
}

}  // namespace

std::string FormatUuid(const CUuuid& uuid, bool mig) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text = mig ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

std::vector<Gpu> VisibleGpus(const DriverApi& api) {
  int count = 0;
  api.Require(api.DeviceGetCount(&count), "cuDeviceGetCount");
  std::vector<Gpu> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(Inspect(api, i));
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](const Gpu& a, const Gpu& b) { return a.pci_bus_id < b.pci_bus_id; });
  return gpus;
}

}  // namespace cudnn_ci
