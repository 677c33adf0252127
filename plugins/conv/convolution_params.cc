// What the parameters of a convolution check stand for.
#include "conv/convolution_case.h"
#include "conv/reference.h"

namespace cudnn_ci {

bool IsSweep(const std::string& algo) {
  return algo == "every" || algo == "fallback" || algo == "heuristics_a" || algo == "heuristics_b";
}

ShapeFields ConvolutionParams::Fields() const {
  // A list that the matrix does not give is the same as `pad`.
  const bool given = pad_after != std::vector<std::int64_t>{kSameAsPad};
  ShapeFields fields = {x, w, pad, stride, dilation, groups, given ? pad_after : std::vector<std::int64_t>{}};
  if (api == kGraphApi) fields.most_elements = kMostElementsOfGraph;
  return fields;
}

std::string ConvolutionParams::Text() const {
  return (api == kGraphApi ? "graph API, engine " : "algorithm ") + algo + " for " + TypesText() + " " +
         layout + ", " + math + " math";
}

KnownSubject ConvolutionParams::Known(const Problem& problem) const {
  return {problem, api, dtype, layout, math, output_dtype == kSameAsInputs ? dtype : output_dtype};
}

void DescribeShape(Schema<ConvolutionParams>& schema) {
  using Params = ConvolutionParams;
  auto shape = schema.Shape("shape", &Params::shape);
  shape.Field("x", &Params::x).Summary("images n, channels c, and one to three sizes");
  shape.Field("w", &Params::w).Summary("filters k, c/groups, and as many sizes as x");
  shape.Field("pad", &Params::pad).Default({0}).Summary("one value for all axes, or one for each");
  shape.Field("pad_after", &Params::pad_after)
      .Default({kSameAsPad})
      .Summary("padding at the far end of the axes; -1: the same as pad");
  shape.Field("stride", &Params::stride).Default({1}).Summary("one value for all axes, or one for each");
  shape.Field("dilation", &Params::dilation).Default({1}).Summary("one value for all axes, or one for each");
  shape.Field("groups", &Params::groups).Default(1).Summary("number of groups of channels");
}

void ValidateShape(const ConvolutionParams& params, Operation operation, Problems& problems) {
  const ShapeFields fields = params.Fields();
  const std::vector<ShapeProblem> found = FindShapeProblems(fields);
  for (const ShapeProblem& problem : found) problems.Add(std::string("shape.") + problem.field, problem.why);
  // The data of gradients have as many zeros as their sums need.
  if (!found.empty() || operation != Operation::kForward) return;
  const std::int64_t reduction = MakeConvShape(fields).Reduction();
  if (reduction > kMaxReduction)
    problems.Add("shape.w", "sums " + std::to_string(reduction) +
                                " products in an output; an exact reference allows at most " +
                                std::to_string(kMaxReduction));
}

std::string ConvolutionParams::TypesText() const {
  return output_dtype == kSameAsInputs ? dtype : dtype + " to " + output_dtype;
}

Problem ConvolutionParams::ProblemOf(Operation operation) const {
  Problem problem = {operation, MakeConvShape(Fields()), EpilogueFrom(epilogue)};
  if (output_dtype != kSameAsInputs) problem.output = DataTypeFrom(output_dtype);
  return problem;
}

}  // namespace cudnn_ci
