// conv.random: a convolution that nobody thought of, drawn from a seed and judged like any other.
#include <cudnn_ci/check.hpp>

#include <limits>

#include "common/share.h"
#include "conv/convolution_case.h"
#include "conv/describe.h"
#include "conv/needed_api.h"
#include "conv/random_draw.h"

namespace cudnn_ci {
namespace {

struct RandomParams {
  std::int64_t seed = 0, draw = 0;
};

ConvolutionParams ParamsOf(const Draw& draw) {
  ConvolutionParams p;
  p.api = draw.api, p.dtype = draw.dtype, p.layout = draw.layout, p.math = draw.math;
  p.algo = "auto", p.normal = true;
  p.x = draw.shape.x, p.w = draw.shape.w, p.pad = draw.shape.pad;
  p.stride = draw.shape.stride, p.dilation = draw.shape.dilation, p.groups = draw.shape.groups;
  p.pad_after = draw.shape.pad_after.empty() ? std::vector<std::int64_t>{kSameAsPad} : draw.shape.pad_after;
  return p;
}

struct Random {
  using Params = RandomParams;

  static void Describe(Schema<Params>& s) {
    DescribeConvolution(s, "every element of a random convolution is right, and nothing else is written")
        .Shareable()
        .Concurrent();
    s.Param("seed", &Params::seed)
        .Range(0, std::numeric_limits<std::int32_t>::max())
        .Default(1)
        .Summary("seed; with the number of the draw it gives the same convolution on every machine");
    s.Param("draw", &Params::draw)
        .Range(0, std::numeric_limits<std::int32_t>::max())
        .Summary("number of the draw");
  }

  static void Run(Context& ctx, const Params& p) {
    const Draw draw = DrawConvolution(static_cast<std::uint64_t>(p.seed), static_cast<std::uint64_t>(p.draw));
    ctx.Step(draw.Text());  // before anything can go wrong: the id does not say what was drawn
    RequireApi(ctx, draw.api);
    KeepToShare(ctx);
    RunConvolution(ctx, ParamsOf(draw), draw.operation);
  }
};

CCI_REGISTER(Random, "random")

}  // namespace
}  // namespace cudnn_ci
