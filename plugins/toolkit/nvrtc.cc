// toolkit.nvrtc: is the run-time compiler there, of the promised version, and does it compile? Needs no
// GPU and no driver. NVRTC looks for a driver all the same, for its cache, and lives with finding none;
// what it does need is its builtins library.
#include <cudnn_ci/check.hpp>

#include <stdlib.h>

#include "base/path.h"
#include "common/judge.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
#include "common/nvrtc_api.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_config.h"
#include "toolkit/contract.h"
#include "toolkit/findings.h"

namespace cudnn_ci {
namespace {

constexpr char kSource[] = R"(
extern "C" __global__ void cudnn_ci_probe(unsigned* sum, const float* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, (unsigned)__float2int_rn(sqrtf(x[i])));
}
)";

// NVRTC opens its builtins itself, and a truncated one would end the process with SIGBUS.
std::string DamagedBuiltins(const NvrtcApi& nvrtc) {
  const std::string name = "libnvrtc-builtins.so." + nvrtc.Version();
  const std::string path = ResolveLibrary(name, {DirectoryOf(nvrtc.path())});
  if (path.empty()) return {};
  const ElfFile file(path);
  return file.truncated() ? file.error() : std::string();
}

struct Nvrtc {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("NVRTC loads, has the promised version and compiles a kernel")
        .Layer(CCI_LAYER_TOOLKIT)
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        .TimeoutSeconds(30);
  }

  static void Run(Context& ctx, const Params&) {
    const ToolkitContract contract = ReadToolkitContract(ctx);
    if (contract.absent) {
      JudgeAbsence(ctx, "libnvrtc.so", "no NVRTC is found", kToolkitNotPromised);
      return;
    }
    // An answer from the compute cache would hide that NVRTC cannot compile.
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    NvrtcApi nvrtc;
    const bool loaded = nvrtc.Load(contract.promise, ctx.SubjectFolders());
    contract.SkipUnlessPromised(ctx, loaded || !nvrtc.missing());
    if (!loaded && nvrtc.missing() && !ctx.Contract(kWithoutNvrtc).empty())
      ctx.Skip(CCI_SKIP_ABSENT, "NVRTC, or something that needs it", "neither");
    if (!Judge(
            ctx, loaded, "NVRTC loads", kNvrtcMissing,
            [&] {
              return nvrtc.error() + " (looked for " + NvrtcApi::Sonames() + "; " +
                     LibraryPathWords(ctx.SubjectFolders()) + ")";
            },
            [&] {
              const Promise& promise = contract.promise;
              return nvrtc.missing() ? LdconfigLine(NvrtcApi::PromisedSonames(promise)) : "";
            })) {
      return;
    }
    const std::string version = nvrtc.Version(), path = RealPath(nvrtc.path());
    ctx.Log("NVRTC " + version + " at " + path);
    const std::string& range = contract.promise.range;
    if (!Judge(ctx, !version.empty() && contract.promise.Kept(version), "NVRTC " + version + " is " + range,
               kNvrtcOutsideContract, "NVRTC " + version + " found, " + range + " promised; " + path)) {
      return;
    }
    const std::string damaged = DamagedBuiltins(nvrtc);
    if (!damaged.empty()) {
      ctx.Finding(kNvrtcCompileFailed, damaged);
      return;
    }
    ctx.Step("compile");
    const NvrtcResult result = nvrtc.Compile(kSource, {});
    if (!result.log.empty()) ctx.Attach("nvrtc.log", "text/plain", result.log);
    Judge(ctx, result.ok && result.code.find("cudnn_ci_probe") != std::string::npos,
          "NVRTC compiles a kernel to PTX", kNvrtcCompileFailed, [&] {
            return (result.ok ? "the PTX does not contain the kernel" : result.error) +
                   (result.log.empty() ? "" : "; log: " + result.log) + "; " + path;
          });
  }
};

CCI_REGISTER(Nvrtc, "nvrtc")

}  // namespace
}  // namespace cudnn_ci
