// A covering array of strength two: few combinations of factors in which every pair of values of two factors
// comes. Most faults of a library are those of one value or of two that meet (Kuhn, Wallace, Gallo: Software
// fault interactions and implications for software testing, IEEE TSE 30(6), 2004). Pure, and the same on
// every machine.
#ifndef CUDNN_CI_MODEL_PLAN_COVERING_ARRAY_H_
#define CUDNN_CI_MODEL_PLAN_COVERING_ARRAY_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace cudnn_ci {

struct Factors {
  std::vector<size_t> sizes;  // how many values each factor has; at least 1
  // [exclusion][factor][value]: a combination is left out if one exclusion is true for all of its values.
  std::vector<std::vector<std::vector<bool>>> exclusions;
};

using Combination = std::vector<size_t>;  // a value of each factor, by place

// Combinations, in the order of the full product (the last factor fastest), that are not left out, and in
// which every pair comes that a combination which is not left out has. For one factor that is every value.
// Nothing where that takes too long to find: more than 1,000,000 pairs or 10,000 values, or exclusions that
// intertwine.
std::optional<std::vector<Combination>> CoverPairs(const Factors& factors);
// All that are not left out, in that order. Nothing where the full product has more than `most`.
std::optional<std::vector<Combination>> EveryCombination(const Factors& factors, size_t most);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_PLAN_COVERING_ARRAY_H_
