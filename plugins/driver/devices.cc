// driver.devices: does the driver initialise in the user's own environment, and are the GPUs those
// that the fleet promises? Creates no context.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <cstdlib>

#include "base/path.h"
#include "common/driver_api.h"
#include "common/driver_files.h"
#include "common/judge.h"
#include "common/loader_path.h"
#include "common/nvml_api.h"
#include "driver/findings.h"
#include "driver/gpus.h"
#include "driver/health.h"
#include "driver/init.h"
#include "driver/variables.h"
#include "driver/versions.h"

namespace cudnn_ci {
namespace {

constexpr char kWaitedInVain[] = "; still so after 30 s";

void JudgeCount(Context& ctx, const NvmlApi& nvml, int count) {
  const std::string promised = ctx.Contract("runner.gpus"), found = std::to_string(count) + " GPU(s) visible";
  if (promised.empty()) return;
  Judge(ctx, ctx.Satisfies(std::to_string(count), promised), found + " is " + promised, kTooFewGpus,
        [&] { return found + ", " + promised + " promised" + VisibilityDetail(nvml); });
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

// Why the compat library in use is not supported here; empty: it is, or none is in use.
std::string CompatProblem(const Context& ctx, const DriverApi& api, const NvmlApi& nvml) {
  const std::string library = RealPath(api.path());
  if (!IsCompatPath(library)) return {};
  return CompatObjection(ctx, VersionOfLibraryFile(library), InstalledDriver(nvml, library).lowest);
}

// A part of the list that is silently left out, a compat library that works where it is not supported, and
// variables that are easily left behind.
void WarnOfTheEnvironment(Context& ctx, const DriverApi& api, const NvmlApi& nvml) {
  if (const std::string bad = BadVisibleDevice(nvml); !bad.empty())
    ctx.Finding(kVisibleDevicesCut, "CUDA_VISIBLE_DEVICES='" + Environment("CUDA_VISIBLE_DEVICES") +
                                        "', first bad entry: " + bad);
  if (const std::string problem = CompatProblem(ctx, api, nvml); !problem.empty())
    ctx.Finding(kDriverCompatUnsupported, RealPath(api.path()) + ": " + problem);
  if (const std::string set = DebuggingVariables(Environment); !set.empty())
    ctx.Finding(kDebuggingVariables, set);
  if (const std::string problem = ComputeCacheProblem(Environment); !problem.empty())
    ctx.Finding(kComputeCacheUnusable, problem);
}

// The facts step has waited as well; what it waited in vain for is not waited for again.
CUresult Init(Context& ctx, const DriverApi& api) {
  const std::string before = ctx.Fact(kFabricWaitFact);
  double waited = 0;
  const CUresult result = InitWhenFabricIsReady(
      api, before.empty() || ctx.Fact(CCI_FACT_GPU_ERROR).empty() ? kFabricWaitS : 0,
      [&] { ctx.Step("wait for the NVLink fabric"); }, &waited);
  const std::string total = std::to_string(static_cast<int>(waited) + std::atoi(before.c_str()));
  if (result == CUDA_SUCCESS && (waited > 0 || !before.empty()))
    ctx.Finding(kFabricWasSlow, "cuInit returned 802 for " + total + " s, then succeeded");
  return result;
}

struct Devices {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("the driver initialises, and the promised GPUs are visible")
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
    NvmlApi nvml;
    nvml.Load();
    if (const CUresult result = Init(ctx, api); result != CUDA_SUCCESS) {
      InitFailure failure = ExplainInit(api, nvml, result);
      if (failure.slug == kFabricNotReady) failure.detail += kWaitedInVain;
      const std::string problem = failure.slug == kDriverCompatMismatch ? CompatProblem(ctx, api, nvml) : "";
      if (!problem.empty()) failure.detail += "; " + problem;
      ctx.Finding(failure.slug, failure.detail);
      ctx.Stop();
    }
    ctx.Expect(true, __FILE__, __LINE__, "cuInit succeeds");
    ctx.Step("enumerate");
    const std::vector<Gpu> gpus = VisibleGpus(api);
    if (!Judge(ctx, !gpus.empty(), "a GPU is visible", kNoVisibleDevice,
               [&] { return "cuInit succeeds, but cuDeviceGetCount returns 0" + VisibilityDetail(nvml); })) {
      ctx.Stop();
    }
    JudgeCount(ctx, nvml, static_cast<int>(gpus.size()));
    JudgeCapabilities(ctx, gpus);
    WarnOfTheEnvironment(ctx, api, nvml);
    ReportHealth(ctx, nvml, gpus);
  }
};

CCI_REGISTER(Devices, "devices")

}  // namespace
}  // namespace cudnn_ci
