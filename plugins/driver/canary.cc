// driver.canary: does the GPU run a kernel and return its numbers? Needs the driver alone: the kernel
// is PTX in this file, so neither a toolkit nor cuDNN can be at fault when it fails.
#include <cudnn_ci/check.hpp>

#include <chrono>
#include <cstdint>

#include "common/driver_api.h"
#include "common/judge.h"
#include "common/kernel.h"
#include "driver/findings.h"
#include "driver/gpus.h"
#include "driver/health.h"

namespace cudnn_ci {
namespace {

// out[i] = i * 2654435761 ^ seed. PTX 6.0 came with CUDA 9.0, so any driver from 384 on takes it.
// sm_52 is the lowest architecture any GPU of a still supported driver has; PTX is compiled on the fly
// for every later one, also by drivers and assemblers that dropped sm_52 as a target of their own.
constexpr char kPtx[] = R"(
.version 6.0
.target sm_52
.address_size 64
.visible .entry cudnn_ci_canary(.param .u64 out, .param .u32 count, .param .u32 seed)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [out];
  ld.param.u32 %r0, [count];
  ld.param.u32 %r1, [seed];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r0;
  @%p bra DONE;
  mul.lo.u32 %r6, %r5, 2654435761;
  xor.b32 %r6, %r6, %r1;
  cvta.to.global.u64 %d1, %d0;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r6;
DONE:
  ret;
}
)";

constexpr uint32_t kMultiplier = 2654435761u;
// Enough blocks for every multiprocessor, and not a multiple of the block, so that the bound is used.
constexpr uint32_t kCount = (1u << 20) + 77;
constexpr unsigned kBlock = 256;

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// "; compute mode of GPU-...: exclusive_process", as far as the driver tells.
std::string ComputeModes(const DriverApi& api) {
  std::string all;
  try {
    for (const Gpu& gpu : VisibleGpus(api)) all += "; compute mode of " + gpu.uuid + ": " + gpu.compute_mode;
  } catch (const std::runtime_error& e) {
    all = std::string("; ") + e.what();
  }
  return all;
}

struct Canary {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("a trivial kernel runs on the GPU, and its result is right")
        .Layer(CCI_LAYER_DRIVER)
        .Devices(CCI_DEVICES_ONE)
        .Pooled()
        .Requires("driver.devices")
        .Requires("driver.version")
        .TimeoutSeconds(60);
  }

  static void Run(Context& ctx, const Params&) {
    DriverApi api;
    CCI_ASSERT_TRUE(api.Load()) << api.error();
    ctx.Step("cuInit");
    auto start = std::chrono::steady_clock::now();
    CUresult result = api.Init(0);
    // Without a goal: how long a start takes depends on what else uses the driver, and is nobody's
    // regression.
    ctx.Measure("cuinit", MillisecondsSince(start), "ms");
    if (result != CUDA_SUCCESS) Fail(ctx, api, result, "cuInit: " + api.Describe(result));
    ctx.Step("context");
    start = std::chrono::steady_clock::now();
    PrimaryContext context(api);
    result = context.Create();
    ctx.Measure("context", MillisecondsSince(start), "ms");
    if (result != CUDA_SUCCESS)
      Fail(ctx, api, result, std::string(context.failed_call()) + ": " + api.Describe(result));

    const auto seed = static_cast<uint32_t>(ctx.Seed());
    std::string wrong;
    try {
      ctx.Step("load kernel");
      CUmodule module = nullptr;
      api.Require(api.ModuleLoadData(&module, kPtx), "cuModuleLoadData");
      ctx.Step("launch");
      const auto words = RunFillKernel(api, module, "cudnn_ci_canary", kCount, kBlock, seed);
      api.Require(api.ModuleUnload(module), "cuModuleUnload");
      wrong = DescribeWrongWords(words, [seed](uint32_t i) { return i * kMultiplier ^ seed; });
    } catch (const DriverError& e) {
      Fail(ctx, api, e.result(), e.what());
    } catch (const std::runtime_error& e) {
      Fail(ctx, api, CUDA_ERROR_UNKNOWN, e.what());
    }
    Judge(ctx, wrong.empty(), "every element is right", kCanaryFailed, wrong);
  }

  // A GPU whose memory is held by others is not broken, nor is one that somebody has to himself.
  [[noreturn]] static void Fail(Context& ctx, const DriverApi& api, CUresult result,
                                const std::string& what) {
    std::string detail = "device " + ctx.DeviceUuid() + ": " + what;
    const char* slug = kCanaryFailed;
    NvmlApi nvml;
    nvml.Load();
    const MemoryUse memory = MemoryOf(nvml, ctx.DeviceUuid());
    if (result == CUDA_ERROR_OUT_OF_MEMORY && (!memory.known || memory.free < kContextBytes)) {
      slug = kDeviceMemoryHeld;
      detail += memory.known ? "; " + std::to_string(memory.free >> 20) + " MiB of device memory are free"
                             : "; the free device memory is unknown (" + nvml.error() + ")";
    }
    if (static_cast<int>(result) == 46) {
      slug = kDeviceBusy;
      detail += ComputeModes(api);
    }
    if (slug != kCanaryFailed && !memory.holders.empty())
      detail += "; held by " + memory.holders + " (ids of the host)";
    ctx.Finding(slug, detail);
    ctx.Stop();
  }
};

CCI_REGISTER(Canary, "canary")

}  // namespace
}  // namespace cudnn_ci
