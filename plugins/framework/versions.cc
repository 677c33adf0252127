// framework.versions: what the metadata of the image's frameworks and of its cuDNN packages says goes
// together, the loader gives them no other cuDNN and what they leave it to find, and where there is a GPU its
// driver serves them. Imports nothing and needs no GPU.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <algorithm>
#include <set>

#include "base/path.h"
#include "base/text.h"
#include "common/cudnn_api.h"
#include "common/install_line.h"
#include "common/joined.h"
#include "common/judge.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
#include "common/overlap.h"
#include "framework/findings.h"
#include "framework/interpreter.h"
#include "framework/loaded.h"
#include "framework/needs.h"
#include "framework/rules.h"
#include "image/contents/cudnn_files.h"
#include "image/contents/recorded_libraries.h"
#include "image/packages/python_metadata.h"
#include "image/packages/record_conflicts.h"

namespace cudnn_ci {
namespace {

// Ten times what an interpreter takes on a cold disk.
constexpr double kSeconds = 40;

struct Wanted {
  CudnnRequirement cudnn;
  CudnnPackageInfo package;  // the Python package that meets it
};

// What is installed for a framework's requirement on cuDNN; none: it has none, or nothing is installed for
// it.
std::optional<Wanted> WantedBy(const FrameworkPackage& framework, const Answer& answer) {
  const auto requirement = RequirementOnCudnn(framework);
  if (!requirement) return {};
  const std::string name = "nvidia-cudnn-cu" + std::to_string(requirement->cuda_major);
  for (const CudnnPackageInfo& package : answer.cudnn_packages)
    if (package.name == name) return Wanted{*requirement, package};
  return {};
}

// A file of cuDNN's that opens others by name: LD_LIBRARY_PATH comes before its own folder then, however it
// was found itself, unless that stands in its DT_RPATH, as of libcudnn.so.9 from 9.26 on.
bool OpensItsOwn(const std::string& folder, const std::string& soname) {
  const ElfFile file(folder + "/" + soname);
  const std::vector<std::string> paths = file.RunPathIsFirst() ? file.RunPath() : std::vector<std::string>();
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return RealPath(path) == RealPath(folder); });
}

// The library of a package's cuDNN that comes from elsewhere, as the loader finds it: the graph library (the
// operators' before cuDNN 9), which states the version, or engines, which that one opens; empty: none does.
std::string HiddenBy(const CudnnPackageInfo& package, int major) {
  const std::vector<std::string> parts = CudnnPartNames(major);
  const bool own = OpensItsOwn(package.folder, CudnnSoname(major));
  for (const std::string& name : parts) {
    const bool opened = own ? name.starts_with("engines") : name == parts.front();
    const std::string part = CudnnSoname(major, name);
    if (!opened || (own && OpensItsOwn(package.folder, CudnnSoname(major, parts.front())))) continue;
    std::string found = ResolveLibrary(part, {package.folder});
    if (!found.empty() && DirectoryOf(RealPath(found)) != package.folder) return found;
  }
  return "";
}

void JudgeHidden(Context& ctx, const Framework& framework, const Answer& answer, const Wanted& wanted) {
  if (wanted.package.folder.empty()) return;
  const int major = CudaMajor(wanted.package.version);
  const std::string found = HiddenBy(wanted.package, major), file = RealPath(found);
  if (found.empty()) return;
  const std::string graph = CudnnSoname(major, CudnnPartNames(major).front());
  const std::string part = found.substr(found.rfind('/') + 1);
  const std::string version = VersionOfFiles(DirectoryOf(file), major);
  const std::string detail = NameOf(framework, answer) + ": cuDNN " +
                             (version.empty() ? "" : version + " in ") + FileAndEntry(found) + " hides " +
                             (part == graph ? "" : "the " + part + " that " + graph + " opens, from ") +
                             wanted.package.version + " in " + wanted.package.folder;
  const std::string unfit = WhyCudnnUnfit(framework, wanted.cudnn.version, version);
  const auto line = [&] { return LibraryPathLine({part}, wanted.package.folder, FoldersOfTheHarness(ctx)); };
  if (Judge(ctx, unfit.empty(), "the cuDNN that the loader finds first is one that it can use",
            kFrameworkCudnnUnfit, detail + "; it was built for " + wanted.cudnn.version + ": " + unfit, line))
    ctx.Finding(kFrameworkCudnnForeign, detail);  // another program of the image may mean that one
}

