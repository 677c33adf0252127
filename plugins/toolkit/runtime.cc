// toolkit.runtime: is the CUDA runtime there, and of the promised version? Needs no GPU and no driver.
#include <cudnn_ci/check.hpp>

#include "common/cudart_api.h"
#include "common/judge.h"
#include "common/loader_path.h"
#include "toolkit/contract.h"
#include "toolkit/findings.h"

namespace cudnn_ci {
namespace {

struct Runtime {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("the CUDA runtime loads and is of the promised version")
        .Layer(CCI_LAYER_TOOLKIT)
        .Judges("image.toolkit")
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        .TimeoutSeconds(30);
  }

  static void Run(Context& ctx, const Params&) {
    const ToolkitContract contract = ReadToolkitContract(ctx);
    if (contract.absent) {
      JudgeAbsence(ctx, "libcudart.so", "no CUDA runtime is found", kToolkitNotPromised);
      return;
    }
    const std::vector<CudartLibrary> found = FindCudart();
    contract.SkipUnlessPromised(ctx, !found.empty());
    if (!Judge(ctx, !found.empty(), "a CUDA runtime is found", kToolkitRuntimeMissing,
               "none of " + CudartSonames() + " is on the loader's path; LD_LIBRARY_PATH='" +
                   Environment("LD_LIBRARY_PATH") + "'")) {
      return;
    }
    std::string versions, errors;
    bool kept = false;
    for (const auto& cudart : found) {
      if (cudart.version.empty()) {
        errors += (errors.empty() ? "" : "; ") + cudart.error;
        continue;
      }
      ctx.Log("toolkit " + cudart.version + " at " + RealPath(cudart.path));
      versions += (versions.empty() ? "" : " and ") + cudart.version;
      // An image may carry runtimes of several majors: programs choose by soname, and one keeps the promise.
      kept = kept || contract.Kept(ctx, cudart.version);
    }
    if (!kept && !errors.empty()) {
      ctx.Finding(kToolkitRuntimeMissing, errors);
      return;
    }
    Judge(ctx, kept, "toolkit " + versions + " is " + contract.range, kToolkitOutsideContract,
          "toolkit " + versions + " found, " + contract.range + " promised");
  }
};

CCI_REGISTER(Runtime, "runtime")

}  // namespace
}  // namespace cudnn_ci
