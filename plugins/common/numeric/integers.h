// Tensors of integers that every element type and accumulator holds exactly, as the oracle keeps them: in the
// order n, c, sizes, whatever order the kernel's are in. Knows no operation.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_INTEGERS_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_INTEGERS_H_

#include <cstdint>

namespace cudnn_ci {

// Input values lie in [-kMaxValue, kMaxValue].
constexpr int kMaxValue = 3;

// A tensor as [outer][channels][pixels]; the layout NHWC swaps the last two.
struct Extent {
  std::int64_t outer = 0, channels = 0, pixels = 0;
  std::int64_t Count() const { return outer * channels * pixels; }
};

// Element i is low[i] + high[i] * 2^shift; without `high`, low[i]. Two scales in one number need more bits
// than a short significand has, and cost the reference no wider integers. Whoever makes one keeps the arrays
// alive.
template <class Integer>
struct TwoScale {
  const Integer* low = nullptr;
  const Integer* high = nullptr;
  int shift = 0;

  double At(std::int64_t i) const {
    const double value = low[i];
    return high ? value + high[i] * static_cast<double>(std::int64_t{1} << shift) : value;
  }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_INTEGERS_H_
