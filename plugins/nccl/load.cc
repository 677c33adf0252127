// nccl.load: is there an NCCL, does it load, does it fit the promise and the driver, and what of the image
// changes it? Needs no GPU and no driver.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "common/driver_files.h"
#include "common/install_line.h"
#include "common/judge.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
#include "common/overlap.h"
#include "common/promise.h"
#include "image/elf/library_text.h"
#include "image/loader/loader_config.h"
#include "image/loader/loader_files.h"
#include "nccl/findings.h"
#include "nccl/nccl_api.h"
#include "nccl/variables.h"

namespace cudnn_ci {
namespace {

constexpr char kSettings[] = "/etc/nccl.conf";
constexpr std::size_t kMostSettings = 64 << 10;  // bytes

std::string Setting(const std::string& name) {
  const std::string value = Environment(name.c_str());
  return value.empty() ? ValueIn(ReadSmallFile(kSettings, kMostSettings), name) : value;
}

// The plugins that NCCL opens by itself, by their kind. One that a setting names is expected to be there.
struct Opened {
  const char *kind, *setting;
};
constexpr Opened kOpened[] = {
    {"net", "NCCL_NET_PLUGIN"}, {"tuner", "NCCL_TUNER_PLUGIN"}, {"profiler", "NCCL_PROFILER_PLUGIN"}};

// Files that are tried, in NCCL's order.
std::vector<std::string> NamesOf(const Opened& opened, const std::string& value) {
  const std::string stem = std::string("libnccl-") + opened.kind;
  if (value.empty()) return {stem + ".so"};
  return {value, stem + "-" + value + ".so"};
}

void JudgePlugin(Context& ctx, const Opened& opened) {
  const std::string value = Setting(opened.setting);
  if (value == "none" || value == "STATIC_PLUGIN") return;
  std::string errors;
  for (const std::string& name : NamesOf(opened, value)) {
    LateLibrary plugin;
    std::string error;
    if (LoadChecked(name, &plugin, &error)) {
      ctx.Log(std::string("NCCL's ") + opened.kind + " plugin is " + RealPath(plugin.Path()));
      return;
    }
    const bool awaits = !AwaitedLibrary(error).empty();  // of the driver, which a host brings
    if (awaits || (value.empty() && IsNotFound(name, error))) return;
    errors += (errors.empty() ? "" : "; ") + error;
  }
  const std::string named = value.empty() ? "" : std::string(opened.setting) + "=" + value + ": ";
  ctx.Finding(kNcclPluginUnusable, named + errors);
}

struct Load {
  struct Params {
    std::string at_least, below;

    // Empty: any version will do, and none.
    std::string Range() const {
      std::string range = at_least.empty() ? "" : ">=" + at_least;
      if (!below.empty()) range += (range.empty() ? "<" : " <") + below;
      return range;
    }
  };

  static void Describe(Schema<Params>& s) {
    s.Summary(
         "the image's NCCL loads, has the promised version and CUDA, and no variable changes how it works")
        .Layer(CCI_LAYER_TOOLKIT)
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        .TimeoutSeconds(60);
    s.Param("at_least", &Params::at_least)
        .Default("")
        .Summary("oldest allowed version, such as 2.27; with at_least or below, the image must have NCCL");
    s.Param("below", &Params::below).Default("").Summary("first version that is not allowed");
  }

  static void Validate(const Params& p, Problems& problems) {
    for (const auto& [name, version] : {std::pair{"at_least", &p.at_least}, std::pair{"below", &p.below}})
      if (!version->empty() && !problems.IsRange("=" + *version))
        problems.Add(name, *version + " is not a version");
  }

  static void Run(Context& ctx, const Params& p) {
    NcclApi nccl;
    nccl.Load();
    if (nccl.missing() && p.Range().empty())
      ctx.Skip(CCI_SKIP_ABSENT, std::string(kNcclSoname) + ", which is optional", nccl.error());
    if (!Judge(ctx, !nccl.missing(), "the image has an NCCL", kNcclMissing,
               [&] { return nccl.error() + "; " + LibraryPathWords(ctx.SubjectFolders()); }))
      return;
    if (!Judge(ctx, nccl.loaded(), "NCCL loads", kNcclNotLoadable,
               [&] { return nccl.error() + "; " + LibraryPathWords(ctx.SubjectFolders()); }))
      return;
    try {
      JudgeVersions(ctx, nccl, p);
    } catch (const std::runtime_error& e) {
      ctx.Finding(kNcclNotLoadable, std::string(e.what()) + "; " + RealPath(nccl.path()));
    }
    JudgeCopies(ctx, nccl);
    for (const Opened& opened : kOpened) JudgePlugin(ctx, opened);
    if (const std::string set = SettingsThatRemain(Setting); !set.empty())
      ctx.Finding(kNcclSettings, "set: " + set);
  }

 private:
  static void JudgeVersions(Context& ctx, const NcclApi& nccl, const Params& p) {
    const std::string version = nccl.Version(), cuda = nccl.Cuda(), text = nccl.Text();
    ctx.Log(text);
    const std::string range = p.Range();
    Judge(ctx, range.empty() || ctx.Satisfies(version, range), "NCCL " + version + " is " + range,
          kNcclOtherVersion, text + " found, " + range + " promised");
    const int major = std::atoi(cuda.c_str());
    if (major == 0) return;
    const std::string served = ctx.Fact(CCI_FACT_DRIVER_CUDA);
    const int most = std::atoi(served.c_str());
    if (!Judge(ctx, most == 0 || major <= most, "the driver supports CUDA " + cuda, kNcclNeedsNewerDriver,
               text + " is built with CUDA " + cuda + ", but the driver supports CUDA " + served))
      return;
    JudgeToolkit(ctx, nccl, text + " is built with CUDA " + cuda, major);
  }

  // By the subject's own toolkit. Whether that is the promised one, toolkit.runtime says; if the subject has
  // none, the promise is all there is. Where another package has replaced the NCCL for it, the files of the
  // image say so, with what to do (packages-overlap).
  static void JudgeToolkit(Context& ctx, const NcclApi& nccl, const std::string& built, int major) {
    const std::string toolkit = ctx.Fact(CCI_FACT_TOOLKIT_VERSION);
    const Promise promise = PromiseOf(ctx, "image.toolkit");
    const bool differs = !toolkit.empty() && std::atoi(toolkit.c_str()) != major;
    if (differs && FindReplacedWheel(RealPath(nccl.path()), "nvidia-nccl-cu", std::atoi(toolkit.c_str())))
      return;
    if (differs)
      ctx.Finding(kNcclOtherCuda, built + ", but the toolkit is " + toolkit);
    else if (toolkit.empty() && !promise.range.empty() && !promise.OfMajor(major))
      ctx.Finding(kNcclOtherCuda, built + ", " + promise.range + " promised");
  }

  static void JudgeCopies(Context& ctx, const NcclApi& nccl) {
    const std::string own = RealPath(nccl.path());
    std::string others;
    for (const std::string& file : LibrariesOf("libnccl.so", Environment("LD_LIBRARY_PATH"))) {
      if (file == own) continue;
      const std::string version = WordBehind(file, "NCCL version ");
      others += (others.empty() ? "" : ", ") + file + (version.empty() ? "" : " (" + version + ")");
    }
    if (!others.empty()) ctx.Finding(kNcclSeveralCopies, nccl.Text() + " is used; other copies: " + others);
  }
};

CCI_REGISTER(Load, "load")

}  // namespace
}  // namespace cudnn_ci
