// What the parameters of a convolution check stand for.
#include "conv/convolution_case.h"

namespace cudnn_ci {

bool IsSweep(const std::string& algo) {
  return algo == "every" || algo == "fallback" || algo == "heuristics_a" || algo == "heuristics_b";
}

ShapeFields ConvolutionParams::Fields() const {
  // A list that the matrix does not give is the same as `pad`.
  const bool given = pad_after != std::vector<std::int64_t>{kSameAsPad};
  return {x, w, pad, stride, dilation, groups, given ? pad_after : std::vector<std::int64_t>{}};
}

std::string ConvolutionParams::Text() const {
  return (api == kGraphApi ? "graph API, engine " : "algorithm ") + algo + " for " + dtype + " " + layout +
         ", " + math + " math";
}

KnownSubject ConvolutionParams::Known(const Problem& problem) const {
  return {problem, api, dtype, layout, math};
}

}  // namespace cudnn_ci
