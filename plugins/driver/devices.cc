// driver.devices: does the driver initialise in the user's own environment, and are the GPUs those
// that the fleet promises? Creates no context.
#include <cudnn_ci/check.hpp>

#include "common/driver_api.h"
#include "common/driver_files.h"
#include "common/judge.h"
#include "common/loader_path.h"
#include "common/nvml_api.h"
#include "driver/findings.h"
#include "driver/gpus.h"

namespace cudnn_ci {
namespace {

const char* SlugOf(CUresult result) {
  switch (static_cast<int>(result)) {
    case 34:
      return kDriverStubLibrary;
    case 46:
      return kDeviceBusy;
    case 100:
    case 101:
      return kNoVisibleDevice;
    case 802:
      return kFabricNotReady;
    case 803:
    case 804:
      return kDriverCompatMismatch;
    case 999:
      return kDriverUnknownError;
    default:
      return kDriverInitFailed;
  }
}

// Which variable hides the GPUs, as far as can be told: NVML sees them all.
std::string VisibilityDetail() {
  NvmlApi nvml;
  nvml.Load();
  const auto devices = nvml.Devices();
  std::vector<std::string> uuids;
  for (const auto& d : devices) uuids.push_back(d.uuid);
  std::string detail;
  if (const char* value = getenv("CUDA_VISIBLE_DEVICES")) {
    detail += "; CUDA_VISIBLE_DEVICES='" + std::string(value) + "'";
    const std::string bad = devices.empty() ? "" : FirstBadVisibleDevice(value, uuids);
    if (!bad.empty()) detail += " (first bad entry: '" + bad + "')";
  }
  if (const char* value = getenv("NVIDIA_VISIBLE_DEVICES"))
    detail += "; NVIDIA_VISIBLE_DEVICES='" + std::string(value) + "'";
  detail += nvml.status() == 0 ? "; NVML sees " + std::to_string(devices.size()) + " GPU(s)"
                               : "; NVML: " + nvml.error();
  return detail + "; " + DeviceNodes();
}

std::string InitDetail(const DriverApi& api, CUresult result) {
  std::string detail = "cuInit: " + api.Describe(result);
  const std::string library = RealPath(api.path());
  switch (static_cast<int>(result)) {
    case 100:
    case 101:
      return detail + VisibilityDetail();
    case 803:
    case 804: {
      const std::string module = LoadedModuleVersion(), entry = LibraryPathEntry(api.path());
      return detail + "; " + library + " is used" + (entry.empty() ? "" : " through " + entry) + " over " +
             (module.empty() ? "a kernel module of unknown version" : "kernel module " + module);
    }
    case 34:
      return detail + "; " + library;
    default:
      return detail + "; " + library + "; " + DeviceNodes();
  }
}

void JudgeCount(Context& ctx, int count) {
  const std::string promised = ctx.Contract("runner.gpus"), found = std::to_string(count) + " GPU(s) visible";
  if (promised.empty()) return;
  Judge(ctx, ctx.Satisfies(std::to_string(count), promised), found + " is " + promised, kTooFewGpus,
        [&] { return found + ", " + promised + " promised" + VisibilityDetail(); });
}

void JudgeCapabilities(Context& ctx, const std::vector<Gpu>& gpus) {
  const std::string promised = ctx.Contract("runner.compute_capability");
  if (promised.empty()) return;
  for (const auto& gpu : gpus) {
    Judge(ctx, ctx.Satisfies(gpu.compute_capability, promised), "compute capability is " + promised,
          kComputeCapabilityOutsideContract,
          gpu.name + " (" + gpu.uuid + ") has compute capability " + gpu.compute_capability + ", " +
              promised + " promised");
  }
}

struct Devices {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("the driver initialises and shows the promised GPUs")
        .Layer(CCI_LAYER_DRIVER)
        .Devices(CCI_DEVICES_ENVIRONMENT)
        .Requires("driver.load")
        .Judges("runner.gpus")
        .Judges("runner.compute_capability")
        // Initialising eight GPUs without persistence mode takes tens of seconds.
        .TimeoutSeconds(60);
  }

  static void Run(Context& ctx, const Params&) {
    DriverApi api;
    CCI_ASSERT_TRUE(api.Load()) << api.error();
    ctx.Step("cuInit");
    const CUresult result = api.Init(0);
    if (!Judge(ctx, result == CUDA_SUCCESS, "cuInit succeeds", SlugOf(result),
               [&] { return InitDetail(api, result); }))
      ctx.Stop();
    ctx.Step("enumerate");
    const std::vector<Gpu> gpus = VisibleGpus(api);
    if (!Judge(ctx, !gpus.empty(), "a GPU is visible", kNoVisibleDevice,
               [] { return "cuInit succeeds and cuDeviceGetCount is 0" + VisibilityDetail(); })) {
      ctx.Stop();
    }
    JudgeCount(ctx, static_cast<int>(gpus.size()));
    JudgeCapabilities(ctx, gpus);
  }
};

CCI_REGISTER(Devices, "devices")

}  // namespace
}  // namespace cudnn_ci
