// nccl.collective: its parameters, and which of them make no sense.
#include <cudnn_ci/check.hpp>

#include <cstdint>
#include <string>

#include "compute/compute_case.h"
#include "nccl/collective_data.h"
#include "nccl/collective_problem.h"

namespace cudnn_ci {
namespace {

// More than any GPU holds.
constexpr double kMostBytes = 0x1p38;

struct CollectiveParams {
  std::string collective, dtype, reduction, place;
  std::int64_t count = 1, shift = 0;

  // The values that Describe allows.
  CollectiveSpec Spec() const {
    CollectiveSpec spec;
    spec.SetCollective(collective);
    spec.type = FindNcclType(dtype);
    spec.reduction = ReductionFrom(reduction);
    spec.count = count;
    spec.in_place = place == "in";
    spec.shift = shift;
    return spec;
  }
};

struct OneRank {
  using Params = CollectiveParams;

  static void Describe(Schema<Params>& s) {
    s.Summary("every element of a collective of one rank is right, and nothing else is written")
        .Layer(CCI_LAYER_FRAMEWORK)
        .Devices(CCI_DEVICES_ONE)
        .PerSubject()
        .SecondOpinion()
        .Requires("nccl.init")
        .TimeoutSeconds(60)
        .Shareable();
    s.Param("collective", &Params::collective)
        .OneOf({"all_reduce", "reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", "gather",
                "scatter", "send_receive"})
        .Summary("collective; send_receive is an all-to-all of sends and receives in one group");
    s.Param("dtype", &Params::dtype)
        .OneOf({"int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
                "float64", "float8_e4m3", "float8_e5m2"})
        .Summary("type of all elements");
    s.Param("reduction", &Params::reduction)
        .OneOf({"none", "sum", "product", "min", "max", "average"})
        .Default("none")
        .Summary("reduction of all_reduce, reduce and reduce_scatter; all others have none");
    s.Param("count", &Params::count)
        .Range(0, std::int64_t{1} << 37)
        .Summary("elements of a chunk, as passed to the call");
    s.Param("place", &Params::place)
        .OneOf({"out", "in"})
        .Default("out")
        .Summary("in: the result replaces the data");
    s.Param("shift", &Params::shift)
        .Range(0, 64)
        .Default(0)
        .Summary("elements by which buffers are shifted from a multiple of 256 bytes");
  }

  static void Validate(const Params& p, Problems& problems) {
    const CollectiveSpec spec = p.Spec();
    if (spec.Reduces() && spec.reduction == Reduction::kNone)
      problems.Add("reduction", p.collective + " needs one: sum, product, min, max or average");
    else if (!spec.Reduces() && spec.reduction != Reduction::kNone)
      problems.Add("reduction", p.collective + " copies and reduces nothing");
    // Measured with 2.27.7, 2.28.9, 2.29.7, 2.30.7 and 2.32.3, which answer ncclInvalidArgument.
    if (spec.reduction == Reduction::kAverage && p.dtype.starts_with("float8"))
      problems.Add("reduction", "NCCL has no averages of 8-bit numbers");
    if (spec.in_place && !spec.CanBeInPlace()) problems.Add("place", p.collective + " cannot be in place");
    if (spec.MostBytes() > kMostBytes) problems.Add("count", "makes a buffer of more than 2^38 bytes");
    if (const std::string inexact = InexactBecause(spec); !inexact.empty())
      problems.Add("reduction", "makes " + inexact);
  }

  static void Run(Context& ctx, const Params& p) {
    CollectiveProblem problem(p.Spec());
    RunComputeCase(ctx, &problem);
  }
};

CCI_REGISTER(OneRank, "collective")

}  // namespace
}  // namespace cudnn_ci
