// The driver plugin: its name, and the facts about the host. Facts judge nothing and create no
// context. Variables come from an allow-list: reports are public and CI variables hold secrets.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <cstdio>

#include "base/path.h"
#include "common/cudart_api.h"
#include "common/driver_api.h"
#include "common/driver_files.h"
#include "common/nvml_api.h"
#include "driver/gpus.h"
#include "driver/init.h"
#include "driver/versions.h"

namespace cudnn_ci {
namespace {

constexpr const char* kReportedVariables[] = {
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_REQUIRE_CUDA",  "CUDA_VERSION",           "NV_CUDNN_VERSION",
    "LD_LIBRARY_PATH"};

void Report(FactSink& facts, const std::string& key, const std::string& value) {
  if (!value.empty()) facts.Report(key, value);
}

void ReportGpus(FactSink& facts, const DriverApi& api, const NvmlApi& nvml) {
  double waited = 0;
  const CUresult result = InitWhenFabricIsReady(
      api, kFabricWaitS,
      [] { fprintf(stderr, "the NVLink fabric is not ready (802), waiting for up to 30 s\n"); }, &waited);
  if (waited > 0) facts.Report(kFabricWaitFact, std::to_string(static_cast<int>(waited)));
  if (result != CUDA_SUCCESS) {
    facts.Report(CCI_FACT_GPU_COUNT, "0");
    facts.Report(CCI_FACT_GPU_ERROR, "cuInit: " + api.Describe(result));
    return;
  }
  const std::vector<Gpu> gpus = VisibleGpus(api);
  const std::vector<NvmlDevice> known = nvml.Devices();
  facts.Report(CCI_FACT_GPU_COUNT, std::to_string(gpus.size()));
  for (size_t i = 0; i < gpus.size(); ++i) {
    const std::string prefix = CCI_FACT_GPU + std::to_string(i);
    facts.Report(prefix + CCI_FACT_GPU_UUID, gpus[i].uuid);
    facts.Report(prefix + CCI_FACT_GPU_NAME, gpus[i].name);
    facts.Report(prefix + CCI_FACT_GPU_COMPUTE_CAPABILITY, gpus[i].compute_capability);
    facts.Report(prefix + CCI_FACT_GPU_MEMORY_BYTES, std::to_string(gpus[i].memory_bytes));
    facts.Report(prefix + CCI_FACT_GPU_PCI_BUS_ID, gpus[i].pci_bus_id);
    Report(facts, prefix + CCI_FACT_GPU_COMPUTE_MODE, gpus[i].compute_mode);
    for (const NvmlDevice& device : known)
      if (device.uuid == gpus[i].uuid) {
        Report(facts, prefix + CCI_FACT_GPU_MEMORY_FREE_BYTES, device.memory_free);
        Report(facts, prefix + CCI_FACT_GPU_SLOWED_BY, device.slowed_by);
      }
  }
}

void Facts(FactSink& facts) {
  for (const char* name : kReportedVariables)
    if (const char* value = getenv(name)) facts.Report(std::string(CCI_FACT_ENVIRONMENT) + name, value);
  Report(facts, CCI_FACT_DRIVER_MODULE, LoadedModuleVersion());
  DriverApi api;
  const bool loaded = api.Load();
  const std::string library = loaded ? RealPath(api.path()) : "";
  NvmlApi nvml;
  nvml.Load();
  Report(facts, CCI_FACT_DRIVER_NVML, RealPath(nvml.path()));
  const DriverVersion driver = InstalledDriver(nvml, library);
  Report(facts, CCI_FACT_DRIVER_VERSION, driver.lowest);
  Report(facts, CCI_FACT_DRIVER_SOURCE, driver.source);
  if (!loaded) {
    facts.Report(CCI_FACT_GPU_COUNT, "0");
    facts.Report(CCI_FACT_GPU_ERROR, api.error());
    return;
  }
  facts.Report(CCI_FACT_DRIVER_LIBRARY, library);
  // A stub or what else bears the name may lack any function: that is for driver.load to say.
  try {
    int cuda = 0;
    if (api.DriverGetVersion(&cuda) == CUDA_SUCCESS && cuda > 0)
      facts.Report(CCI_FACT_DRIVER_CUDA, CudaVersionText(cuda));
    ReportGpus(facts, api, nvml);
  } catch (const std::exception& e) {
    facts.Report(CCI_FACT_GPU_ERROR, e.what());
  }
}

CCI_FACTS(Facts, false)

}  // namespace
}  // namespace cudnn_ci

CCI_PLUGIN("driver", "0.1.0", "the driver, its version and the GPUs it shows")
