// framework.versions: what the metadata of the image's frameworks and of its cuDNN packages says goes
// together, the loader gives them no other cuDNN and what they leave it to find, and where there is a GPU its
// driver serves them. Imports nothing and needs no GPU.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <algorithm>

#include "base/path.h"
#include "common/cudnn_api.h"
#include "common/install_line.h"
#include "common/joined.h"
#include "common/judge.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
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
    const std::string found = ResolveLibrary(part, {package.folder});
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
                             (version.empty() ? "" : version + " of ") + FileAndEntry(found) + " hides " +
                             (part == graph ? "" : "the " + part + " that " + graph + " opens, of ") +
                             wanted.package.version + " of " + wanted.package.folder;
  const std::string unfit = WhyCudnnUnfit(framework, wanted.cudnn.version, version);
  const auto line = [&] { return LibraryPathLine({part}, wanted.package.folder, FoldersOfTheHarness(ctx)); };
  if (Judge(ctx, unfit.empty(), "the cuDNN that the loader finds first is one it can use",
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

// Of a framework that does not look into the packages beside it. What stands there alone, a program can load
// first; whether it does cannot be known here.
void JudgeNeeds(Context& ctx, const std::string& name, const FrameworkPackage& package, const Needs& needs) {
  if (needs.names.empty()) return;
  const std::string where = "; LD_LIBRARY_PATH='" + Environment("LD_LIBRARY_PATH") + "'";
  ctx.Log(name + ": " + package.native + " needs " + Joined(needs.names));
  const bool there = Judge(ctx, needs.missing.empty(), "the libraries that " + name + " needs are there",
                           kFrameworkLibrariesMissing,
                           name + ": " + package.native + " needs " + Joined(needs.missing) +
                               ", which neither the loader finds nor a package has" + where);
  if (!needs.lacking.empty())
    ctx.Finding(kFrameworkCudnnAbsent,
                name + ": " + package.native + " needs " + Joined(needs.lacking) +
                    " for models with convolutions (such as Whisper's), which neither the loader finds "
                    "nor a package has" +
                    where);
  if (there && !needs.hidden.empty())
    ctx.Finding(kFrameworkNeedsPreload, name + ": " + package.native + " needs " + Joined(needs.hidden) +
                                            ", found in " + Joined(needs.folders) +
                                            " alone, where the loader does not look" + where);
}

// A driver serves every toolkit of its CUDA major and of older ones, whichever it came with. Without a GPU
// nothing is known of the one that the image will meet.
void JudgeDriver(Context& ctx, const std::string& name, int cuda) {
  const std::string served = ctx.Fact(CCI_FACT_DRIVER_CUDA), gpus = ctx.Fact(CCI_FACT_GPU_COUNT);
  if (cuda == 0 || served.empty() || gpus.empty() || gpus == "0") return;
  const std::string major = std::to_string(cuda),
                    floor = ctx.Compatibility(CCI_COMPATIBILITY_DRIVER_FLOOR + major);
  const std::string needed = floor.empty() ? ""
                                           : ", and CUDA " + major + " needs one from " + floor +
                                                 " on (version facts as of " +
                                                 ctx.Compatibility(CCI_COMPATIBILITY_AS_OF) + ")";
  Judge(ctx, CudaMajor(served) >= cuda, "the driver serves CUDA " + major, kFrameworkDriverTooOld,
        name + " is built for CUDA " + major + "; the driver " + ctx.Fact(CCI_FACT_DRIVER_VERSION) +
            " serves CUDA " + served + " at most" + needed);
}

// The package for this CUDA major once more, where another one has replaced its files.
std::string LineForReplaced(int cuda, const std::vector<CudnnPackageInfo>& packages) {
  const std::string name = "nvidia-cudnn-cu" + std::to_string(cuda);
  std::string line;
  for (const CudnnPackageInfo& right : packages) {
    if (right.name != name) continue;
    std::vector<std::string> others;
    for (const CudnnPackageInfo& other : packages)
      if (other.name != name && other.folder == right.folder) others.push_back(other.name);
    if (!others.empty() && !right.folder.empty())
      line = ReplaceLine(WheelIn(right.folder, right.name, right.version), others);
  }
  return line;
}

// The release that the framework asks for, where nothing else lies in its package's folder. Only a whole
// version, with the packager's number, is one that is known to exist.
bool IsExactRelease(const Wanted& wanted, const std::vector<CudnnPackageInfo>& packages) {
  const bool alone = std::count_if(packages.begin(), packages.end(), [&](const CudnnPackageInfo& p) {
                       return p.folder == wanted.package.folder;
                     }) == 1;
  const std::string& version = wanted.cudnn.version;
  return alone && !wanted.package.folder.empty() && std::count(version.begin(), version.end(), '.') == 3;
}

std::string LineForOlder(const Wanted& wanted, const std::vector<CudnnPackageInfo>& packages) {
  if (!IsExactRelease(wanted, packages)) return "";
  return ReplaceLine(WheelIn(wanted.package.folder, wanted.package.name, wanted.cudnn.version), {});
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
  JudgeNeeds(ctx, name, package, needs);
  const std::string mismatch = framework.takes_package ? WhyPackagesUnfit(cuda, answer.cudnn_packages) : "";
  Judge(ctx, mismatch.empty(), name + " has a cuDNN for its CUDA major", kFrameworkCudaMismatch,
        name + " is built for CUDA " + std::to_string(cuda) + "; " + mismatch,
        [&] { return LineForReplaced(cuda, answer.cudnn_packages); });
  if (!framework.takes_package || !wanted || !mismatch.empty()) return;
  const std::string unfit = WhyCudnnUnfit(framework, wanted->cudnn.version, wanted->package.version);
  Judge(
      ctx, unfit.empty(), name + " has a cuDNN that it can use", kFrameworkCudnnUnfit,
      [&] {
        return name + " asks for cuDNN " + wanted->cudnn.version + "; " + wanted->package.name + " " +
               wanted->package.version + " is installed in " + wanted->package.folder + ": " + unfit +
               (IsExactRelease(*wanted, answer.cudnn_packages)
                    ? "; pip install --no-deps " + wanted->package.name + "==" + wanted->cudnn.version
                    : "");
      },
      [&] { return LineForOlder(*wanted, answer.cudnn_packages); });
  JudgeHidden(ctx, framework, answer, *wanted);
}

struct Versions {
  using Params = Interpreter;
  static void Describe(Schema<Params>& s) {
    s.Summary("the image's frameworks and the cuDNN packages beside them go together, by their metadata")
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
