// cudnn.init and cudnn.init_all: does cudnnCreate work on the GPU, again and again, for several handles at
// once and from several threads? The driver's canary passed before, so what fails here is cuDNN, or the
// device's memory, which cuDNN reports as a failed initialisation like all else.
#include <cudnn_ci/check.hpp>

#include <stdexcept>

#include "common/cudnn_api.h"
#include "common/cudnn_loaded.h"
#include "common/driver_api.h"
#include "common/judge.h"
#include "cudnn/contract.h"
#include "cudnn/findings.h"
#include "cudnn/handles.h"
#include "cudnn/install.h"

namespace cudnn_ci {
namespace {

struct Params {
  std::int64_t handles = 0, threads = 0;
};

// False: the finding was reported.
bool JudgeRound(Context& ctx, bool good, const Handles& handles, const CudnnApi& cudnn,
                const std::string& what, const std::string& path) {
  return Judge(ctx, good, what, handles.out_of_memory() ? kCudnnInitOutOfMemory : kCudnnInitFailed,
               [&] { return handles.failure() + "; cuDNN " + cudnn.VersionText() + " " + path; });
}

// The step's name is what was tried when something crashes or hangs.
void UseHandles(Context& ctx, const Params& p, const CudnnApi& cudnn, const DriverApi& driver,
                const std::string& path) {
  ctx.Step("context");
  Handles handles(cudnn, driver);
  const int count = static_cast<int>(p.handles), threads = static_cast<int>(p.threads);
  ctx.Step("first handle");
  if (!JudgeRound(ctx, handles.First(), handles, cudnn, "a handle is created and destroyed", path)) return;
  ctx.Measure("cudnn_create", handles.first_ms(), "ms");
  ctx.Step(std::to_string(count) + " handles one after the other");
  if (!JudgeRound(ctx, handles.InTurn(count), handles, cudnn,
                  "more handles are created and destroyed after it", path))
    return;
  ctx.Measure("cudnn_create_again", handles.median_ms(), "ms", CCI_GOAL_LOWER);
  if (handles.leaked_bytes() > 0)
    ctx.Finding(kCudnnHandleLeak, std::to_string(handles.leaked_bytes()) +
                                      " bytes of device memory per handle, over " +
                                      std::to_string(2 * count) + " handles one after the other; " +
                                      MemoryText(driver) + "; cuDNN " + cudnn.VersionText() + " " + path);
  ctx.Step("two handles at once");
  if (!JudgeRound(ctx, handles.AtOnce(), handles, cudnn, "two handles at once are created and destroyed",
                  path))
    return;
  ctx.Step("handles of " + std::to_string(threads) + " threads");
  int started = 0;
  const bool good = handles.FromThreads(threads, &started);
  if (started < threads)
    ctx.Log("only " + std::to_string(started) + " threads could be started", CCI_LOG_WARNING);
  JudgeRound(ctx, good, handles, cudnn, "handles of several threads are created and destroyed", path);
}

void RunInit(Context& ctx, const Params& p) {
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
  try {
    UseHandles(ctx, p, cudnn, driver, install.main.path);
    JudgeLoadedCudnn(ctx, kCudnnMixedDirectories);
  } catch (const std::runtime_error& e) {
    // What the canary could do on this very device a moment ago.
    CCI_EXPECT_TRUE(false) << e.what();
  }
}

void DescribeInit(Schema<Params>& s) {
  s.Layer(CCI_LAYER_INIT)
      .PerSubject()
      .Requires("cudnn.load")
      .Requires("cudnn.version")
      .Requires("driver.canary")
      .TimeoutSeconds(60);
  // A handle costs a few milliseconds once there was one, and the check is part of every diagnosis.
  s.Param("handles", &Params::handles)
      .Range(1, 10000)
      .Default(3)
      .Summary("handles created one after the other on each device; three or more also show a leak");
  s.Param("threads", &Params::threads)
      .Range(1, 64)
      .Default(2)
      .Summary("threads that create one handle each at the same time");
}

struct Init {
  using Params = cudnn_ci::Params;
  static void Describe(Schema<Params>& s) {
    s.Summary("cuDNN initialises on the GPU, again after it was shut down, and in several threads at once")
        .Devices(CCI_DEVICES_ONE)
        .Pooled();
    DescribeInit(s);
  }
  static void Run(Context& ctx, const Params& p) { RunInit(ctx, p); }
};

struct InitAll {
  using Params = cudnn_ci::Params;
  static void Describe(Schema<Params>& s) {
    s.Summary("one process uses cuDNN on all GPUs of the run, with handles on all of them at the same time")
        .Devices(CCI_DEVICES_ALL);
    DescribeInit(s);
  }
  static void Run(Context& ctx, const Params& p) { RunInit(ctx, p); }
};

CCI_REGISTER(Init, "init")
CCI_REGISTER(InitAll, "init_all")

}  // namespace
}  // namespace cudnn_ci
