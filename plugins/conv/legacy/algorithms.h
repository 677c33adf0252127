// The algorithms of the legacy API: their numbers in cudnn.h, the names that a matrix calls them by, and what
// is known of their arithmetic. Data alone.
#ifndef CUDNN_CI_PLUGINS_CONV_LEGACY_ALGORITHMS_H_
#define CUDNN_CI_PLUGINS_CONV_LEGACY_ALGORITHMS_H_

#include <string>
#include <vector>

#include "conv/operation.h"
#include "conv/recipe.h"

namespace cudnn_ci {

struct LegacyAlgorithm {
  const char* name;  // "implicit_gemm"
  int number;        // of cudnnConvolutionFwdAlgo_t, ...BwdDataAlgo_t or ...BwdFilterAlgo_t
  Arithmetic arithmetic;
  bool deterministic = true;  // by the documentation
};

// All of an operation, by their numbers.
const std::vector<LegacyAlgorithm>& LegacyAlgorithms(Operation operation);
// Null: the operation has none of this name.
const LegacyAlgorithm* FindLegacyAlgorithm(Operation operation, const std::string& name);
// Of a number; one that is not known has no name, is exact until it errs, and is held to no repetition.
LegacyAlgorithm LegacyAlgorithmOf(Operation operation, int number);
// What a number is called: "algorithm 12" for an unknown one.
std::string LegacyAlgorithmName(Operation operation, int number);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_LEGACY_ALGORITHMS_H_
