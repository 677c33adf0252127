// The binding of NVML.
#include "common/nvml_api.h"

#include "base/path.h"
#include "common/driver_files.h"
#include "common/loader_path.h"
#include "image/contents/mounts.h"

namespace cudnn_ci {
namespace {

// Of nvmlClocksEventReasons what no program asks for. An idle GPU, a power limit under load and clocks that
// somebody set are as they should be.
std::string SlowedBy(unsigned long long reasons) {
  struct Reason {
    unsigned long long bit;
    const char* words;
  };
  constexpr Reason kReasons[] = {{0x20, "heat (software thermal slowdown)"},
                                 {0x40, "heat (hardware thermal slowdown)"},
                                 {0x80, "power supply (hardware power brake)"}};
  std::string words;
  for (const auto& [bit, text] : kReasons)
    if (reasons & bit) words += (words.empty() ? "" : ", ") + std::string(text);
  // The bit of them all, which older drivers set alone.
  constexpr unsigned long long kHardware = 0x8;
  return words.empty() && (reasons & kHardware) ? "hardware slowdown" : words;
}

// Of the libcuda that the loader takes, which is not loaded for that; empty for a compat package's, whose
// version is its own.
std::string LibcudasVersion() {
  const std::string file = RealPath(ResolveLibrary(kDriverLibrary));
  return IsCompatPath(file) ? "" : VersionOfLibraryFile(file);
}

}  // namespace

bool NvmlApi::Refuse(NvmlClaim* claim) {
  claim->status = status_;
  claim->version = DriverVersion();
  foreign_ = NvmlContradiction(*claim);
  if (foreign_.empty()) return false;
  claimed_ = claim->version.empty() ? VersionOfLibraryFile(claim->file) : claim->version;
  if (status_ == 0 && shutdown_) shutdown_();
  status_ = -1;
  error_ = foreign_;
  return true;
}

bool NvmlApi::Load() {
  if (!LoadChecked(kNvmlLibrary, &library_, &error_)) return false;
  NvmlClaim claim;
  claim.file = RealPath(library_.Path());
  claim.libcuda = LibcudasVersion();
  claim.driver = FindMountedDriver();
  mounted_ = Mounts::Read().IsOfDriver(claim.file);
  if (Refuse(&claim)) return false;
  init_.Bind(library_, "nvmlInit_v2", "nvmlInit");
  shutdown_.Bind(library_, "nvmlShutdown");
  error_string_.Bind(library_, "nvmlErrorString");
  driver_version_.Bind(library_, "nvmlSystemGetDriverVersion");
  device_count_.Bind(library_, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
  device_by_index_.Bind(library_, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
  device_name_.Bind(library_, "nvmlDeviceGetName");
  device_uuid_.Bind(library_, "nvmlDeviceGetUUID");
  device_memory_.Bind(library_, "nvmlDeviceGetMemoryInfo");
  slowdown_reasons_.Bind(library_, "nvmlDeviceGetCurrentClocksThrottleReasons",
                         "nvmlDeviceGetCurrentClocksEventReasons");
  BindHealth();
  BindLinks();
  if (!init_) {
    error_ = "libnvidia-ml.so.1 has no symbol nvmlInit_v2";
    return false;
  }
  status_ = init_();
  if (Refuse(&claim)) return false;
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
    found.index = i;
    char text[96] = {};
    if (device_by_index_(i, &device) == 0) {
      if (device_uuid_ && device_uuid_(device, text, sizeof text - 1) == 0) found.uuid = text;
      Memory memory{};
      if (device_memory_ && device_memory_(device, &memory) == 0)
        found.memory_free = std::to_string(memory.free);
      unsigned long long reasons = 0;
      if (slowdown_reasons_ && slowdown_reasons_(device, &reasons) == 0) found.slowed_by = SlowedBy(reasons);
      if (device_name_ && device_name_(device, text, sizeof text - 1) == 0) found.name = text;
    }
    devices.push_back(found);
  }
  return devices;
}

void NvmlApi::BindHealth() {
  persistence_.Bind(library_, "nvmlDeviceGetPersistenceMode");
  retired_pending_.Bind(library_, "nvmlDeviceGetRetiredPagesPendingStatus");
  brand_.Bind(library_, "nvmlDeviceGetBrand");
  mig_most_.Bind(library_, "nvmlDeviceGetMaxMigDeviceCount");
  mig_mode_.Bind(library_, "nvmlDeviceGetMigMode");
  mig_by_index_.Bind(library_, "nvmlDeviceGetMigDeviceHandleByIndex");
  ecc_errors_.Bind(library_, "nvmlDeviceGetTotalEccErrors");
  remapped_rows_.Bind(library_, "nvmlDeviceGetRemappedRows");
  // The one before has the same arguments; the first one of all has shorter entries.
  processes_.Bind(library_, "nvmlDeviceGetComputeRunningProcesses_v3",
                  "nvmlDeviceGetComputeRunningProcesses_v2");
}

void NvmlApi::ReadMig(Device device, NvmlHealth* health) const {
  unsigned now = 0, pending = 0, most = 0;
  if (!mig_mode_ || mig_mode_(device, &now, &pending) != 0) return;
  health->mig = now != 0;
  health->mig_pending = pending != 0;
  if (!*health->mig || !mig_most_ || !mig_by_index_ || mig_most_(device, &most) != 0) return;
  unsigned instances = 0;
  for (unsigned i = 0; i < most; ++i) {
    Device instance = nullptr;
    if (mig_by_index_(device, i, &instance) == 0) ++instances;
  }
  health->mig_instances = instances;
}

std::vector<NvmlProcess> NvmlApi::Processes(Device device) const {
  constexpr unsigned kMost = 64;
  std::vector<NvmlProcess> processes;
  ProcessInfo infos[kMost] = {};
  unsigned count = kMost;
  if (!processes_ || processes_(device, &count, infos) != 0) return processes;
  for (unsigned i = 0; i < count && i < kMost; ++i) {
    NvmlProcess process;
    process.pid = infos[i].pid;
    if (infos[i].used != ~0ull) process.bytes = infos[i].used;  // NVML_VALUE_NOT_AVAILABLE
    processes.push_back(process);
  }
  return processes;
}

NvmlHealth NvmlApi::Health(const NvmlDevice& of) const {
  // nvmlBrandType_t, in its order, as the container runtime writes them.
  constexpr const char* kBrands[] = {
      "unknown",   "quadro",      "tesla",     "nvs",        "grid",      "geforce",
      "titan",     "nvidiavapps", "nvidiavpc", "nvidiavcs",  "nvidiavws", "nvidiacloudgaming",
      "quadrortx", "nvidiartx",   "nvidia",    "geforcertx", "titanrtx"};
  constexpr int kUncorrected = 1, kVolatile = 0;
  NvmlHealth health;
  Device device = nullptr;
  if (status_ != 0 || !device_by_index_ || device_by_index_(of.index, &device) != 0) return health;
  unsigned brand = 0;
  if (brand_ && brand_(device, &brand) == 0 && brand < sizeof kBrands / sizeof *kBrands)
    health.brand = kBrands[brand];
  int enabled = 0;
  if (persistence_ && persistence_(device, &enabled) == 0) health.persistence = enabled != 0;
  ReadMig(device, &health);
  unsigned long long errors = 0;
  if (ecc_errors_ && ecc_errors_(device, kUncorrected, kVolatile, &errors) == 0)
    health.uncorrected_errors = errors;
  if (retired_pending_ && retired_pending_(device, &enabled) == 0) health.repair_pending = enabled != 0;
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  if (remapped_rows_ && remapped_rows_(device, &corrected, &uncorrected, &pending, &failed) == 0) {
    health.repair_pending = health.repair_pending || pending != 0;
    health.repair_failed = failed != 0;
  }
  health.processes = Processes(device);
  return health;
}

void NvmlApi::BindLinks() {
  nvlink_state_.Bind(library_, "nvmlDeviceGetNvLinkState");
  fabric_info_.Bind(library_, "nvmlDeviceGetGpuFabricInfo");
  field_values_.Bind(library_, "nvmlDeviceGetFieldValues");
}

NvmlLinks NvmlApi::Links(const NvmlDevice& of) const {
  constexpr unsigned kMostLinks = 36;             // NVML_NVLINK_MAX_LINKS
  constexpr int kLost = 15, kResetRequired = 16;  // nvmlReturn_t
  constexpr unsigned kFabricNotStarted = 1, kFabricInProgress = 2, kFabricCompleted = 3;
  constexpr unsigned kRecoveryAction = 230;  // NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
  // nvmlDeviceGpuRecoveryAction_t, in its order.
  constexpr const char* kActions[] = {"",
                                      "needs a reset",
                                      "needs a reboot of the host",
                                      "needs to be drained of peer-to-peer work",
                                      "needs to be drained and reset",
                                      "needs its IMEX domain to be recovered",
                                      "needs a reset of its bus",
                                      "needs a reboot of the system"};
  NvmlLinks links;
  Device device = nullptr;
  if (status_ != 0 || !device_by_index_) return links;
  const int found = device_by_index_(of.index, &device);
  if (found == kLost) links.out_of_order = "is lost";
  if (found == kResetRequired) links.out_of_order = "needs a reset";
  if (found != 0) return links;
  for (unsigned link = 0; nvlink_state_ && link < kMostLinks; ++link) {
    int active = 0;
    if (nvlink_state_(device, link, &active) == 0 && active != 0) ++links.up;
  }
  FabricInfo fabric{};
  if (fabric_info_ && fabric_info_(device, &fabric) == 0) {
    if (fabric.state == kFabricNotStarted || fabric.state == kFabricInProgress) links.in_fabric = false;
    if (fabric.state == kFabricCompleted) links.in_fabric = fabric.status == 0;
  }
  FieldValue action{};
  action.field = kRecoveryAction;
  if (field_values_ && field_values_(device, 1, &action) == 0 && action.status == 0 &&
      action.value < sizeof kActions / sizeof *kActions)
    links.out_of_order = kActions[action.value];
  return links;
}

}  // namespace cudnn_ci
