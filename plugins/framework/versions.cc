// framework.versions: what the metadata of the image's frameworks and of its cuDNN packages says goes
// together, and the loader gives them no other cuDNN. Imports nothing and needs no GPU.
#include <cudnn_ci/check.hpp>

#include "common/cudnn_api.h"
#include "common/cudnn_files.h"
#include "common/judge.h"
#include "common/loader_path.h"
#include "framework/findings.h"
#include "framework/interpreter.h"
#include "framework/loaded.h"
#include "framework/rules.h"

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

// cuDNN's main library opens its parts by name, and LD_LIBRARY_PATH comes before its own folder then, however
// it was found itself. The graph library (the operators' before cuDNN 9) is the one that states the version.
void JudgeHidden(Context& ctx, const Framework& framework, const Answer& answer, const Wanted& wanted) {
  if (wanted.package.folder.empty()) return;
  const int major = CudaMajor(wanted.package.version);
  const std::string part = CudnnSoname(major, CudnnPartNames(major).front());
  const std::string found = ResolveLibrary(part, {wanted.package.folder}), file = RealPath(found);
  if (file.empty() || DirectoryOf(file) == wanted.package.folder) return;
  const std::string version = CudnnVersionOf(ElfFile(file));
  const std::string detail = NameOf(framework, answer) + ": cuDNN " +
                             (version.empty() ? "" : version + " of ") + FileAndEntry(found) + " hides " +
                             wanted.package.version + " of " + wanted.package.folder;
  const std::string unfit = WhyCudnnUnfit(framework, wanted.cudnn.version, version);
  if (Judge(ctx, unfit.empty(), "the cuDNN that the loader finds first is one it can use",
            kFrameworkCudnnUnfit, detail + "; it was built for " + wanted.cudnn.version + ": " + unfit))
    ctx.Finding(kFrameworkCudnnForeign, detail);
}

void JudgePackage(Context& ctx, const Framework& framework, const FrameworkPackage& package,
                  const Answer& answer) {
  const std::string name = NameOf(framework, answer);
  ctx.Log(name + " of " + package.origin + (package.cuda.empty() ? "" : ", CUDA " + package.cuda));
  const auto wanted = WantedBy(package, answer);
  // What is asked for by an extra was asked for if it is there.
  const int cuda = wanted ? wanted->cudnn.cuda_major : CudaMajorOf(package);
  const std::string mismatch = framework.takes_package ? WhyPackagesUnfit(cuda, answer.cudnn_packages) : "";
  Judge(ctx, mismatch.empty(), name + " has a cuDNN for its CUDA major", kFrameworkCudaMismatch,
        name + " is built for CUDA " + std::to_string(cuda) + "; " + mismatch);
  if (!framework.takes_package || !wanted || !mismatch.empty()) return;
  const std::string unfit = WhyCudnnUnfit(framework, wanted->cudnn.version, wanted->package.version);
  Judge(ctx, unfit.empty(), name + " has a cuDNN that it can use", kFrameworkCudnnUnfit, [&] {
    return name + " asks for cuDNN " + wanted->cudnn.version + "; " + wanted->package.name + " " +
           wanted->package.version + " is installed in " + wanted->package.folder + ": " + unfit;
  });
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
    std::string names;
    for (const Framework* framework : kFrameworks)
      names += (names.empty() ? "" : ", ") + std::string(framework->name);
    if (answer.packages.empty())
      ctx.Skip(CCI_SKIP_ABSENT, "one of " + names + " in " + asked.python,
               "none for Python " + answer.python);
    for (const Framework* framework : kFrameworks) {
      const auto package = answer.packages.find(framework->name);
      if (package != answer.packages.end()) JudgePackage(ctx, *framework, package->second, answer);
    }
  }
};

CCI_REGISTER(Versions, "versions")

}  // namespace
}  // namespace cudnn_ci
