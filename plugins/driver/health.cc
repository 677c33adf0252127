// NVML's answers and the kernel's log, as warnings and notes.
#include "driver/health.h"

#include <algorithm>
#include <cstdlib>

#include "common/driver_files.h"
#include "driver/findings.h"

namespace cudnn_ci {
namespace {

void ReportErrors(Context& ctx, const std::string& name, const NvmlHealth& health) {
  if (health.uncorrected_errors.value_or(0) > 0)
    ctx.Finding(kUncorrectedMemoryErrors, name + ": " + std::to_string(*health.uncorrected_errors) +
                                              " uncorrected memory errors since the driver was loaded");
  if (health.repair_pending || health.repair_failed)
    ctx.Finding(kMemoryRepairPending,
                name + (health.repair_failed ? ": a row of memory could not be remapped"
                                             : ": memory will be repaired at the next reset"));
}

void ReportSettings(Context& ctx, const Gpu& gpu, const std::string& name, const NvmlHealth& health) {
  if (!health.persistence.value_or(true)) ctx.Finding(kPersistenceOff, name);
  if (gpu.compute_mode == "exclusive_process") ctx.Finding(kExclusiveComputeMode, name);
  if (health.mig && health.mig_pending && *health.mig != *health.mig_pending)
    ctx.Finding(kMigModePending, name + ": MIG is " + (*health.mig ? "on" : "off") + " and will be " +
                                     (*health.mig_pending ? "on" : "off") + " after the next reset");
}

}  // namespace

void ReportHealth(Context& ctx, const NvmlApi& nvml, const std::vector<Gpu>& gpus) {
  const std::vector<NvmlDevice> devices = nvml.Devices();
  const std::vector<Xid> xids = LoggedHardwareXids();
  for (const Gpu& gpu : gpus) {
    const std::string name = gpu.name + " (" + gpu.uuid + ")";
    NvmlHealth health;
    for (const NvmlDevice& device : devices)
      if (device.uuid == gpu.uuid) health = nvml.Health(device);
    ReportErrors(ctx, name, health);
    ReportSettings(ctx, gpu, name, health);
    if (const std::string numbers = XidsOf(gpu.pci_bus_id, xids); !numbers.empty())
      ctx.Finding(kXidLogged, name + ": Xid " + numbers);
  }
}

MemoryUse MemoryOf(const NvmlApi& nvml, const std::string& uuid) {
  MemoryUse use;
  for (const NvmlDevice& device : nvml.Devices()) {
    if (device.uuid != uuid || device.memory_free.empty()) continue;
    use.known = true;
    use.free = std::strtoull(device.memory_free.c_str(), nullptr, 10);
    for (const NvmlProcess& process : nvml.Health(device).processes)
      use.holders += (use.holders.empty() ? "process " : ", process ") + std::to_string(process.pid) +
                     (process.bytes ? ": " + std::to_string(*process.bytes >> 20) + " MiB" : "");
  }
  return use;
}

}  // namespace cudnn_ci
