// One convolution, or one gradient of it, with exact data; every element of the result, every guard byte and
// every input byte is judged. Tells cuDNN's answers apart: not offered, failed, wrong.
#ifndef CUDNN_CI_PLUGINS_CONV_CONVOLUTION_CASE_H_
#define CUDNN_CI_PLUGINS_CONV_CONVOLUTION_CASE_H_

#include <cudnn_ci/check.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "conv/known_shapes.h"
#include "conv/needed_api.h"
#include "conv/operation.h"

namespace cudnn_ci {

// What `output_dtype` is where the result has the inputs' type.
inline constexpr char kSameAsInputs[] = "same";

// The parameters of all convolution checks.
struct ConvolutionParams {
  std::string api, dtype, layout, algo, math, shape;
  std::vector<std::int64_t> x, w, pad, pad_after, stride, dilation;
  std::int64_t groups = 1;
  bool normal = false;  // no parameter: also judged on normal data, as every sweep is
  std::string epilogue = "none", output_dtype = kSameAsInputs;

  ShapeFields Fields() const;
  // "algorithm gemm for float16 nhwc, default math".
  std::string Text() const;
  // "int8", "int8 to int32" where the result has another type.
  std::string TypesText() const;
  // The parameters were validated.
  Problem ProblemOf(Operation operation) const;
  // What the table of known regressions is asked of.
  KnownSubject Known(const Problem& problem) const;
};

// What `pad_after` is when the matrix does not give it.
inline constexpr std::int64_t kSameAsPad = -1;

// Whether `algo` stands for many algorithms or engines, each of which is a step of its own.
bool IsSweep(const std::string& algo);

// The parameter `shape` and its fields.
void DescribeShape(Schema<ConvolutionParams>& schema);
// What is wrong with it for an operation.
void ValidateShape(const ConvolutionParams& params, Operation operation, Problems& problems);

// Runs the case and reports through `ctx`; returns or throws as a check does.
void RunConvolution(Context& ctx, const ConvolutionParams& params, Operation operation);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_CONVOLUTION_CASE_H_
