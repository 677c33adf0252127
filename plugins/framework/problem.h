// The small computations that a framework is asked for, and what must come out, computed here. Inputs are
// small integers, so that every partial sum is exact in float32 (in TF32 too) and results are compared bit
// for bit.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_PROBLEM_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_PROBLEM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cudnn_ci {

struct Problem {
  // For the script: a convolution's input "x" (n, c, h, w), filter "w" (k, c, r, s) and output gradient "g",
  // with "stride" and "pad" of both axes, and the matrices "a" and "b".
  std::string json;
  // By the names that the script gives to results: the convolution's output "y" and gradients "dx" and "dw";
  // "copy" of x, "elementwise" (2a + 1) and "matmul" (ab). Last axis fastest.
  std::map<std::string, std::vector<double>> expected;
};

// The same seed gives the same problem.
Problem MakeProblem(std::uint64_t seed);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_PROBLEM_H_
