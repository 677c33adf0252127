// kernels.covered: which packages of the environment bring kernels of their own that no adapter asks.
#include <cudnn_ci/check.hpp>

#include <algorithm>

#include "base/package_names.h"
#include "common/interpreter.h"
#include "kernels/findings.h"
#include "kernels/runner_run.h"

namespace cudnn_ci {
namespace {

struct Covered {
  using Params = Interpreter;
  static void Describe(Schema<Params>& s) {
    s.Summary("lists packages of the environment with kernels that no adapter tests").Shareable();
    DescribeInterpreter(s, 60);
  }
  static void Validate(const Params& p, Problems& problems) { ValidateInterpreter(p, problems); }

  // Why a package is not covered; empty: it is.
  static std::string GapOf(const Context& ctx, const std::vector<Adapter>& adapters,
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
    const std::string python = RunnersPython(ctx, p.python);
    const std::vector<Adapter> adapters = AdaptersOf(ctx);
    std::vector<std::string> known;
    for (const Adapter& adapter : adapters)
      known.insert(known.end(), adapter.distributions.begin(), adapter.distributions.end());
    std::string covered, not_covered;
    const RunnerAnswer look = ListPackages(ctx, python, known, true, p.timeout_s);
    for (const RunnerPackage& package : look.packages) {
      const std::string why = GapOf(ctx, adapters, package), name = package.name + " " + package.version;
      std::string& list = why.empty() ? covered : not_covered;
      list += (list.empty() ? "" : ", ") + name + (why.empty() ? "" : " (" + why + ")");
    }
    if (look.cut > 0)
      not_covered +=
          (not_covered.empty() ? "" : ", ") + std::to_string(look.cut) + " more packages, not checked";
    ctx.Attach("covered.txt", "text/plain", "covered: " + covered + "\nnot covered: " + not_covered + "\n");
    if (!not_covered.empty()) ctx.Finding(kKernelsNotCovered, not_covered);
    if (covered.empty() && not_covered.empty())
      ctx.Skip(CCI_SKIP_ABSENT, "a package with kernels in " + python, "none");
  }
};

CCI_REGISTER(Covered, "covered")

}  // namespace
}  // namespace cudnn_ci
