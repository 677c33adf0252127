// driver.load: is there a driver library, and is it a driver? Calls nothing that initialises a GPU.
#include <cudnn_ci/check.hpp>

#include <unistd.h>

#include "base/path.h"
#include "common/driver_api.h"
#include "common/driver_files.h"
#include "common/loader_path.h"
#include "common/nvml_api.h"
#include "driver/findings.h"
#include "driver/init.h"
#include "image/contents/driver_library.h"

namespace cudnn_ci {
namespace {

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// What of the driver is mounted though no libcuda.so.1 is found; without a detail: nothing.
InitFailure ExplainTraces(const MountedDriver& driver) {
  if (!driver.files.empty()) {
    const std::string& file = driver.files.front();
    return {kDriverLinkMissing, file + " is mounted, but the loader finds no link " + kDriverLibrary +
                                    " to it: `ldconfig " + DirectoryOf(file) +
                                    "` was not run in this container"};
  }
  for (const std::string& trace : driver.traces)
    if (NameOf(trace).compare(0, 7, "libcuda") == 0)
      return {kDriverLibraryUnloadable, trace + " is mounted, but it is not a library that can be loaded"};
  if (driver.traces.empty()) return {nullptr, ""};
  return {kDriverComputeNotMounted,
          driver.traces.front() + " is mounted, so only the 'utility' capability was requested"};
}

// What tells "no driver on this host" from "the runtime was not asked to mount it" (the module is
// visible in every container of a host that has one), from a mount of the utility part alone, and from one
// into a folder that this image's loader does not know.
InitFailure ExplainMissing(const std::string& loader_text) {
  const std::string module = LoadedModuleVersion();
  std::string detail = loader_text + "; " + DriverTraces();
  if (const std::vector<std::string> mounted = MountedDriverLibraries(); !mounted.empty())
    return {kDriverLibraryOffPath, detail + ". " + mounted.front() +
                                       " exists, but the loader does not look there: LD_LIBRARY_PATH='" +
                                       Environment("LD_LIBRARY_PATH") + "'"};
  if (const InitFailure traced = ExplainTraces(FindMountedDriver()); !traced.detail.empty())
    return {traced.slug, detail + ". " + traced.detail};
  NvmlApi nvml;
  // A library that the image brought itself answers nothing where there is no driver.
  if (nvml.Load()) {
    detail += ". " + RealPath(nvml.path()) + " exists, so only the 'utility' capability was requested";
    return {kDriverComputeNotMounted, detail};
  }
  if (!module.empty()) {
    detail += ". The host has a driver, but the container was started without it";
  } else {
    detail += ". The host seems to have no driver";
  }
  return {kDriverLibraryMissing, detail};
}

// The documented mark of a stub is that every call answers 34; the path is a mark that needs no call.
// Size is none: WSL's real libcuda.so.1 is as small as a stub.
bool IsStub(const DriverApi& api, const std::string& real_path) {
  if (real_path.find("/stubs/") != std::string::npos) return true;
  int version = 0;
  return api.DriverGetVersion && static_cast<int>(api.DriverGetVersion(&version)) == 34;
}

struct Load {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("the driver library libcuda.so.1 loads and is a driver")
        .Layer(CCI_LAYER_DRIVER)
        .Devices(CCI_DEVICES_ENVIRONMENT)
        .TimeoutSeconds(30);
  }

  static void Run(Context& ctx, const Params&) {
    DriverApi api;
    if (!api.Load()) {
      const bool missing = IsNotFound("libcuda.so.1", api.error());
      const InitFailure failure =
          missing ? ExplainMissing(api.error()) : InitFailure{kDriverLibraryUnloadable, api.error()};
      ctx.Finding(failure.slug, failure.detail);
      ctx.Stop();
    }
    const std::string real = RealPath(api.path());
    if (IsStub(api, real)) {
      const std::string entry = LibraryPathEntry(api.path());
      ctx.Finding(kDriverStubLibrary,
                  api.path() + (real == api.path() ? "" : " (" + real + ")") +
                      " is the stub; found through " +
                      (entry.empty() ? "the loader's cache or default directories" : entry));
      ctx.Stop();
    }
    ctx.Log("libcuda.so.1 is " + real);
    CCI_EXPECT_TRUE(static_cast<bool>(api.Init)) << real << " has no symbol cuInit";
    CCI_EXPECT_TRUE(static_cast<bool>(api.DriverGetVersion)) << real << " has no symbol cuDriverGetVersion";
  }
};

CCI_REGISTER(Load, "load")

}  // namespace
}  // namespace cudnn_ci
