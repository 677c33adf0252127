// cudnn.init_pressure: what does cudnnCreate say when almost all device memory is taken, and does it work
// again when there is some? cudnn.init passed before, so that neither a missing driver nor a broken install
// is behind what fails here; cuDNN answers all three with the same status in some releases.
#include <cudnn_ci/check.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/cudnn_api.h"
#include "common/driver_api.h"
#include "common/judge.h"
#include "cudnn/contract.h"
#include "cudnn/findings.h"
#include "cudnn/handles.h"
#include "cudnn/install.h"

namespace cudnn_ci {
namespace {

// The driver gives no less.
constexpr std::size_t kSmallest = std::size_t{1} << 20;
constexpr std::size_t kMostPieces = 4096;
// With more left than this beyond what was to be left, nothing was tried.
constexpr std::size_t kSlack = std::size_t{128} << 20;

std::size_t FreeBytes(const DriverApi& driver) {
  std::size_t free_bytes = 0, total = 0;
  driver.Require(driver.MemGetInfo(&free_bytes, &total), "cuMemGetInfo");
  return free_bytes;
}

// Device memory that is held and not used.
class Ballast {
 public:
  explicit Ballast(const DriverApi& driver) : driver_(driver) {}
  ~Ballast() {
    for (const CUdeviceptr piece : pieces_) driver_.MemFree(piece);
  }
  Ballast(const Ballast&) = delete;
  Ballast& operator=(const Ballast&) = delete;

  // Takes all but so much, in pieces of which each is half of the one that was refused before.
  void Take(std::size_t leave) {
    std::size_t piece = FreeBytes(driver_);
    while (piece >= kSmallest && pieces_.size() < kMostPieces) {
      const std::size_t free_bytes = FreeBytes(driver_);
      if (free_bytes < leave + kSmallest) return;
      piece = std::min(piece, free_bytes - leave);
      CUdeviceptr pointer = 0;
      const CUresult taken = driver_.MemAlloc(&pointer, piece);
      if (taken == CUDA_SUCCESS) {
        pieces_.push_back(pointer);
      } else if (taken == CUDA_ERROR_OUT_OF_MEMORY) {
        piece /= 2;
      } else {
        driver_.Require(taken, "cuMemAlloc");
      }
    }
  }
  void GiveBack() {
    std::vector<CUdeviceptr> pieces = std::move(pieces_);
    pieces_.clear();
    for (const CUdeviceptr piece : pieces) driver_.Require(driver_.MemFree(piece), "cuMemFree");
  }

 private:
  const DriverApi& driver_;
  std::vector<CUdeviceptr> pieces_;
};

// True if status or words say that it is memory that was wanting.
bool SaysMemory(const CudnnApi& cudnn, cudnnStatus_t status, std::string words) {
  std::transform(words.begin(), words.end(), words.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return IsAllocationFailure(cudnn, status) || words.find("alloc") != std::string::npos ||
         words.find("memory") != std::string::npos;
}

struct Pressure {
  struct Params {
    std::int64_t leave_mib = 0;
  };

  static void Describe(Schema<Params>& s) {
    s.Summary("cuDNN reports that device memory is short, and works again when memory is free")
        .Layer(CCI_LAYER_INIT)
        .Devices(CCI_DEVICES_ONE)
        .PerSubject()
        .Disturbs()
        .Requires("cudnn.init")
        .TimeoutSeconds(60);
    s.Param("leave_mib", &Params::leave_mib)
        .Range(0, 65536)
        .Default(0)
        .Summary("device memory left free, in MiB");
  }

  static void Run(Context& ctx, const Params& p) {
    const CudnnContract contract = ReadCudnnContract(ctx);
    if (contract.absent) ctx.Skip(CCI_SKIP_ABSENT, "cuDNN", "the matrix promises an image without one");
    CudnnApi cudnn;
    CCI_ASSERT_TRUE(cudnn.Load(contract.majors)) << cudnn.error();
    DriverApi driver;
    CCI_ASSERT_TRUE(driver.Load()) << driver.error();
    try {
      ctx.Step("context");
      PrimaryContext context(driver);
      const CUresult created = context.Create();
      if (created != CUDA_SUCCESS) driver.Require(created, context.failed_call());
      Try(ctx, cudnn, driver, context.device(), static_cast<std::size_t>(p.leave_mib) << 20);
    } catch (const std::runtime_error& e) {
      ctx.Poison(e.what());
      CCI_EXPECT_TRUE(false) << e.what();
    }
  }

  static void Try(Context& ctx, const CudnnApi& cudnn, const DriverApi& driver, CUdevice device,
                  std::size_t leave) {
    const std::string about = "; cuDNN " + cudnn.VersionText() + " " + cudnn.path();
    ctx.Step("take the memory");
    int shared_with_host = 0;
    driver.Require(driver.DeviceGetAttribute(&shared_with_host, CU_DEVICE_ATTRIBUTE_INTEGRATED, device),
                   "cuDeviceGetAttribute");
    // All of its memory is all of the host's.
    if (shared_with_host != 0)
      ctx.Skip(CCI_SKIP_UNSUPPORTED, "a GPU with its own memory", "this GPU shares the host's memory");
    Ballast ballast(driver);
    ballast.Take(leave);
    const std::size_t left = FreeBytes(driver);
    if (left > leave + kSlack)
      ctx.SkipMemory(CCI_MEMORY_DEVICE, "device memory that can be allocated",
                     MemoryText(driver) + " after all of it was requested");
    const std::string memory = MemoryText(driver);
    ctx.Measure("memory_left", static_cast<double>(left), "B", CCI_GOAL_NONE);
    ctx.Step("a handle without memory");
    cudnnHandle_t handle = nullptr;
    const cudnnStatus_t status = cudnn.Create(&handle);
    const std::string words = status == CUDNN_STATUS_SUCCESS ? "success" : cudnn.Describe(status);
    ctx.Log("with " + memory + " cudnnCreate returns: " + words);
    if (status == CUDNN_STATUS_SUCCESS) {
      cudnn.Require(cudnn.Destroy(handle), "cudnnDestroy");
    } else if (!SaysMemory(cudnn, status, words)) {
      ctx.Finding(kCudnnPressureUnclear, "with " + memory + " cudnnCreate returns " + words + about);
    }
    ctx.Step("give it back");
    ballast.GiveBack();
    ctx.Step("a handle with memory");
    const std::size_t before = FreeBytes(driver);
    handle = nullptr;
    const cudnnStatus_t again = cudnn.Create(&handle);
    if (!Judge(ctx, again == CUDNN_STATUS_SUCCESS, "with free memory a handle can be created again",
               kCudnnLostUnderPressure, [&] {
                 return "cudnnCreate: " + cudnn.Describe(again) + "; device memory: " + MemoryText(driver) +
                        "; with " + memory + " it had returned " + words + about;
               })) {
      return;
    }
    const std::size_t after = FreeBytes(driver);
    ctx.Measure("handle_bytes", static_cast<double>(before > after ? before - after : 0), "B",
                CCI_GOAL_LOWER);
    cudnn.Require(cudnn.Destroy(handle), "cudnnDestroy");
  }
};

CCI_REGISTER(Pressure, "init_pressure")

}  // namespace
}  // namespace cudnn_ci
