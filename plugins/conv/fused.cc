// conv.fused: a forward convolution whose sums are not stored as they are, but biased, rectified or as
// another type, by the same kernel.
#include <cudnn_ci/check.hpp>

#include "common/share.h"
#include "conv/convolution_case.h"
#include "conv/describe.h"
#include "conv/needed_api.h"

namespace cudnn_ci {
namespace {

struct Fused {
  using Params = ConvolutionParams;

  static void Describe(Schema<Params>& s) {
    DescribeConvolution(
        s, "every element of a convolution with bias and activation is right, and nothing else is written")
        .Shareable()
        .Concurrent();
    s.Param("api", &Params::api).OneOf({kGraphApi}).Default(kGraphApi).Summary("API of cuDNN");
    s.Param("dtype", &Params::dtype)
        .OneOf({"float32", "float16", "bfloat16", "float64", "int8", "float8_e4m3", "float8_e5m2"})
        .Summary("type of the inputs and of the bias; with an 8-bit type the bias is float32");
    s.Param("output_dtype", &Params::output_dtype)
        .OneOf({kSameAsInputs, "float32", "int32"})
        .Default(kSameAsInputs)
        .Summary("type of the result: that of the inputs, or a wider one");
    s.Param("epilogue", &Params::epilogue)
        .OneOf({"none", "bias", "relu", "bias_relu"})
        .Default("bias_relu")
        .Summary("operations on each sum before it is stored");
    s.Param("layout", &Params::layout)
        .OneOf({"nchw", "nhwc"})
        .Default("nhwc")
        .Summary("memory order of all tensors");
    s.Param("algo", &Params::algo)
        .OneOf({"auto", "every", "heuristics_a", "heuristics_b", "fallback"})
        .Default("auto")
        .Summary("engine, as in conv.forward");
    s.Param("math", &Params::math)
        .OneOf({"default", "fma"})
        .Default("default")
        .Summary("math type, as in conv.forward");
    DescribeShape(s);
  }

  static void Validate(const Params& p, Problems& problems) {
    ValidateShape(p, Operation::kForward, problems);
    if (p.output_dtype == "int32" && p.dtype != "int8")
      problems.Add("output_dtype", "int32 is only for int8 inputs");
    if (p.output_dtype == "float32" && (p.dtype == "float32" || p.dtype == "float64"))
      problems.Add("output_dtype", "float32 is not wider than " + p.dtype);
    if (p.epilogue == "none" && p.output_dtype == kSameAsInputs)
      problems.Add("epilogue", "none with a result of the inputs' type is tested by conv.forward");
  }

  static void Run(Context& ctx, const Params& p) {
    KeepToShare(ctx);
    RunConvolution(ctx, p, Operation::kForward);
  }
};

CCI_REGISTER(Fused, "fused")

}  // namespace
}  // namespace cudnn_ci