// What it opens when it first needs it. ONNX Runtime links what it cannot do without, and opens cuDNN, an
// extra of its package, by a name that stands nowhere as a whole.
std::vector<std::string> OpenedByName(const Framework& framework, const FrameworkPackage& package,
                                      const std::optional<Wanted>& wanted, const CudaLibraries& cuda) {
  if (framework.opens_by_name) return CudaLibrariesNamedIn(cuda, package.native);
  if (!wanted) return {};
  return {CudnnSoname(CudaMajor(wanted->package.version))};
}

// What puts it right that CUDA's libraries are nowhere; the sentence's end, and a line.
struct Cure {
  std::string words, line;
};

// "nvidia-cublas-cu12", but not "nvidia-curand".
bool NamesACuda(const std::string& package) {
  const std::size_t at = package.rfind("-cu");
  const std::string major = at == std::string::npos ? "" : package.substr(at + 3);
  return !major.empty() && major.find_first_not_of("0123456789") == std::string::npos;
}

// The extras by which a package requires what it needs for this CUDA: "cuda" and "cudnn".
std::set<std::string> ExtrasFor(const FrameworkPackage& package, int cuda) {
  std::set<std::string> extras;
  for (const std::string& text : package.requirements) {
    const std::string name = text.substr(0, text.find_first_of(" ;<>=~!["));
    const std::size_t extra = text.find("extra"), quote = text.find_first_of("'\"", extra);
    if (extra == std::string::npos || quote == std::string::npos) continue;
    const bool without_suffix = cuda >= 13 && !NamesACuda(name);
    if (!name.ends_with("-cu" + std::to_string(cuda)) && !without_suffix) continue;
    extras.insert(text.substr(quote + 1, text.find(text[quote], quote + 1) - quote - 1));
  }
  return extras;
}

// A package of cuDNN for another CUDA has the folder in which the one that is wanted would lie.
Cure CureForNeeds(const std::string& name, const FrameworkPackage& package, const Needs& needs, int cuda,
                  const Answer& answer) {
  const std::string wanted = "nvidia-cudnn-cu" + std::to_string(cuda);
  const CudnnPackageInfo* other = nullptr;
  for (const CudnnPackageInfo& one : answer.cudnn_packages) {
    if (one.name == wanted) other = nullptr;
    if (one.name == wanted) break;
    other = &one;
  }
  if (cuda == 0) return {};
  if (other && std::any_of(needs.names.begin(), needs.names.end(), IsCudnnLibrary))
    return {"; cuDNN for CUDA " + std::to_string(cuda) + " is missing too, and " + wanted +
                " would replace the files of " + other->name + " " + other->version +
                ": install the build of " + name +
                " for the CUDA of that package, or install it in a separate environment",
            ""};
  const std::set<std::string> extras = ExtrasFor(package, cuda);
  if (extras.empty()) return {};
  const InstalledPackage again = {Manager::kPip, package.distribution, package.version,
                                  PythonOf(DirectoryOf(DirectoryOf(package.origin)))};
  const std::vector<std::string> list(extras.begin(), extras.end());
  return {"; pip install '" + package.distribution + "[" + Join(list, ",") + "]==" + package.version + "'",
          ExtrasLine(again, list)};
}

// Of a framework that does not look into the packages beside it. What stands there alone, a program can load
// first; whether it does cannot be known here.
void JudgeNeeds(Context& ctx, const std::string& name, const FrameworkPackage& package, const Needs& needs,
                const Cure& cure) {
  if (needs.names.empty()) return;
  const std::string where = "; " + LibraryPathWords(ctx.SubjectFolders());
  ctx.Log(name + ": " + package.native + " needs " + Joined(needs.names));
  const bool there = Judge(ctx, needs.missing.empty(), "the libraries that " + name + " needs exist",
                           kFrameworkLibrariesMissing,
                           name + ": " + package.native + " needs " + Joined(needs.missing) +
                               ", found neither by the loader nor in a package" + where + cure.words,
                           [&] { return cure.line; });
  if (!needs.lacking.empty())
    ctx.Finding(kFrameworkCudnnAbsent,
                name + ": " + package.native + " needs " + Joined(needs.lacking) +
                    " for models with convolutions (such as Whisper's), found neither by the loader nor in a "
                    "package" +
                    where);
  if (there && !needs.hidden.empty())
    ctx.Finding(kFrameworkNeedsPreload, name + ": " + package.native + " needs " + Joined(needs.hidden) +
                                            ", found only in " + Joined(needs.folders) +
                                            ", where the loader does not look" + where);
}

