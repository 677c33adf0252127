// The small computations that a framework is asked for, and what must come out, computed here. Inputs are
// small integers, so that every partial sum is exact in float32 (in TF32 too) and results are compared bit
// for bit. Attention's softmax is exact as well (common/numeric/attention_numbers.h).
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_PROBLEM_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_PROBLEM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/numeric/attention_spec.h"

namespace cudnn_ci {

struct Problem {
  // For the script: a convolution's input "x" (n, c, h, w), filter "w" (k, c, r, s) and output gradient "g",
  // with "stride" and "pad" of both axes, and the matrices "a" and "b"; an attention's "q", "k", "v" (batch,
  // heads, length, size; one head, bfloat16, scale 1) and its output's gradient "do".
  std::string json;
  // By the names that the script gives to results: the convolution's output "y" and gradients "dx" and "dw";
  // "copy" of x, "elementwise" (2a + 1) and "matmul" (ab); the attention's output "o" and gradients "dq",
  // "dk" and "dv". Last axis fastest.
  std::map<std::string, std::vector<double>> expected;
  AttentionProblemSpec attention;  // its forward pass
};

// The same seed gives the same problem.
Problem MakeProblem(std::uint64_t seed);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_PROBLEM_H_
