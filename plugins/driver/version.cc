// driver.version: is the driver the one the fleet promises, of one piece, and new enough for the
// image's toolkit? Initialises no GPU. No version table here: the rule needs majors only.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include "common/cudart_api.h"
#include "common/driver_api.h"
#include "common/driver_files.h"
#include "common/judge.h"
#include "common/loader_path.h"
#include "common/nvml_api.h"
#include "driver/findings.h"

namespace cudnn_ci {
namespace {

int Major(const std::string& version) { return version.empty() ? 0 : std::atoi(version.c_str()); }

// The user-mode library belongs to the module if they carry one version; a compat package's differs
// on purpose, and a library without a version in its name (WSL) says nothing.
void JudgeModule(Context& ctx, const NvmlApi& nvml, const std::string& library) {
  const std::string module = LoadedModuleVersion(), user = VersionOfLibraryFile(library);
  const bool differ = !module.empty() && !user.empty() && module != user && !IsCompatPath(library);
  Judge(ctx, !differ && nvml.status() != kNvmlDriverMismatch,
        "kernel module and user library are of one version", kDriverModuleMismatch,
        "kernel module " + (module.empty() ? "of unknown version" : module) + ", user library " + library +
            (nvml.error().empty() ? "" : "; " + nvml.error()));
}

// True if the runner keeps what the matrix promises of it, or nothing is promised.
bool JudgeContract(Context& ctx, const NvmlApi& nvml, const std::string& library) {
  // NVML speaks for the host's driver; libcuda's own name may be that of a compat package.
  std::string version = nvml.DriverVersion();
  if (version.empty()) version = LoadedModuleVersion();
  if (version.empty()) version = VersionOfLibraryFile(library);
  const std::string promised = ctx.Contract("runner.driver");
  ctx.Log("driver version " + (version.empty() ? "unknown" : version));
  if (promised.empty()) return true;
  if (version.empty()) {
    ctx.Finding(kDriverVersionUnknown, promised + " promised; NVML: " + nvml.error() +
                                           "; no /proc/driver/nvidia/version; " + library +
                                           " carries no version");
    return false;
  }
  return Judge(ctx, ctx.Satisfies(version, promised), "driver " + version + " is " + promised,
               kDriverBelowContract, "driver " + version + " found, " + promised + " promised");
}

// A toolkit that the image does not promise is not gated, so its version binds no driver.
bool ToolkitCounts(Context& ctx, const std::string& toolkit) {
  const std::string promised = ctx.Contract("image.toolkit");
  if (toolkit.empty() || promised == "absent") return false;
  return promised.empty() || ctx.Satisfies(toolkit, promised);
}

struct Version {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("the driver keeps the runner's contract and serves the image's toolkit")
        .Layer(CCI_LAYER_DRIVER)
        .Devices(CCI_DEVICES_ENVIRONMENT)
        .Requires("driver.load")
        .Judges("runner.driver")
        .TimeoutSeconds(30);
  }

  static void Run(Context& ctx, const Params&) {
    DriverApi api;
    CCI_ASSERT_TRUE(api.Load()) << api.error();
    const std::string library = RealPath(api.path());
    NvmlApi nvml;
    nvml.Load();
    JudgeModule(ctx, nvml, library);
    const bool contract_kept = JudgeContract(ctx, nvml, library);

    int raw = 0;
    const CUresult result = api.DriverGetVersion(&raw);
    CCI_ASSERT_EQ(static_cast<int>(result), 0) << "cuDriverGetVersion: " << api.Describe(result);
    const std::string cuda = CudaVersionText(raw), toolkit = ctx.Fact(CCI_FACT_TOOLKIT_VERSION);
    ctx.Log("the driver serves CUDA " + cuda);
    const bool too_old = ToolkitCounts(ctx, toolkit) && Major(cuda) < Major(toolkit);
    // Below its contract the runner is to blame, and that was said.
    if (!contract_kept) ctx.Stop();
    Judge(ctx, !too_old, "the driver's CUDA " + cuda + " serves toolkit " + toolkit, kDriverTooOldForToolkit,
          "the driver (" + library + ") serves CUDA " + cuda + ", the image's toolkit is " + toolkit);
  }
};

CCI_REGISTER(Version, "version")

}  // namespace
}  // namespace cudnn_ci