// A driver serves every toolkit of its CUDA major and of older ones, whichever it came with. Without a GPU
// nothing is known of the one that the image will meet.
void JudgeDriver(Context& ctx, const std::string& name, int cuda) {
  const std::string served = ctx.Fact(CCI_FACT_DRIVER_CUDA), gpus = ctx.Fact(CCI_FACT_GPU_COUNT);
  if (cuda == 0 || served.empty() || gpus.empty() || gpus == "0") return;
  const std::string major = std::to_string(cuda),
                    floor = ctx.Compatibility(CCI_COMPATIBILITY_DRIVER_FLOOR + major);
  const std::string needed = floor.empty() ? ""
                                           : ", and CUDA " + major + " needs driver " + floor +
                                                 " or later (version facts as of " +
                                                 ctx.Compatibility(CCI_COMPATIBILITY_AS_OF) + ")";
  Judge(ctx, CudaMajor(served) >= cuda, "the driver supports CUDA " + major, kFrameworkDriverTooOld,
        name + " is built for CUDA " + major + ", but driver " + ctx.Fact(CCI_FACT_DRIVER_VERSION) +
            " supports at most CUDA " + served + needed);
}

// Who has replaced the files of the package for this CUDA major, and what is done about it; none: nobody has.
std::optional<ReplacedWheel> ReplacedCudnn(int cuda, const std::vector<CudnnPackageInfo>& packages) {
  const std::string prefix = "nvidia-cudnn-cu";
  for (const CudnnPackageInfo& right : packages)
    if (right.name == prefix + std::to_string(cuda) && !right.folder.empty())
      return FindReplacedWheel(right.folder + "/libcudnn.so", prefix, cuda);
  return {};
}

// What pip is told to put into the place of an older cuDNN: the release that the framework is pinned to, or
// any from the lowest one on of that major. Empty: something else lies in its package's folder, or the
// version is none that a package has. `line`: for a Dockerfile.
std::string PipForOlder(const Wanted& wanted, const std::vector<CudnnPackageInfo>& packages,
                        std::string* line) {
  const bool alone = std::count_if(packages.begin(), packages.end(), [&](const CudnnPackageInfo& p) {
                       return p.folder == wanted.package.folder;
                     }) == 1;
  const std::string& version = wanted.cudnn.version;
  const int major = CudaMajor(version);
  if (!alone || wanted.package.folder.empty() || major == 0) return "";
  const std::string &name = wanted.package.name, folder = wanted.package.folder;
  // Only a whole version, with the packager's number, is one that is known to exist.
  if (wanted.cudnn.pinned) {
    if (std::count(version.begin(), version.end(), '.') != 3) return "";
    *line = ReplaceLine(WheelIn(folder, name, version), {});
    return name + "==" + version;
  }
  const std::string next = std::to_string(major + 1);
  *line = RangeLine(WheelIn(folder, name, version), ">=" + version + " <" + next);
  return "'" + name + ">=" + version + ",<" + next + "'";
}

// Two distributions of one framework write the same files; the later one's are there.
void JudgeReplaced(Context& ctx, const std::string& name, const FrameworkPackage& package,
                   const CudaLibraries& cuda) {
  const std::string module = DirectoryOf(package.origin), site = DirectoryOf(module);
  const auto needs_cuda = [&](const Package& one) {
    return HasLibrary(one, [&](const std::string& library) { return cuda.Has(library); });
  };
  for (const ReplacedFiles& replaced : FindRecordConflicts(PythonPackagesIn(site)).replaced) {
    const std::string& file = replaced.files.front();
    if (file.compare(0, module.size() + 1, module + "/") != 0 || !needs_cuda(replaced.loser) ||
        needs_cuda(replaced.winner))
      continue;
    const InstalledPackage again = {Manager::kPip, replaced.loser.name, replaced.loser.version,
                                    PythonOf(site)};
    ctx.Finding(kFrameworkReplaced,
                name + ": " + replaced.winner.Text() + " has replaced files of " + replaced.loser.Text() +
                    ", such as " + file + "; pip uninstall -y " + replaced.winner.name +
                    "; pip install --force-reinstall --no-deps " + again.name + "==" + again.version,
                {ReplaceLine(again, {replaced.winner.name})});
  }
}

// Where no Python package has a cuDNN, as in an image that leaves it to the system, it gets the loader's.
void JudgeLoaders(Context& ctx, const Framework& framework, const FrameworkPackage& package,
                  const Answer& answer) {
  const auto required = RequirementOnCudnn(package);
  if (!required || required->optional || !answer.cudnn_packages.empty()) return;
  const int major = CudaMajor(required->version);
  const std::vector<std::string> run_path =
      package.native.empty() ? std::vector<std::string>() : ElfFile(package.native).RunPath();
  const std::string found = RealPath(ResolveLibrary(CudnnSoname(major), run_path));
  if (found.empty()) return;
  const std::string version = VersionOfFiles(DirectoryOf(found), major);
  const std::string unfit = WhyCudnnUnfit(framework, required->version, version);
  Judge(ctx, unfit.empty(), "the cuDNN that the loader finds is one that it can use", kFrameworkCudnnUnfit,
        NameOf(framework, answer) + " requires cuDNN " + required->version +
            ", no package of cuDNN is installed, and the loader finds " + found + ": " + unfit);
}

