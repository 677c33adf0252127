// The geometry of one convolution: what a matrix's shape means, and whether it makes sense. Arithmetic
// alone; must not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_CONV_SHAPE_H_
#define CUDNN_CI_PLUGINS_CONV_SHAPE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_ci {

// Depth, height, width. 2-D convolutions have depth 1, 1-D ones height 1 too.
using Axes = std::array<std::int64_t, 3>;

inline std::int64_t Product(const Axes& a) { return a[0] * a[1] * a[2]; }

struct ConvShape {
  std::int64_t n = 0, c = 0, k = 0, groups = 1;
  // `pad` lies before the first element of an axis, `pad_after` behind its last one.
  Axes in{}, kernel{}, pad{}, pad_after{}, stride{}, dilation{}, out{};
  int spatial = 2;  // axes that cuDNN is told of: 2 (height, width) or 3

  std::int64_t ChannelsPerGroup() const { return c / groups; }
  std::int64_t FiltersPerGroup() const { return k / groups; }
  // Products summed into one output element, padding included.
  std::int64_t Reduction() const { return ChannelsPerGroup() * Product(kernel); }
  std::int64_t InputCount() const { return n * c * Product(in); }
  std::int64_t FilterCount() const { return k * Reduction(); }
  std::int64_t OutputCount() const { return n * k * Product(out); }
  // Multiply-adds times two, padding included: what the TFLOP/s of a convolution are counted by.
  double Flops() const { return 2.0 * static_cast<double>(OutputCount()) * static_cast<double>(Reduction()); }

  std::int64_t Padded(std::size_t axis) const { return in[axis] + pad[axis] + pad_after[axis]; }
  // Whether both ends of every axis have the same pad: the legacy API knows no other.
  bool PadsAlike() const { return pad == pad_after; }

  // "x=16x3x224x224 w=64x3x7x7 pad=3x3 stride=2x2 dilation=1x1 groups=1": equal for equal shapes only. Pads
  // that differ are both given, "pad=1x1 pad_after=0x0".
  std::string Text() const;
};

// What the legacy API's descriptors count, and what the graph API's do as far as a machine may ever hold it.
inline constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t kMostElementsOfGraph = (std::int64_t{1} << 40) - 1;

// A shape of the matrix as it stands there. x is n,c and one to three sizes; w is k, c/groups and as many; a
// pad, stride or dilation of one value holds for all axes. An empty pad_after is the same as pad.
struct ShapeFields {
  std::vector<std::int64_t> x, w, pad, stride, dilation;
  std::int64_t groups = 1;
  std::vector<std::int64_t> pad_after = {};
  std::int64_t most_elements = kMostElements;  // of a tensor
};

struct ShapeProblem {
  const char* field;  // "x", "w", "pad", "pad_after", "stride", "dilation" or "groups"
  std::string why;    // a phrase: "must be c/groups = 3 in its second value"
};

// Why no convolution of this shape can be run, field by field: values and counts that contradict each other,
// a kernel that does not fit, and more elements than a descriptor counts. Empty: MakeConvShape takes it.
std::vector<ShapeProblem> FindShapeProblems(const ShapeFields& fields);

// Throws std::invalid_argument with the fields and the first problem.
ConvShape MakeConvShape(const ShapeFields& fields);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_SHAPE_H_
