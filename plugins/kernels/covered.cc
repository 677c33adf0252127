// kernels.covered: which packages of the environment bring kernels of their own that no adapter asks.
#include <cudnn_ci/check.hpp>

#include <algorithm>

#include "common/interpreter.h"
#include "common/judge.h"
#include "common/program.h"
#include "kernels/findings.h"
#include "kernels/job.h"
#include "kernels/runner_run.h"

namespace cudnn_ci {
namespace {

struct Covered {
  struct Params {
    std::string python;
    double timeout_s = 0;
  };
  static void Describe(Schema<Params>& s) {
    s.Summary("which packages of the environment bring kernels that no adapter asks")
        .Layer(CCI_LAYER_FRAMEWORK)
        .PerSubject()
        .Shareable()
        .TimeoutSeconds(75);
    s.Param("python", &Params::python)
        .Summary("the interpreter, by path or by PATH; auto: the subject's, else the first python3 of PATH")
        .Default(kAutoPython);
    s.Param("timeout_s", &Params::timeout_s)
        .Summary("seconds that the interpreter may take; less than the entry's own")
        .Default(60.0);
  }
  static void Validate(const Params& p, Problems& problems) {
    if (p.python.empty()) problems.Add("python", "the interpreter's name is empty; leave it out instead");
    if (const std::string why = ProblemOfSeconds(p.timeout_s); !why.empty()) problems.Add("timeout_s", why);
  }

  // Why a package is not covered; empty: it is.
  static std::string WhyNot(const Context& ctx, const std::vector<Adapter>& adapters,
                            const RunnerPackage& package) {
    for (const Adapter& adapter : adapters) {
      const auto& names = adapter.distributions;
      if (std::find(names.begin(), names.end(), package.name) == names.end()) continue;
      if (ctx.Satisfies(NumbersOf(package.version), adapter.versions)) return "";
      return "its adapter is for " + adapter.versions;
    }
    return "no adapter";
  }

  static void Run(Context& ctx, const Params& p) {
    const std::string python = RunnersPython(ctx, p.python), folder = ctx.ScratchDir() + "/look";
    const std::vector<Adapter> adapters = AdaptersOf(ctx);
    std::vector<std::string> known;
    for (const Adapter& adapter : adapters)
      known.insert(known.end(), adapter.distributions.begin(), adapter.distributions.end());
    const RunnerRun run = RunRunner(ctx, python, folder, WriteLookJob(folder, known, true), p.timeout_s);
    if (!Judge(ctx, run.answer.ended && run.end.exit_status == 0, "its packages can be listed",
               kKernelsPythonUnusable,
               [&] { return python + " " + HowEnded(run.end) + "; " + LastLine(run.end.output); }))
      return;
    std::string covered, not_covered;
    for (const RunnerPackage& package : run.answer.packages) {
      const std::string why = WhyNot(ctx, adapters, package), name = package.name + " " + package.version;
      std::string& list = why.empty() ? covered : not_covered;
      list += (list.empty() ? "" : ", ") + name + (why.empty() ? "" : " (" + why + ")");
    }
    ctx.Attach("covered.txt", "text/plain", "covered: " + covered + "\nnot covered: " + not_covered + "\n");
    if (!not_covered.empty()) ctx.Finding(kKernelsNotCovered, not_covered);
    if (covered.empty() && not_covered.empty())
      ctx.Skip(CCI_SKIP_ABSENT, "a package that brings kernels in " + python, "none");
  }
};

CCI_REGISTER(Covered, "covered")

}  // namespace
}  // namespace cudnn_ci
