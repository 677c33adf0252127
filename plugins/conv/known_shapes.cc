#include "conv/known_shapes.h"

#include <algorithm>
#include <cstdlib>

namespace cudnn_ci {
namespace {

constexpr Axes kOnes = {1, 1, 1};

// Sizes of an image. A 1-D convolution is one of height 1.
int DimsOf(const ConvShape& shape) {
  if (shape.spatial == 3) return 3;
  return shape.in[1] == 1 && shape.kernel[1] == 1 ? 1 : 2;
}

// Whether strides skip elements of an axis.
bool SkipsElements(const ConvShape& shape) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (shape.stride[axis] > shape.kernel[axis]) return true;
  return false;
}

std::string Flag(bool flag) { return flag ? "true" : "false"; }

bool IsOf(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool Holds(const std::string& name, const std::vector<std::string>& values, const KnownSubject& subject,
           const KnownChoice& choice) {
  const ConvShape& shape = subject.problem.shape;
  if (name == "operation") return IsOf(values, OperationName(subject.problem.operation));
  if (name == "api") return IsOf(values, subject.api);
  if (name == "dtype") return IsOf(values, subject.dtype);
  if (name == "output_dtype") return IsOf(values, subject.output_dtype);
  if (name == "layout") return IsOf(values, subject.layout);
  if (name == "math") return IsOf(values, subject.math);
  if (name == "algo") return choice.any || IsOf(values, choice.algorithm);
  if (name == "engine") return choice.any || IsOf(values, std::to_string(choice.engine));
  if (name == "dims") return IsOf(values, std::to_string(DimsOf(shape)));
  if (name == "uneven_pads") return IsOf(values, Flag(!shape.PadsAlike()));
  if (name == "strided") return IsOf(values, Flag(shape.stride != kOnes));
  if (name == "stride_over_kernel") return IsOf(values, Flag(SkipsElements(shape)));
  if (name == "dilated") return IsOf(values, Flag(shape.dilation != kOnes));
  if (name == "pointwise") return IsOf(values, Flag(shape.kernel == kOnes));
  if (name == "grouped") return IsOf(values, Flag(shape.groups > 1));
  if (name == "depthwise") return IsOf(values, Flag(shape.groups > 1 && shape.ChannelsPerGroup() == 1));
  if (name == "fused") return IsOf(values, Flag(subject.problem.epilogue.any()));
  if (name == "additions_min")
    return values.size() == 1 &&
           (subject.problem.epilogue.bias ? 1 : 0) >= std::atoll(values.front().c_str());
  if (name == "batch_min") return values.size() == 1 && shape.n >= std::atoll(values.front().c_str());
  return name == "compute_capability_min" || name == "compute_capability_max";
}

}  // namespace

bool HitsConvolution(const std::map<std::string, std::vector<std::string>>& hits, const KnownSubject& subject,
                     const KnownChoice& choice) {
  return std::all_of(hits.begin(), hits.end(), [&](const auto& predicate) {
    return Holds(predicate.first, predicate.second, subject, choice);
  });
}

}  // namespace cudnn_ci
