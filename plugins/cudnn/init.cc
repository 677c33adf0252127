// cudnn.init: does cudnnCreate work on the GPU? The driver's canary passed before, so what fails here
// is cuDNN, or the device's memory, which cuDNN reports as a failed initialisation like all else.
#include <cudnn_ci/check.hpp>

#include <chrono>

#include "common/cudnn_api.h"
#include "common/driver_api.h"
#include "common/judge.h"
#include "cudnn/findings.h"
#include "cudnn/install.h"

namespace cudnn_ci {
namespace {

// A handle with its kernels and workspace takes a few hundred megabytes at most; with less free than
// this, memory is the likelier cause.
constexpr size_t kLittleMemory = size_t{500} << 20;

std::string MegaBytes(size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// Creates and destroys one handle. False: the finding was reported.
bool CreateAndDestroy(Context& ctx, const CudnnApi& cudnn, const DriverApi& driver, const std::string& path) {
  size_t free_bytes = 0, total_bytes = 0;
  const CUresult asked = driver.MemGetInfo(&free_bytes, &total_bytes);
  cudnnHandle_t handle = nullptr;
  const auto start = std::chrono::steady_clock::now();
  const cudnnStatus_t status = cudnn.Create(&handle);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  if (status != CUDNN_STATUS_SUCCESS) {
    const bool little = asked == CUDA_SUCCESS && free_bytes < kLittleMemory;
    const std::string memory = asked == CUDA_SUCCESS
                                   ? MegaBytes(free_bytes) + " free of " + MegaBytes(total_bytes)
                                   : "free memory unknown: " + driver.Describe(asked);
    ctx.Finding(little ? kCudnnInitOutOfMemory : kCudnnInitFailed,
                "cudnnCreate: " + cudnn.Describe(status) + "; device memory: " + memory + "; cuDNN " +
                    cudnn.VersionText() + " " + path);
    return false;
  }
  ctx.Measure("cudnn_create", elapsed.count(), "ms", CCI_GOAL_LOWER);
  const cudnnStatus_t destroyed = cudnn.Destroy(handle);
  return Judge(ctx, destroyed == CUDNN_STATUS_SUCCESS, "a handle is created and destroyed", kCudnnInitFailed,
               [&] { return "cudnnDestroy: " + cudnn.Describe(destroyed) + "; " + path; });
}

struct Init {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("cuDNN initialises on the GPU, and does so again after it was shut down")
        .Layer(CCI_LAYER_INIT)
        .Devices(CCI_DEVICES_ONE)
        .Pooled()
        .PerSubject()
        .Requires("cudnn.load")
        .Requires("cudnn.version")
        .Requires("driver.canary")
        .TimeoutSeconds(60);
  }

  static void Run(Context& ctx, const Params&) {
    const CudnnContract contract = ReadCudnnContract(ctx);
    if (contract.absent) ctx.Skip(CCI_SKIP_ABSENT, "cuDNN", "the matrix promises an image without one");
    CudnnInstall install = InspectCudnn(contract.majors);
    CCI_ASSERT_TRUE(LoadCudnn(&install)) << install.main.error;
    for (const CudnnPart* part : install.Awaiting())
      ctx.Finding(kCudnnDriverLibraryMissing, part->path + " needs " + part->awaits);
    if (!install.Awaiting().empty()) return;
    CudnnApi cudnn;
    CCI_ASSERT_TRUE(cudnn.LoadFile(install.main.path)) << cudnn.error();
    DriverApi driver;
    CCI_ASSERT_TRUE(driver.Load()) << driver.error();
    PrimaryContext context(driver);
    const CUresult created = context.Create();
    CCI_ASSERT_EQ(static_cast<int>(created), 0) << context.failed_call() << ": " << driver.Describe(created);
    // Twice: frameworks create handles per thread and stream, and a second one finds a used context.
    for (const char* step : {"first handle", "second handle"}) {
      ctx.Step(step);
      if (!CreateAndDestroy(ctx, cudnn, driver, install.main.path)) return;
    }
  }
};

CCI_REGISTER(Init, "init")

}  // namespace
}  // namespace cudnn_ci