void JudgePackage(Context& ctx, const Framework& framework, const FrameworkPackage& package,
                  const Answer& answer) {
  const std::string name = NameOf(framework, answer);
  ctx.Log(name + " of " + package.origin + (package.cuda.empty() ? "" : ", CUDA " + package.cuda));
  const auto wanted = WantedBy(package, answer);
  const CudaLibraries libraries =
      LibrariesOfFrameworks([&ctx](const std::string& key) { return ctx.Compatibility(key); });
  const Needs needs =
      package.native.empty()
          ? Needs()
          : NeedsOf(libraries, package.native, OpenedByName(framework, package, wanted, libraries),
                    answer.executable, answer.library_folders, framework.opens_by_name);
  // What is asked for by an extra was asked for if it is there.
  int cuda = wanted ? wanted->cudnn.cuda_major : CudaMajorOf(package);
  if (cuda == 0) cuda = CudaMajorOfLibraries(needs.names);
  JudgeDriver(ctx, name, cuda);
  JudgeReplaced(ctx, name, package, libraries);
  JudgeNeeds(ctx, name, package, needs,
             needs.missing.empty() ? Cure() : CureForNeeds(name, package, needs, cuda, answer));
  const std::string mismatch = framework.takes_package ? WhyPackagesUnfit(cuda, answer.cudnn_packages) : "";
  const auto replaced = mismatch.empty() ? std::nullopt : ReplacedCudnn(cuda, answer.cudnn_packages);
  Judge(ctx, mismatch.empty(), name + " has a cuDNN for its CUDA major", kFrameworkCudaMismatch,
        name + " is built for CUDA " + std::to_string(cuda) + "; " + mismatch +
            (replaced ? replaced->overlap.words : ""),
        [&] { return replaced ? replaced->overlap.line : ""; });
  if (framework.takes_package && !wanted) JudgeLoaders(ctx, framework, package, answer);
  if (!framework.takes_package || !wanted || !mismatch.empty()) return;
  const std::string unfit = WhyCudnnUnfit(framework, wanted->cudnn.version, wanted->package.version);
  std::string line;
  const std::string pip = unfit.empty() ? "" : PipForOlder(*wanted, answer.cudnn_packages, &line);
  Judge(
      ctx, unfit.empty(), name + " has a cuDNN that it can use", kFrameworkCudnnUnfit,
      [&] {
        return name + " requires cuDNN " + wanted->cudnn.version + ", but " + wanted->package.name + " " +
               wanted->package.version + " is installed in " + wanted->package.folder + ": " + unfit +
               (pip.empty() ? "" : "; pip install --no-deps " + pip);
      },
      [&] { return line; });
  JudgeHidden(ctx, framework, answer, *wanted);
}

struct Versions {
  using Params = Interpreter;
  static void Describe(Schema<Params>& s) {
    s.Summary("the image's frameworks fit the cuDNN packages installed with them, by their metadata")
        .Devices(CCI_DEVICES_NONE);
    DescribeInterpreter(s, kSeconds);
  }
  static void Validate(const Params& p, Problems& problems) { ValidateInterpreter(p, problems); }
  static void Run(Context& ctx, const Params& p) {
    const Asked asked = Ask(ctx, p, "versions", "{}", {});
    const Answer& answer = asked.answer;
    if (asked.end.timed_out || !answer.ended) {
      ctx.Finding(kFrameworkPythonUnusable,
                  asked.python + " " + HowEnded(asked.end) + " while it read the metadata of its packages");
      return;
    }
    const std::vector<Framework> frameworks =
        KnownFrameworks([&ctx](const std::string& key) { return ctx.Compatibility(key); });
    std::string names;
    for (const Framework& framework : frameworks) names += (names.empty() ? "" : ", ") + framework.name;
    if (answer.packages.empty())
      ctx.Skip(CCI_SKIP_ABSENT, "one of " + names + " in " + asked.python,
               "none for Python " + answer.python);
    for (const Framework& framework : frameworks) {
      const auto package = answer.packages.find(framework.name);
      if (package != answer.packages.end()) JudgePackage(ctx, framework, package->second, answer);
    }
  }
};

CCI_REGISTER(Versions, "versions")

}  // namespace
}  // namespace cudnn_ci
