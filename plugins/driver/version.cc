// driver.version: is the driver the one the fleet promises, of one piece, and new enough for the image's
// toolkit and for what the image says it needs? Initialises no GPU where the version is known.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <unistd.h>

#include <sstream>
#include <string>

#include "base/path.h"
#include "common/driver_files.h"
#include "common/judge.h"
#include "common/loader_path.h"
#include "driver/findings.h"
#include "driver/init.h"
#include "driver/requirements.h"
#include "driver/versions.h"
#include "image/contents/mounts.h"

namespace cudnn_ci {
namespace {

// What the judgements share.
struct Driver {
  DriverApi api;
  NvmlApi nvml;
  std::string library;  // libcuda's file, links followed
  std::string cuda;     // that it supports, "12.8"
  DriverVersion host;
};

// Where no kernel module can be seen, libcuda and NVML are all that tells the version. What is mounted is the
// host's; of two that are not, and differ, nobody knows which speaks of the host. `user`: libcuda's version.
void JudgeWitnesses(Context& ctx, const Driver& driver, const std::string& user) {
  const bool believed = driver.nvml.foreign().empty();
  const std::string said = believed ? driver.nvml.DriverVersion() : driver.nvml.claimed();
  const bool tells = !user.empty() && !IsCompatPath(driver.library) && !said.empty();
  const bool libcuda_mounted = Mounts::Read().IsOfDriver(driver.library);
  if (!tells || said == user || (libcuda_mounted && !driver.nvml.mounted())) return;
  const std::string detail = driver.library + " is from driver " + user + ", " +
                             RealPath(driver.nvml.path()) + " from " + said + "; no kernel module is visible";
  if (libcuda_mounted) {
    ctx.Finding(kDriverModuleMismatch, detail + ", and both are mounted");
  } else {
    ctx.Finding(kDriverLibrariesDisagree,
                detail + (driver.nvml.mounted() ? ", and only NVML is mounted" : ", and neither is mounted"));
  }
}

// The user-mode library belongs to the module if they carry one version; a compat package's differs
// on purpose, and a library without a version in its name (WSL) says nothing.
void JudgeModule(Context& ctx, const Driver& driver) {
  const std::string module = LoadedModuleVersion(), user = VersionOfLibraryFile(driver.library);
  const std::string nvml = driver.nvml.library_loaded() ? RealPath(driver.nvml.path()) : "";
  const bool differ = !module.empty() && !user.empty() && module != user && !IsCompatPath(driver.library);
  // What lies in the image says nothing of the host. A mounted NVML is the host's, and may be of another
  // version.
  const std::string said = driver.nvml.DriverVersion();
  const bool nvml_differs =
      driver.nvml.status() == kNvmlDriverMismatch || (!module.empty() && !said.empty() && said != module);
  if (module.empty()) JudgeWitnesses(ctx, driver, user);
  if (!differ && !driver.nvml.foreign().empty()) ctx.Finding(kNvmlOfImage, driver.nvml.foreign());
  Judge(ctx, !differ && !nvml_differs, "the kernel module and the user library have one version",
        differ ? SlugOfOtherLibrary(said, module) : kDriverModuleMismatch,
        "kernel module " + (module.empty() ? "of unknown version" : module) + ", user library " +
            driver.library + (driver.nvml.error().empty() ? "" : "; " + driver.nvml.error()) +
            (nvml.empty() ? "" : " (" + nvml + (said.empty() ? "" : ", which reports " + said) + ")"));
}

// True if the runner keeps what the matrix promises of it, or nothing is promised.
bool JudgeContract(Context& ctx, const Driver& driver) {
  const std::string promised = ctx.Contract("runner.driver");
  const DriverVersion& host = driver.host;
  ctx.Log("driver version " + host.Text() + (host.known() ? ", from " + host.source : ""));
  if (promised.empty()) return true;
  const bool lowest = host.known() && ctx.Satisfies(host.lowest, promised);
  const bool highest = host.known() && ctx.Satisfies(host.highest, promised);
  // Neither the version nor that no GPU answers says anything of the runner's driver then.
  if (!(lowest && highest) && IsOfImageAlone(driver.library) && driver.api.Init(0) != CUDA_SUCCESS) {
    ctx.Finding(kDriverOfImageAlone, driver.library + " is not mounted; " + DriverTraces());
    return false;
  }
  // Of a range of versions the two ends say all, unless the promise leaves out one in between.
  if (host.known() && lowest == highest && (host.exact() || promised.find("!=") == std::string::npos))
    return Judge(ctx, lowest, "driver " + host.Text() + " is " + promised, kDriverBelowContract,
                 "driver " + host.Text() + " found" + (host.exact() ? "" : " (" + host.source + ")") + ", " +
                     promised + " promised");
  // A driver that does not initialise is the cause, whatever its version.
  if (const CUresult result = driver.api.Init(0); result != CUDA_SUCCESS) {
    const InitFailure failure = ExplainInit(driver.api, driver.nvml, result);
    ctx.Finding(failure.slug, failure.detail);
    return false;
  }
  ctx.Finding(kDriverVersionUnknown,
              promised + " promised; NVML: " + driver.nvml.error() + "; no /proc/driver/nvidia/version; " +
                  driver.library + " has no version in its name" +
                  (host.known() ? "; " + host.source + ": a driver " + host.Text() : ""));
  return false;
}

// A toolkit that the image does not promise is not gated, so its version binds no driver.
bool ToolkitCounts(Context& ctx, const std::string& toolkit) {
  const std::string promised = ctx.Contract("image.toolkit");
  if (toolkit.empty() || promised == "absent") return false;
  return promised.empty() || ctx.Satisfies(toolkit, promised);
}

// Why the driver does not serve the toolkit; empty: it does. A newer driver serves every older toolkit, and
// inside a major the floor counts, not the driver that comes with the toolkit.
std::string ToolkitObjection(Context& ctx, const Driver& driver, const std::string& toolkit) {
  const int wanted = Major(toolkit);
  const std::string floor = ctx.Compatibility(CCI_COMPATIBILITY_DRIVER_FLOOR + std::to_string(wanted));
  // Programs run on the compat library where one is in use.
  const std::string compat = IsCompatPath(driver.library) ? VersionOfLibraryFile(driver.library) : "";
  const std::string version = !compat.empty()                   ? compat
                              : CountsOtherwise(driver.library) ? ""
                              : driver.host.exact()             ? driver.host.lowest
                                                                : "";
  // A toolkit no newer than the driver's own CUDA needs no rule that bridges minor versions.
  const bool below = Major(driver.cuda) == wanted && !floor.empty() && !version.empty() &&
                     ctx.Satisfies(toolkit, ">" + driver.cuda) && ctx.Satisfies(version, "<" + floor);
  if (Major(driver.cuda) >= wanted && !below) return {};
  return "the driver " + (version.empty() ? "" : version + " ") + "(" + driver.library + ") supports CUDA " +
         driver.cuda + ", but the image's toolkit is " + toolkit +
         (floor.empty() ? ""
                        : ", which needs driver " + floor + " or later (version facts as of " +
                              ctx.Compatibility(CCI_COMPATIBILITY_AS_OF) + ")");
}

// The first of the image's NVIDIA_REQUIRE_* that does not hold, "NVIDIA_REQUIRE_CUDA='cuda>=13.0'".
struct Unsatisfied {
  std::string text;
  bool with_minor_compatibility = false;  // it would hold with a toolkit of the driver's CUDA major
};
Unsatisfied UnsatisfiedRequirement(Context& ctx, const Driver& driver) {
  const std::string disabled = Environment("NVIDIA_DISABLE_REQUIRE");
  if (disabled == "1" || disabled == "true") return {};
  HostProperties host{driver.cuda, driver.host.exact() ? driver.host.lowest : "",
                      ctx.Fact(CCI_FACT_GPU "0" CCI_FACT_GPU_COMPUTE_CAPABILITY), ""};
  if (const auto devices = driver.nvml.Devices(); !devices.empty())
    host.brand = driver.nvml.Health(devices[0]).brand;
  const InRange in_range = [&](const std::string& v, const std::string& r) { return ctx.Satisfies(v, r); };
  constexpr char kPrefix[] = "NVIDIA_REQUIRE_";
  for (char** entry = environ; *entry; ++entry) {
    const std::string variable = *entry;
    const size_t equals = variable.find('=');
    if (variable.compare(0, sizeof kPrefix - 1, kPrefix) != 0 || equals == std::string::npos) continue;
    const std::string value = variable.substr(equals + 1);
    if (Evaluate(value, host, in_range) != Kept::kNo) continue;
    HostProperties relaxed = host;
    relaxed.cuda = std::to_string(Major(host.cuda)) + ".999";
    const std::string shown = HasConditionsAlone(value)
                                  ? "='" + value.substr(0, 300) + (value.size() > 300 ? "..." : "") + "'"
                                  : "";
    return {variable.substr(0, equals) + shown, Evaluate(value, relaxed, in_range) == Kept::kYes};
  }
  return {};
}

void JudgeToolkit(Context& ctx, const Driver& driver) {
  const std::string toolkit = ctx.Fact(CCI_FACT_TOOLKIT_VERSION);
  const bool counts = ToolkitCounts(ctx, toolkit);
  const std::string objection = counts ? ToolkitObjection(ctx, driver, toolkit) : "";
  const Unsatisfied required = UnsatisfiedRequirement(ctx, driver);
  const std::string here = required.text.empty() ? ""
                                                 : required.text + " does not hold here (CUDA " +
                                                       driver.cuda + ", driver " + driver.host.Text() + ")";
  // The image said what it needs, and no matrix promises that it runs on such a driver.
  const bool runners = !here.empty() && ctx.Contract("runner.driver").empty();
  const bool served = (!counts || objection.empty()) && (!runners || required.with_minor_compatibility);
  if (served && !here.empty())
    ctx.Finding(kImageRequiresMoreThanItNeeds,
                here + (counts ? "; the driver supports its toolkit " + toolkit : ""));
  const std::string lowest = LowestCuda(Environment("NVIDIA_REQUIRE_CUDA"));
  if (served && here.empty() && counts && !lowest.empty() && ctx.Satisfies(toolkit, "<" + lowest))
    ctx.Finding(kImageRequiresMoreThanItNeeds,
                "NVIDIA_REQUIRE_CUDA requires CUDA " + lowest + ", but the image's toolkit is " + toolkit);
  Judge(ctx, served, "the driver's CUDA " + driver.cuda + " supports toolkit " + toolkit,
        runners ? kImageRequirementUnsatisfied : kDriverTooOldForToolkit,
        objection + (objection.empty() || here.empty() ? "" : "; ") + here);
}

// What is newer than the table is judged without it.
void SayWhatIsNewer(Context& ctx, const Driver& driver) {
  const std::string branches = ctx.Compatibility(CCI_COMPATIBILITY_DRIVER_BRANCHES);
  const std::string newest = ctx.Compatibility(CCI_COMPATIBILITY_NEWEST_TOOLKIT);
  const std::string toolkit = ctx.Fact(CCI_FACT_TOOLKIT_VERSION);
  std::string newer;
  if (!branches.empty() && driver.host.exact() &&
      Major(driver.host.lowest) > Major(branches.substr(branches.rfind(' ') + 1)))
    newer = "driver " + driver.host.lowest;
  if (!newest.empty() && !toolkit.empty() && ctx.Satisfies(toolkit, ">" + newest))
    newer += (newer.empty() ? "" : ", ") + ("toolkit " + toolkit);
  if (!newer.empty())
    ctx.Finding(kNewerThanVersionTable,
                newer + "; version facts as of " + ctx.Compatibility(CCI_COMPATIBILITY_AS_OF));
}

struct Version {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("the driver has the version that the matrix promises and supports the image's toolkit")
        .Layer(CCI_LAYER_DRIVER)
        .Devices(CCI_DEVICES_ENVIRONMENT)
        .Requires("driver.load")
        .Judges("runner.driver")
        .TimeoutSeconds(30);
  }

  static void Run(Context& ctx, const Params&) {
    Driver driver;
    CCI_ASSERT_TRUE(driver.api.Load()) << driver.api.error();
    driver.library = RealPath(driver.api.path());
    driver.nvml.Load();
    JudgeModule(ctx, driver);
    int raw = 0;
    const CUresult result = driver.api.DriverGetVersion(&raw);
    CCI_ASSERT_EQ(static_cast<int>(result), 0) << "cuDriverGetVersion: " << driver.api.Describe(result);
    driver.cuda = SupportedCuda(driver.api);
    ctx.Log("the driver supports CUDA " + driver.cuda);
    driver.host = HostDriver(ctx, driver.nvml, driver.library, driver.cuda);
    SayWhatIsNewer(ctx, driver);
    // Below its contract the runner is to blame, and that was said.
    if (!JudgeContract(ctx, driver)) ctx.Stop();
    JudgeToolkit(ctx, driver);
  }
};

CCI_REGISTER(Version, "version")

}  // namespace
}  // namespace cudnn_ci
