// cudnn.version: is cuDNN of the promised version, and built for the image's CUDA major? Needs no GPU
// and no driver.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <cstdlib>

#include "common/cudnn_api.h"
#include "common/judge.h"
#include "cudnn/findings.h"
#include "cudnn/install.h"

namespace cudnn_ci {
namespace {

// True if a cuDNN built for this CUDA major fits the toolkit: the one found, else the one promised.
// Minors do not matter: one build serves all toolkits of a major.
bool FlavourFits(Context& ctx, int cuda_major, std::string* toolkit) {
  constexpr int kAnyMinor = 20;  // no CUDA major had more
  *toolkit = ctx.Fact(CCI_FACT_TOOLKIT_VERSION);
  if (!toolkit->empty()) {
    const bool fits = std::atoi(toolkit->c_str()) == cuda_major;
    *toolkit += " is found";
    return fits;
  }
  const std::string promised = ctx.Contract("image.toolkit");
  if (promised.empty() || promised == "absent") return true;
  *toolkit = promised + " is promised";
  for (int minor = 0; minor < kAnyMinor; ++minor)
    if (ctx.Satisfies(std::to_string(cuda_major) + "." + std::to_string(minor), promised)) return true;
  return false;
}

struct Version {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("cuDNN is of the promised version and built for the image's CUDA major")
        .Layer(CCI_LAYER_CUDNN)
        .Judges("image.cudnn")
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        .Requires("cudnn.load")
        .TimeoutSeconds(60);
  }

  static void Run(Context& ctx, const Params&) {
    const CudnnContract contract = ReadCudnnContract(ctx);
    if (contract.absent) {
      JudgeAbsence(ctx, "libcudnn.so", "no cuDNN is found", kCudnnNotPromised);
      return;
    }
    CudnnInstall install = InspectCudnn();
    CCI_ASSERT_TRUE(LoadCudnn(&install)) << install.main.error;
    CudnnApi api;
    CCI_ASSERT_TRUE(api.LoadFile(install.main.path)) << api.error();
    ctx.Step("cudnnGetVersion");
    const std::string version = api.VersionText();
    CCI_ASSERT_NE(api.version(), 0u) << install.main.path << " has no symbol cudnnGetVersion";
    Judge(ctx, contract.Kept(ctx, version), "cuDNN " + version + " is " + contract.range,
          kCudnnOutsideContract,
          "cuDNN " + version + " found, " + contract.range + " promised; " + install.main.path);

    ctx.Step("cudnnGetCudartVersion");
    const int cudart = static_cast<int>(api.GetCudartVersion());
    std::string toolkit;
    const bool fits = FlavourFits(ctx, cudart / 1000, &toolkit);
    Judge(ctx, fits, "cuDNN is built for the toolkit's CUDA major", kCudnnFlavourMismatch, [&] {
      return "cuDNN " + version + " (" + install.main.path + ") is built for CUDA " +
             std::to_string(cudart / 1000) + "; toolkit " + toolkit;
    });
  }
};

CCI_REGISTER(Version, "version")

}  // namespace
}  // namespace cudnn_ci
