// The driver's version by several sources, and the table's rows on drivers.
#include "driver/versions.h"

#include <cudnn_ci/facts.h>

#include <cstdlib>
#include <sstream>
#include <vector>

#include "common/cudart_api.h"
#include "common/driver_files.h"
#include "common/loader_path.h"
#include "image/contents/mounts.h"

namespace cudnn_ci {
namespace {

constexpr char kUnproven[] = ", which may not be the host's";

std::vector<int> Branches(const Context& ctx) {
  std::vector<int> branches;
  std::istringstream list(ctx.Compatibility(CCI_COMPATIBILITY_DRIVER_BRANCHES));
  for (int branch = 0; list >> branch;) branches.push_back(branch);
  return branches;
}

std::string CudaOf(const Context& ctx, int branch) {
  return ctx.Compatibility(CCI_COMPATIBILITY_DRIVER_BRANCH + std::to_string(branch));
}

// The first driver of a branch: the one that came with the toolkit that it brought.
std::string FirstOf(const Context& ctx, int branch, const std::string& cuda) {
  const std::string with_toolkit = ctx.Compatibility(CCI_COMPATIBILITY_TOOLKIT_DRIVER + cuda + ".0");
  return Major(with_toolkit) == branch ? with_toolkit : std::to_string(branch);
}

}  // namespace

std::string DriverVersion::Text() const {
  if (!known()) return "unknown";
  return exact() ? lowest : lowest + " to " + highest;
}

int Major(const std::string& version) { return version.empty() ? 0 : std::atoi(version.c_str()); }

DriverVersion InstalledDriver(const NvmlApi& nvml, const std::string& library) {
  const auto exactly = [](const std::string& version, const std::string& source) {
    return DriverVersion{version, version, source};
  };
  if (const std::string version = LoadedModuleVersion(); !version.empty())
    return exactly(version, "the kernel module");
  if (const std::string version = nvml.DriverVersion(); !version.empty())
    return exactly(version, nvml.mounted() ? "NVML" : std::string("NVML") + kUnproven);
  const std::string version = IsCompatPath(library) ? "" : VersionOfLibraryFile(library);
  if (version.empty()) return {};
  const std::string source = "the name of libcuda's file";
  return exactly(version, Mounts::Read().IsOfDriver(library) ? source : source + kUnproven);
}

DriverVersion HostDriver(const Context& ctx, const NvmlApi& nvml, const std::string& library,
                         const std::string& cuda) {
  DriverVersion driver = InstalledDriver(nvml, library);
  // A compat library supports what its own branch does, whatever the host's driver is.
  if (driver.known() || cuda.empty() || IsCompatPath(library) || CountsOtherwise(library)) return driver;
  for (const int branch : Branches(ctx)) {
    const std::string supported = CudaOf(ctx, branch);
    if (ctx.Satisfies(supported, "<=" + cuda)) driver.lowest = FirstOf(ctx, branch, supported);
    if (ctx.Satisfies(supported, ">" + cuda)) {
      driver.highest = std::to_string(branch - 1) + ".999.99";
      break;
    }
  }
  if (!driver.known()) return {};
  if (driver.highest.empty()) driver.highest = "9999";  // newer than the table
  driver.source = "cuDriverGetVersion, which returns CUDA " + cuda;
  return driver;
}

std::string SupportedCuda(const DriverApi& api) {
  int version = 0;
  if (!api.DriverGetVersion || api.DriverGetVersion(&version) != CUDA_SUCCESS || version <= 0) return {};
  return CudaVersionText(version);
}

std::string CompatObjection(const Context& ctx, const std::string& compat, const std::string& driver) {
  if (compat.empty() || driver.empty() || compat == driver) return {};
  const std::string pair = "compat library " + compat + " on driver " + driver;
  if (ctx.Satisfies(compat, "<" + driver)) return pair + ": older than the host's driver";
  std::string package = CudaOf(ctx, Major(compat));
  if (package.find('.') == std::string::npos) return {};
  package.replace(package.find('.'), 1, "-");
  const std::string allowed = ctx.Compatibility(CCI_COMPATIBILITY_FORWARD + package);
  if (allowed.empty()) return {};
  std::istringstream branches(allowed);
  for (std::string branch; branches >> branch;)
    if (branch == std::to_string(Major(driver))) return {};
  return pair + ": cuda-compat-" + package + " is supported only on drivers of the branches " + allowed +
         " (version facts as of " + ctx.Compatibility(CCI_COMPATIBILITY_AS_OF) + ")";
}

}  // namespace cudnn_ci
