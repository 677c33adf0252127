// gemm.grouped: its parameters, and which of them make no sense.
#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "common/share.h"
#include "compute/compute_case.h"
#include "gemm/grouped_problem.h"

namespace cudnn_ci {
namespace {

struct GroupedParams {
  std::vector<std::string> groups;
  std::string dtype, math, trans;

  // Adds what is wrong with the groups, if anything is.
  GroupedSpec Spec(Problems* problems) const {
    GroupedSpec spec;
    spec.type = DataTypeFrom(dtype);
    spec.tf32 = math == "tf32";
    spec.transpose_a = trans[0] == 't', spec.transpose_b = trans[1] == 't';
    for (const std::string& group : groups)
      if (const std::string wrong = spec.Add(group); !wrong.empty() && problems)
        problems->Add("groups", "\"" + group + "\" " + wrong);
    if (const std::string wrong = spec.Problem(); spec.groups.size() == groups.size() && !wrong.empty())
      if (problems) problems->Add("groups", wrong);
    return spec;
  }
};

struct Grouped {
  using Params = GroupedParams;

  static void Describe(Schema<Params>& s) {
    s.Summary(
         "every element of matrix products of several sizes in one call is right, and nothing else is written")
        .Layer(CCI_LAYER_CONVOLUTION)
        .Devices(CCI_DEVICES_ONE)
        .PerSubject()
        .SecondOpinion()
        .Requires("toolkit.gemm")
        .TimeoutSeconds(60)
        .Shareable()
        .Concurrent();
    s.Param("groups", &Params::groups)
        .Summary(
            "groups: rows, columns and products in each sum, then the number of products and what differs, "
            "such as 17x19x23, 64x48x32*2 nt alpha=2 beta=-1 padding=3; sizes and numbers may be 0");
    s.Param("dtype", &Params::dtype)
        .OneOf({"float64", "float32", "float16", "bfloat16"})
        .Summary("type of all matrices");
    s.Param("math", &Params::math)
        .OneOf({"default", "tf32"})
        .Default("default")
        .Summary("with default, the data of float32 shows a shorter type; tf32 allows TF32");
    s.Param("trans", &Params::trans)
        .OneOf({"nn", "tn", "nt", "tt"})
        .Default("tn")
        .Summary("whether A and B are transposed in groups that do not say it");
  }

  static void Validate(const Params& p, Problems& problems) {
    if (p.math == "tf32" && p.dtype != "float32") problems.Add("math", "tf32 is only for float32");
    p.Spec(&problems);
  }

  static void Run(Context& ctx, const Params& p) {
    KeepToShare(ctx);
    GroupedProblem problem(p.Spec(nullptr));
    RunComputeCase(ctx, &problem);
  }
};

CCI_REGISTER(Grouped, "grouped")

}  // namespace
}  // namespace cudnn_ci
