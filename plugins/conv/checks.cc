// conv.forward, conv.backward_data and conv.backward_filter: their parameters, and which of them make no
// sense.
#include <cudnn_ci/check.hpp>

#include "common/share.h"
#include "conv/convolution_case.h"
#include "conv/describe.h"
#include "conv/legacy/algorithms.h"
#include "conv/needed_api.h"

namespace cudnn_ci {
namespace {

template <Operation kOperation>
struct Convolution {
  using Params = ConvolutionParams;

  static void Describe(Schema<Params>& s) {
    DescribeConvolution(s, Summary()).Shareable().Concurrent();
    s.Param("api", &Params::api).OneOf({"legacy", "graph"}).Default("legacy").Summary("API of cuDNN");
    s.Param("dtype", &Params::dtype)
        .OneOf({"float32", "float16", "bfloat16", "float64", "int8", "float8_e4m3", "float8_e5m2"})
        .Summary("type of all tensors; sums are in float32 (of float64 in float64, of int8 in int32)");
    s.Param("layout", &Params::layout)
        .OneOf({"nchw", "nhwc"})
        .Default("nchw")
        .Summary("memory order of all tensors");
    auto algo = s.Param("algo", &Params::algo);
    if constexpr (kOperation == Operation::kForward)
      algo.OneOf({"auto", "find", "every", "heuristics_a", "heuristics_b", "fallback", "implicit_gemm",
                  "implicit_precomp_gemm", "gemm", "fft", "fft_tiling", "winograd_nonfused"});
    else if constexpr (kOperation == Operation::kBackwardData)
      algo.OneOf({"auto", "find", "every", "heuristics_a", "heuristics_b", "fallback", "algo_0", "algo_1",
                  "fft", "fft_tiling", "winograd_nonfused"});
    else
      algo.OneOf({"auto", "find", "every", "heuristics_a", "heuristics_b", "fallback", "algo_0", "algo_1",
                  "algo_3", "fft", "fft_tiling", "winograd_nonfused"});
    algo.Default("auto").Summary(
        "algorithm; auto is the first that cuDNN proposes, find the one that cuDNN finds by running them; "
        "every runs all of them; heuristics_a, heuristics_b and fallback are lists of the graph API");
    s.Param("math", &Params::math)
        .OneOf({"default", "fma", "tensor"})
        .Default("default")
        .Summary(
            "math type; with fma the data shows a shorter type (float32, float64) or sums in 16 bits "
            "(float16, bfloat16; legacy API, forward), and engines of the graph API that use a shorter type "
            "by their notes are left out");
    DescribeShape(s);
  }

  static void Validate(const Params& p, Problems& problems) {
    ValidateShape(p, kOperation, problems);
    ValidateApi(p, problems);
  }

  static void Run(Context& ctx, const Params& p) {
    RequireApi(ctx, p.api);
    KeepToShare(ctx);
    RunConvolution(ctx, p, kOperation);
  }

 private:
  // What an API does not have.
  static void ValidateApi(const Params& p, Problems& problems) {
    if (p.dtype == "int8" && kOperation != Operation::kForward)
      problems.Add("dtype", "int8 has no gradients");
    const bool both = p.algo == "auto" || p.algo == "every";
    if (p.api == kGraphApi) {
      if (!both && !IsSweep(p.algo)) problems.Add("algo", "is an algorithm of the legacy API");
      if (p.math == "tensor") problems.Add("math", "is a math type of the legacy API");
      return;
    }
    if (!both && IsSweep(p.algo)) problems.Add("algo", "is a list of the graph API");
    if (p.dtype.compare(0, 6, "float8") == 0) problems.Add("dtype", "needs the graph API");
  }

  static const char* Summary() {
    if (kOperation == Operation::kBackwardData)
      return "every element of the gradient of a convolution's input is right, and nothing else is written";
    if (kOperation == Operation::kBackwardFilter)
      return "every element of the gradient of a convolution's filter is right, and nothing else is written";
    return "every element of the result of a forward convolution is right, and nothing else is written";
  }
};

using Forward = Convolution<Operation::kForward>;
using BackwardData = Convolution<Operation::kBackwardData>;
using BackwardFilter = Convolution<Operation::kBackwardFilter>;

CCI_REGISTER(Forward, "forward")
CCI_REGISTER(BackwardData, "backward_data")
CCI_REGISTER(BackwardFilter, "backward_filter")

}  // namespace
}  // namespace cudnn_ci
