// Convolutions drawn at random: the same seed and number give the same one in every process, on every machine
// and with every cuDNN. Arithmetic alone; must not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_CONV_RANDOM_DRAW_H_
#define CUDNN_CI_PLUGINS_CONV_RANDOM_DRAW_H_

#include <cstdint>
#include <string>

#include "conv/operation.h"

namespace cudnn_ci {

struct Draw {
  Operation operation = Operation::kForward;
  // As in a matrix: parameters of the convolution checks.
  std::string api, dtype, layout, math;
  ShapeFields shape;  // without problems (FindShapeProblems)

  // "backward_data float16 nhwc, graph API, default math, x=... w=...".
  std::string Text() const;
};

// Bounds of every draw: the elements of a tensor, and the products that its result sums in all. The reference
// of one then takes milliseconds.
inline constexpr std::int64_t kMostDrawnElements = std::int64_t{1} << 20;
inline constexpr std::int64_t kMostDrawnProducts = std::int64_t{1} << 27;

// Draw `number` of a seed. Every operation, type, layout and API comes up, in every combination that there
// is: 8-bit types forward in the graph API, channels last, int8 without gradients. Shapes as networks have
// them: small batches, filters up to 7, one in four in three dimensions and one in eight in one, grouped,
// depthwise, strided, dilated, with odd sizes and, in the graph API, with pads that differ.
Draw DrawConvolution(std::uint64_t seed, std::uint64_t number);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_RANDOM_DRAW_H_
