// The binding of NVML.
#include "common/nvml_api.h"

namespace cudnn_ci {

bool NvmlApi::Load() {
  if (!library_.Open("libnvidia-ml.so.1")) {
    error_ = library_.error();
    return false;
  }
  init_.Bind(library_, "nvmlInit_v2", "nvmlInit");
  shutdown_.Bind(library_, "nvmlShutdown");
  error_string_.Bind(library_, "nvmlErrorString");
  driver_version_.Bind(library_, "nvmlSystemGetDriverVersion");
  device_count_.Bind(library_, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
  device_by_index_.Bind(library_, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
  device_name_.Bind(library_, "nvmlDeviceGetName");
  device_uuid_.Bind(library_, "nvmlDeviceGetUUID");
  device_memory_.Bind(library_, "nvmlDeviceGetMemoryInfo");
  if (!init_) {
    error_ = "libnvidia-ml.so.1 has no symbol nvmlInit_v2";
    return false;
  }
  status_ = init_();
  if (status_ == 0) return true;
  const char* text = error_string_ ? error_string_(status_) : nullptr;
  error_ = "nvmlInit: " + std::to_string(status_) + (text ? std::string(" ") + text : "");
  return false;
}

NvmlApi::~NvmlApi() {
  if (status_ == 0 && shutdown_) shutdown_();
}

std::string NvmlApi::DriverVersion() const {
  char text[96] = {};
  if (status_ != 0 || !driver_version_ || driver_version_(text, sizeof text - 1) != 0) return {};
  return text;
}

std::vector<NvmlDevice> NvmlApi::Devices() const {
  std::vector<NvmlDevice> devices;
  unsigned count = 0;
  if (status_ != 0 || !device_count_ || !device_by_index_ || device_count_(&count) != 0) return devices;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    NvmlDevice found;
    char text[96] = {};
    if (device_by_index_(i, &device) == 0) {
      if (device_uuid_ && device_uuid_(device, text, sizeof text - 1) == 0) found.uuid = text;
      Memory memory{};
      if (device_memory_ && device_memory_(device, &memory) == 0)
        found.memory_free = std::to_string(memory.free);
      if (device_name_ && device_name_(device, text, sizeof text - 1) == 0) found.name = text;
    }
    devices.push_back(found);
  }
  return devices;
}

}  // namespace cudnn_ci
