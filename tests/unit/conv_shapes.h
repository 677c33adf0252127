// Shapes for the tests of the convolution oracle.
#ifndef CUDNN_CI_TESTS_CONV_SHAPES_H_
#define CUDNN_CI_TESTS_CONV_SHAPES_H_

#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "conv/shape.h"

namespace cudnn_ci {

using List = std::vector<std::int64_t>;

inline ConvShape Shape(const List& x, const List& w, const List& pad = {0}, const List& stride = {1},
                       const List& dilation = {1}, std::int64_t groups = 1) {
  return MakeConvShape({x, w, pad, stride, dilation, groups});
}

// A small random shape of the given number of axes; a third of them grouped, a third depthwise.
inline ConvShape RandomShape(std::mt19937& random, std::size_t axes) {
  const auto pick = [&random](int lo, int hi) {
    return std::int64_t{std::uniform_int_distribution<int>(lo, hi)(random)};
  };
  for (;;) {
    const std::int64_t groups = pick(0, 2) == 0 ? pick(2, 6) : 1;
    const std::int64_t cg = pick(0, 2) == 0 ? 1 : pick(1, 9);
    List x = {pick(1, 5), cg * groups}, w = {groups * pick(1, 9), cg}, pad, stride, dilation;
    for (std::size_t a = 0; a < axes; ++a) {
      x.push_back(pick(1, axes == 3 ? 7 : 23));
      w.push_back(pick(1, axes == 3 ? 3 : 5));
      pad.push_back(pick(0, 4));
      stride.push_back(pick(1, 4));
      dilation.push_back(pick(1, 3));
    }
    try {
      return MakeConvShape({x, w, pad, stride, dilation, groups});
    } catch (const std::invalid_argument&) {
      continue;  // the kernel did not fit
    }
  }
}

}  // namespace cudnn_ci

#endif
