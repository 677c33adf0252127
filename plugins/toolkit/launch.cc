// toolkit.launch: does what the image's NVRTC compiles run on this GPU and under this driver? The
// canary passed before, so the GPU and the driver are not at fault.
#include <cudnn_ci/check.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "common/driver_api.h"
#include "common/judge.h"
#include "common/kernel.h"
#include "common/nvrtc_api.h"
#include "toolkit/contract.h"
#include "toolkit/findings.h"

namespace cudnn_ci {
namespace {

constexpr char kSource[] = R"(
extern "C" __global__ void cudnn_ci_fill(unsigned* out, unsigned count, unsigned seed) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = (i * 2246822519u + seed) ^ (i >> 3);
}
)";
constexpr uint32_t kCount = 100003;
constexpr unsigned kBlock = 128;

struct Arch {
  int device = 0, ptx = 0;  // 90 for compute capability 9.0; ptx 0: NVRTC serves no such GPU
  bool exact = false;       // NVRTC can compile for the device itself
};

// PTX runs on its own architecture and every later one, so the highest that is not above the device.
Arch ChooseArch(const DriverApi& api, const NvrtcApi& nvrtc, CUdevice device) {
  int major = 0, minor = 0;
  api.Require(api.DeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
              "cuDeviceGetAttribute");
  api.Require(api.DeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
              "cuDeviceGetAttribute");
  Arch arch;
  arch.device = major * 10 + minor;
  const std::vector<int> supported = nvrtc.SupportedArchs();
  if (supported.empty()) arch.ptx = arch.device;  // an NVRTC too old to say: let it try
  for (int a : supported)
    if (a <= arch.device) arch.ptx = a;
  arch.exact = arch.ptx == arch.device;
  return arch;
}

// With a variable that no run before this one had, for the compilers are to work here. The driver settles
// whether it answers from its compute cache when it is initialised, and that may be before this check.
std::string NewSource() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return kSource + std::string("extern \"C\" __device__ unsigned cudnn_ci_fill_") + std::to_string(now) +
         ";\n";
}

NvrtcResult CompileOrFail(Context& ctx, const NvrtcApi& nvrtc, const std::string& option,
                          NvrtcApi::Output output) {
  NvrtcResult result = nvrtc.Compile(NewSource(), {"--gpu-architecture=" + option}, output);
  if (!result.ok) {
    ctx.Finding(kNvrtcKernelFailed, option + ": " + result.error + "; log: " + result.log);
    ctx.Stop();
  }
  return result;
}

// Loads PTX; where NVRTC is newer than the driver, whose compiler then refuses the PTX (222), loads
// SASS, as NVIDIA's minor-version compatibility asks programs to do.
CUmodule LoadModule(Context& ctx, const DriverApi& api, const NvrtcApi& nvrtc, const Arch& arch) {
  CUmodule module = nullptr;
  const NvrtcResult ptx =
      CompileOrFail(ctx, nvrtc, "compute_" + std::to_string(arch.ptx), NvrtcApi::Output::kPtx);
  const CUresult result = api.ModuleLoadData(&module, ptx.code.c_str());
  if (result != CUDA_ERROR_UNSUPPORTED_PTX_VERSION || !arch.exact) {
    api.Require(result, "cuModuleLoadData of PTX");
    return module;
  }
  ctx.Log("the driver is older than NVRTC " + nvrtc.Version() + " and refuses its PTX; SASS is used",
          CCI_LOG_WARNING);
  const NvrtcResult cubin =
      CompileOrFail(ctx, nvrtc, "sm_" + std::to_string(arch.device), NvrtcApi::Output::kCubin);
  api.Require(api.ModuleLoadData(&module, cubin.code.data()), "cuModuleLoadData of SASS");
  return module;
}

struct LaunchCheck {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("a kernel compiled by the image's NVRTC runs on the GPU, and its result is right")
        .Layer(CCI_LAYER_TOOLKIT)
        .Devices(CCI_DEVICES_ONE)
        .Shareable()
        .PerSubject()
        .Requires("toolkit.nvrtc")
        .Requires("driver.canary")
        .TimeoutSeconds(60);
  }

  static void Run(Context& ctx, const Params&) {
    const ToolkitContract contract = ReadToolkitContract(ctx);
    if (contract.absent) ctx.Skip(CCI_SKIP_ABSENT, "a toolkit", "the matrix promises an image without one");
    // For NVRTC; the driver is given what it cannot have in its cache.
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    NvrtcApi nvrtc;
    CCI_ASSERT_TRUE(nvrtc.Load(contract.promise, ctx.SubjectFolders())) << nvrtc.error();
    DriverApi api;
    CCI_ASSERT_TRUE(api.Load()) << api.error();
    PrimaryContext context(api);
    const CUresult created = context.Create();
    CCI_ASSERT_EQ(static_cast<int>(created), 0) << context.failed_call() << ": " << api.Describe(created);
    const auto seed = static_cast<uint32_t>(ctx.Seed());
    try {
      const Arch arch = ChooseArch(api, nvrtc, context.device());
      if (!Judge(ctx, arch.ptx > 0, "NVRTC supports this GPU", kNvrtcKernelFailed, [&] {
            return "NVRTC " + nvrtc.Version() + " compiles for compute_" +
                   std::to_string(nvrtc.SupportedArchs().front()) + " and later; the GPU is sm_" +
                   std::to_string(arch.device);
          })) {
        return;
      }
      ctx.Step("compile");
      CUmodule module = LoadModule(ctx, api, nvrtc, arch);
      ctx.Step("launch");
      const auto words = RunFillKernel(api, module, "cudnn_ci_fill", kCount, kBlock, seed);
      const std::string wrong =
          DescribeWrongWords(words, [seed](uint32_t i) { return (i * 2246822519u + seed) ^ (i >> 3); });
      Judge(ctx, wrong.empty(), "every element is right", kNvrtcKernelFailed, wrong);
    } catch (const std::runtime_error& e) {
      ctx.Finding(kNvrtcKernelFailed,
                  std::string(e.what()) + "; NVRTC " + nvrtc.Version() + " " + nvrtc.path());
    }
  }
};

CCI_REGISTER(LaunchCheck, "launch")

}  // namespace
}  // namespace cudnn_ci
