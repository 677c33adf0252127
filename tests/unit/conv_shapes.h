// Shapes for the tests of the convolution oracle.
#ifndef CUDNN_CI_TESTS_CONV_SHAPES_H_
#define CUDNN_CI_TESTS_CONV_SHAPES_H_

#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "conv/operation.h"
#include "conv/recipe.h"
#include "conv/reference.h"

namespace cudnn_ci {

using List = std::vector<std::int64_t>;

inline constexpr Operation kOperations[] = {Operation::kForward, Operation::kBackwardData,
                                            Operation::kBackwardFilter};

inline ConvShape Shape(const List& x, const List& w, const List& pad = {0}, const List& stride = {1},
                       const List& dilation = {1}, std::int64_t groups = 1, const List& pad_after = {}) {
  return MakeConvShape({x, w, pad, stride, dilation, groups, pad_after});
}

// As the checks make it, without the cache.
inline Reference MakeReference(const Problem& problem, const Recipe& recipe) {
  Reference r;
  r.problem = problem;
  r.recipe = recipe;
  r.inputs = MakeInputs(problem, recipe);
  ComputeReference(&r);
  return r;
}

// For any operation.
inline Recipe Sparse(std::int64_t products = kFewProducts) {
  Recipe recipe;
  recipe.kind = Recipe::Kind::kSparse;
  recipe.products = products;
  return recipe;
}

// A small random shape of the given number of axes; a third of them grouped, a third depthwise, a half with
// pads that differ.
inline ConvShape RandomShape(std::mt19937& random, std::size_t axes) {
  const auto pick = [&random](int lo, int hi) {
    return std::int64_t{std::uniform_int_distribution<int>(lo, hi)(random)};
  };
  for (;;) {
    const std::int64_t groups = pick(0, 2) == 0 ? pick(2, 6) : 1;
    const std::int64_t cg = pick(0, 2) == 0 ? 1 : pick(1, 9);
    List x = {pick(1, 5), cg * groups}, w = {groups * pick(1, 9), cg}, pad, pad_after, stride, dilation;
    const bool alike = pick(0, 1) == 0;
    for (std::size_t a = 0; a < axes; ++a) {
      x.push_back(pick(1, axes == 3 ? 7 : 23));
      w.push_back(pick(1, axes == 3 ? 3 : 5));
      pad.push_back(pick(0, 4));
      pad_after.push_back(alike ? pad.back() : pick(0, 4));
      stride.push_back(pick(1, 4));
      dilation.push_back(pick(1, 3));
    }
    try {
      return MakeConvShape({x, w, pad, stride, dilation, groups, pad_after});
    } catch (const std::invalid_argument&) {
      continue;  // the kernel did not fit
    }
  }
}

}  // namespace cudnn_ci

#endif
