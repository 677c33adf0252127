// cudnn.version: is cuDNN of the promised version, and built for the image's CUDA major? Needs no GPU
// and no driver.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "base/path.h"
#include "common/cublaslt_api.h"
#include "common/cudnn_api.h"
#include "common/cudnn_loaded.h"
#include "common/driver_files.h"
#include "common/judge.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
#include "common/overlap.h"
#include "cudnn/contract.h"
#include "cudnn/findings.h"
#include "cudnn/install.h"
#include "cudnn/known.h"
#include "cudnn/metadata.h"
#include "cudnn/repair.h"
#include "cudnn/rpm.h"
#include "cudnn/support.h"
#include "image/contents/cudnn_files.h"
#include "image/elf/elf_file.h"
#include "image/packages/cudnn_packages.h"

namespace cudnn_ci {
namespace {

// The CUDA majors that the image's toolkits of the promise have, and how they are known, in words; what is
// promised where none is found. One build of cuDNN serves all toolkits of a major.
bool FlavourFits(Context& ctx, int cuda_major, std::string* toolkit) {
  const Promise promise = PromiseOf(ctx, "image.toolkit");
  const std::string found = ctx.Fact(CCI_FACT_TOOLKIT_VERSION);
  if (found.empty()) {
    *toolkit = promise.range + " is promised";
    return promise.OfMajor(cuda_major);
  }
  *toolkit = found + " is found";
  bool fits = std::atoi(found.c_str()) == cuda_major;
  // Of several toolkits that all keep the promise, any one will do.
  std::istringstream others(ctx.Fact("toolkit.runtime.versions"));
  for (std::string version; others >> version;)
    fits = fits || (std::atoi(version.c_str()) == cuda_major && promise.Kept(version));
  return fits;
}

// 13 of "13.2 is found" and of ">=13.0 <14 is promised"; 0: none.
int FirstNumber(const std::string& text) {
  const size_t digits = text.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : std::atoi(text.c_str() + digits);
}

// What an install says of itself: its own functions where they can be called, else its files.
struct Identity {
  std::string version;
  int cuda_major = 0;  // 0: it does not say
};

// Each of these loads a sub-library and compares its version with the main library's.
void JudgeVersionChecks(Context& ctx, const CudnnApi& api, const CudnnInstall& install) {
  std::string mixed, unusable;
  const std::vector<const CudnnPart*> awaiting = install.Awaiting();
  const auto ask = [&](const char* name, const LateFunction<cudnnStatus_t()>& check) {
    const bool awaits = std::any_of(awaiting.begin(), awaiting.end(), [&](const CudnnPart* part) {
      return part->name == CudnnSoname(install.major, name);
    });
    if (!check || awaits) return;
    ctx.Step(check.name());
    const cudnnStatus_t status = check();
    if (status == CUDNN_STATUS_SUCCESS) return;
    std::string& wrong = status == CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH ? mixed : unusable;
    wrong += (wrong.empty() ? "" : "; ") + std::string(check.name()) + ": " + api.Describe(status);
  };
  ask("graph", api.GraphVersionCheck);
  if (!install.jit_only()) {
    ask("ops", api.OpsVersionCheck);
    ask("cnn", api.CnnVersionCheck);
    ask("adv", api.AdvVersionCheck);
  }
  Judge(ctx, mixed.empty(), "cuDNN finds its own libraries, all of one version", kCudnnMixedVersions, [&] {
    // The file that it found in the place of its own.
    const LoadedCudnn loaded = InspectLoadedCudnn();
    return mixed + "; " + install.main.path + (loaded.several ? "; loaded: " + loaded.files : "");
  });
  Judge(ctx, unusable.empty(), "cuDNN can use its own libraries", kCudnnSublibraryUnloadable,
        [&] { return unusable + "; " + install.main.path; });
}

// cuDNN asks for its parts by longer names first ("libcudnn_ops.so.9.19.0"), which may be found elsewhere.
void JudgeMappedFiles(Context& ctx) {
  const LoadedCudnn loaded = InspectLoadedCudnn();
  if (loaded.several && !loaded.mixed)
    ctx.Log("two copies of one version are used together: " + loaded.files, CCI_LOG_WARNING);
  Judge(ctx, !loaded.mixed, "all loaded libraries of cuDNN come from one directory", kCudnnMixedDirectories,
        [&] { return "loaded: " + loaded.files; });
}

Identity Identify(Context& ctx, const CudnnInstall& install) {
  if (!install.callable()) {
    ctx.Log("cuDNN cannot be called without the driver's library: its files give the version and CUDA major");
    return {install.Version(), std::atoi(CudaMajorOfRunPath(install).c_str())};
  }
  CudnnApi api;
  CCI_ASSERT_TRUE(api.LoadFile(install.main.path)) << api.error();
  ctx.Step("cudnnGetVersion");
  const std::string version = api.VersionText();
  CCI_ASSERT_NE(api.version(), 0u) << install.main.path << " has no symbol cudnnGetVersion";
  JudgeVersionChecks(ctx, api, install);
  JudgeMappedFiles(ctx);
  ctx.Step("cudnnGetCudartVersion");
  return {version, static_cast<int>(api.GetCudartVersion()) / 1000};
}

// Where two copies are used together, the one that answers need not be the one that was loaded: a wheel for
// CUDA 12 takes the parts of a system install for CUDA 13 of the same version, whose files have longer names.
//
// Where the package for the toolkit is on record and another has replaced its files, that one is the culprit:
// a package of the version that is there would replace what another framework needs.
void JudgeFlavour(Context& ctx, bool fits, const std::string& file, int toolkit, const std::string& detail) {
  const LoadedCudnn loaded = fits ? LoadedCudnn() : InspectLoadedCudnn();
  if (const auto replaced = fits ? std::nullopt : FindReplacedWheel(file, "nvidia-cudnn-cu", toolkit)) {
    ctx.Finding(kCudnnReplaced,
                replaced->winner.Text() + " has replaced the libraries of " + replaced->loser.Text() + ": " +
                    detail + replaced->overlap.words,
                {replaced->overlap.line});
    return;
  }
  Judge(ctx, fits, "cuDNN is built for the toolkit's CUDA major",
        loaded.several ? kCudnnMixedDirectories : kCudnnFlavourMismatch,
        [&] { return detail + (loaded.several ? "; loaded: " + loaded.files : ""); });
}

// cuDNN 9 opens libcublasLt by name when a convolution first needs it, and aborts if it cannot; cuDNN 8 links
// it, so that its parts would not have loaded. A JIT-only package does without. Returns its version; empty:
// it was not asked.
std::string JudgeCublasLt(Context& ctx, const CudnnInstall& install, int cuda_major) {
  if (install.major < 9 || install.jit_only() || cuda_major == 0) return "";
  const std::string name = "libcublasLt.so." + std::to_string(cuda_major);
  std::vector<std::string> run_path;
  for (const auto& part : install.parts)
    if (part.name == CudnnSoname(install.major, "engines_precompiled"))
      run_path = ElfFile(part.path).RunPath();
  LateLibrary library;
  std::string error;
  bool usable = LoadChecked(name, &library, &error, run_path);
  if (const std::string awaited = AwaitedLibrary(error); !usable && !awaited.empty()) {
    ctx.Log(name + " needs " + awaited + ", which is not on this machine: it was not loaded");
    return "";
  }
  LateFunction<std::size_t()> version;
  if (usable) version.Bind(library, "cublasLtGetVersion");
  if (usable && !version) {
    usable = false;
    error = library.Path() + " has no symbol cublasLtGetVersion";
  }
  const CublasPackage cublas = usable ? CublasPackage() : CublasPackageFor(install, cuda_major);
  Judge(
      ctx, usable, "cuDNN finds " + name, kCublasltUnusable,
      [&] {
        return error + "; needed by " + install.main.path + ", built for CUDA " + std::to_string(cuda_major) +
               cublas.words + "; " + LibraryPathWords(ctx.SubjectFolders());
      },
      [&] { return cublas.line; });
  return usable ? CublasLtVersionText(version()) : "";
}

// Whether the version that pip or apt has recorded lies in a range; what others wrote need be no version.
bool RecordLiesIn(const Context& ctx, const InstalledPackage& owner, const std::string& range) {
  try {
    return range.empty() || ctx.Satisfies(owner.version.substr(0, owner.version.find('-')), range);
  } catch (const std::invalid_argument&) {
    return false;
  }
}

// pip and apt go by what they have recorded. Where that is of another version than the files, a range would
// change nothing: the recorded version again, if it is promised.
std::string LineForRange(const Context& ctx, const std::string& range, const InstalledPackage& owner,
                         const std::string& version) {
  if (IsOfVersion(owner.version, version)) return RangeLine(owner, range);
  return RecordLiesIn(ctx, owner, range) ? ReinstallLine(owner) : "";
}

// Back to the recorded version, unless it is older than the files or not promised.
std::string LineForMismatch(const Context& ctx, const std::string& range, const InstalledPackage& owner,
                            const std::string& version) {
  const bool newer = RecordLiesIn(ctx, owner, ">=" + version);
  return newer && RecordLiesIn(ctx, owner, range) ? ReinstallLine(owner) : "";
}

void NoteMetadata(Context& ctx, const std::string& range, const CudnnInstall& install,
                  const InstalledPackage& owner, const std::string& version) {
  const std::string directory = DirectoryOf(install.main.path);
  const std::string libraries = "the libraries in " + directory + " have version " + version + ", but ";
  if (const std::string difference = HeaderDifference(directory, version); !difference.empty())
    ctx.Finding(kCudnnHeaderMismatch, libraries + difference);
  if (const std::string difference = PackageDifference(directory, version); !difference.empty())
    ctx.Finding(kCudnnPackageMismatch, libraries + difference, {LineForMismatch(ctx, range, owner, version)});
  std::string recorded;
  const auto add = [&](const char* manager, const std::vector<Package>& packages) {
    for (const Package& package : packages)
      if (!IsOfVersion(package.version, version))
        recorded += (recorded.empty() ? "" : " and ") + std::string(manager) + " records " +
                    install.main.path + " as a file of " + package.name + " " + package.version;
  };
  add("dpkg", CudnnDpkgPackagesOf({install.main.found, install.main.path}));
  add("rpm", RpmPackagesOf(ctx, install.main.path));
  if (!recorded.empty())
    ctx.Finding(kCudnnPackageMismatch, libraries + recorded, {LineForMismatch(ctx, range, owner, version)});
}

struct Version {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("cuDNN has the promised version in all its libraries, and fits the image's CUDA libraries")
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
    CudnnInstall install = InspectCudnn(contract.majors);
    CCI_ASSERT_TRUE(LoadCudnn(&install)) << install.main.error;
    const Identity identity = Identify(ctx, install);
    const std::string &version = identity.version, &range = contract.promise.range;
    CCI_ASSERT_FALSE(version.empty()) << install.main.path << " does not return its version";
    const InstalledPackage owner = OwnerOf(install);
    Judge(ctx, contract.promise.Kept(version), "cuDNN " + version + " is " + range, kCudnnOutsideContract,
          "cuDNN " + version + " found, " + range + " promised; " + install.main.path,
          [&] { return LineForRange(ctx, range, owner, version); });
    std::string toolkit;
    const bool fits = identity.cuda_major == 0 || FlavourFits(ctx, identity.cuda_major, &toolkit);
    JudgeFlavour(ctx, fits, install.main.path, FirstNumber(toolkit),
                 "cuDNN " + version + " (" + install.main.path + ") is built for CUDA " +
                     std::to_string(identity.cuda_major) + "; toolkit " + toolkit);
    const std::string cublaslt = fits ? JudgeCublasLt(ctx, install, identity.cuda_major) : "";
    JudgeGpuSupport(ctx, version, identity.cuda_major);
    NoteMetadata(ctx, range, install, owner, version);
    const bool recorded = IsOfVersion(owner.version, version);
    WarnOfKnownRegressions(ctx, version, cublaslt, recorded ? owner : InstalledPackage());
  }
};

CCI_REGISTER(Version, "version")

}  // namespace
}  // namespace cudnn_ci
