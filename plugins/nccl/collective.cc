// nccl.collective: its parameters, and which of them make no sense.
#include <cudnn_ci/check.hpp>

#include <cstdint>
#include <string>

#include "compute/compute_case.h"
#include "nccl/collective_params.h"
#include "nccl/collective_problem.h"

namespace cudnn_ci {
namespace {

struct OneRank {
  using Params = CollectiveParams;

  static void Describe(Schema<Params>& s) {
    s.Summary("a collective of one rank is right, all of it, and touches nothing else")
        .Layer(CCI_LAYER_FRAMEWORK)
        .Devices(CCI_DEVICES_ONE)
        .PerSubject()
        .SecondOpinion()
        .Requires("nccl.init")
        .TimeoutSeconds(60)
        .Shareable();
    DescribeCollective(s);
  }

  static void Validate(const Params& p, Problems& problems) { ValidateCollective(p, 1, problems); }

  static void Run(Context& ctx, const Params& p) {
    CollectiveProblem problem(p.Spec());
    RunComputeCase(ctx, &problem);
  }
};

CCI_REGISTER(OneRank, "collective")

}  // namespace
}  // namespace cudnn_ci
