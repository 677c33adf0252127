// toolkit.gemm: is a matrix product through the image's cuBLASLt right? cuDNN's engines and every framework
// compute by it. The canary passed before, so the GPU and the driver are not at fault.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/path.h"
#include "common/cublaslt_api.h"
#include "common/device_buffers.h"
#include "common/driver_api.h"
#include "common/judge.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
#include "common/promised_library.h"
#include "compute/case_memory.h"
#include "toolkit/contract.h"
#include "toolkit/findings.h"
#include "toolkit/product.h"

namespace cudnn_ci {
namespace {

// With less free than this a failed call is put down to memory: kernels are loaded and a handle has buffers.
constexpr size_t kLittleMemory = size_t{500} << 20;

// What the library's product has of wrong, in words; empty: nothing.
std::string WhatIsWrong(const DriverApi& driver, const CublasLtApi& cublas, const Product& product) {
  const CaseMemory places(product.operands());
  const std::vector<Operand>& inputs = product.operands().inputs;
  DeviceBuffers memory(driver);
  driver.Require(memory.Reserve(places.Buffers(0)), "cuMemAlloc");
  std::vector<std::vector<unsigned char>> uploaded;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    uploaded.emplace_back(inputs[i].Bytes());
    product.Encode(i, uploaded[i].data());
    memory.Upload(places.InputPlace(i), uploaded[i].data());
  }
  cublas.Multiply(product.On(places.Pack(memory, false, 0)));
  driver.Require(driver.CtxSynchronize(), "cuCtxSynchronize");
  std::vector<unsigned char> read(places.ReadbackBytes());
  bool changed = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    memory.Download(places.InputPlace(i), read.data());
    changed = changed || !std::equal(uploaded[i].begin(), uploaded[i].end(), read.begin());
  }
  const bool outside = !memory.TouchedGuards().empty();
  memory.Download(places.OutputPlace(0), read.data());
  const std::string wrong = product.WrongElements(read.data());
  memory.Trim(0);
  if (changed) return "it changed its inputs";
  return outside ? "it wrote outside its output" : wrong;
}

void SkipForMemory(Context& ctx, const DriverApi& driver, bool said, const std::string& words) {
  size_t free_bytes = 0, total_bytes = 0;
  const bool known = driver.MemGetInfo(&free_bytes, &total_bytes) == CUDA_SUCCESS;
  if (!said && !(known && free_bytes < kLittleMemory)) return;
  ctx.SkipMemory(CCI_MEMORY_DEVICE, "device memory for a small matrix product",
                 (known ? std::to_string(free_bytes >> 20) + " MiB are free; " : "") + words);
}

void Multiply(Context& ctx, const DriverApi& driver, CublasLtApi* cublas, const std::string& name) {
  ctx.Step("handle");
  const auto start = std::chrono::steady_clock::now();
  cublas->Create();
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  ctx.Measure("cublaslt_create", elapsed.count(), "ms");
  for (const GemmType type : {GemmType::kFloat32, GemmType::kFloat16}) {
    const char* of = type == GemmType::kFloat32 ? "float32" : "float16";
    ctx.Step(of);
    const Product product(type, ctx.Seed());
    const std::string problem = WhatIsWrong(driver, *cublas, product);
    Judge(ctx, problem.empty(), std::string("every element of the product is right, ") + of,
          kCublasGemmFailed, std::string(of) + ": " + problem + "; " + name);
  }
  cublas->Destroy();
}

struct GemmCheck {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("a matrix product of the image's cuBLASLt runs on the GPU, and its result is right")
        .Layer(CCI_LAYER_TOOLKIT)
        .Devices(CCI_DEVICES_ONE)
        .Shareable()
        .Concurrent()  // a context for it alone would cost more than all that it does
        .PerSubject()
        .Requires("toolkit.runtime")
        .Requires("driver.canary")
        .TimeoutSeconds(60);
  }

  static void Run(Context& ctx, const Params&) {
    const ToolkitContract contract = ReadToolkitContract(ctx);
    if (contract.absent) ctx.Skip(CCI_SKIP_ABSENT, "a toolkit", "the matrix promises an image without one");
    CublasLtApi cublas;
    const bool loaded =
        cublas.Load(PromisedOrServed(contract.promise, ctx.Fact(CCI_FACT_DRIVER_CUDA)), ctx.SubjectFolders());
    // An image need not have one; cudnn.version says where cuDNN misses it.
    if (cublas.load().missing || !contract.promise.OfMajor(cublas.load().major))
      ctx.Skip(CCI_SKIP_ABSENT, "one of " + CublasLtApi::Names() + ", of the promised major version",
               loaded ? cublas.path() : cublas.load().error);
    if (!Judge(ctx, loaded, "cuBLASLt loads", kCublasUnusable,
               [&] { return cublas.load().error + "; " + LibraryPathWords(ctx.SubjectFolders()); }))
      return;
    DriverApi driver;
    CCI_ASSERT_TRUE(driver.Load()) << driver.error();
    PrimaryContext context(driver);
    const CUresult created = context.Create();
    CCI_ASSERT_EQ(static_cast<int>(created), 0) << context.failed_call() << ": " << driver.Describe(created);
    std::string name = RealPath(cublas.path());
    try {
      name = "cuBLASLt " + cublas.Version() + " " + name;
      ctx.Log(name);
      Multiply(ctx, driver, &cublas, name);
    } catch (const MissingSymbol& e) {
      ctx.Finding(kCublasUnusable, std::string(e.what()) + "; " + name);
    } catch (const CublasError& e) {
      SkipForMemory(ctx, driver, e.IsOutOfMemory(), e.what());
      ctx.Finding(kCublasGemmFailed, std::string(e.what()) + "; " + name);
    } catch (const DriverError& e) {
      SkipForMemory(ctx, driver, e.result() == CUDA_ERROR_OUT_OF_MEMORY, e.what());
      ctx.Finding(kCublasGemmFailed, std::string(e.what()) + "; " + name);
    }
  }
};

CCI_REGISTER(GemmCheck, "gemm")

}  // namespace
}  // namespace cudnn_ci
