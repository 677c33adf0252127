// Inputs of an attention whose softmax is exact, and the outputs that are right for them. Must not know CUDA,
// cuDNN or the SDK: the library under test may not grade itself.
//
// Each key has a code of one-hot digits, which it shares with others, and each query has the code of some of
// the keys that it sees: 1, 2 or 4 where there are about as many queries as keys, more where there are fewer,
// so that every key is asked for by some query (PlanKeys). With a scale of 1 those keys score 128 more than
// every other, so that exp() of the difference is 0 in float32 and each of the T matching keys has the
// probability 1/T, T a power of two, however exp() is approximated. One further dimension is constant and
// moves all scores of a row together. V is -1 or 1, and the gradient of O -1, 0 or 1, so that O and all
// gradients are short binary fractions: they are exact in float16 and bfloat16, in whatever order they are
// summed. Half of each key's dimensions meet a zero in every query: they hold small random integers, which
// the gradient of Q shows. With a bias only keys whose part of it is the same share a softmax
// (AttentionBias), so that the matching keys still have equal scores.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_NUMBERS_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_NUMBERS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "common/numeric/attention_spec.h"

namespace cudnn_ci {

// All tensors, in the order batch, heads, length, size. A query or key that does not count (padding) has
// large inputs, and no expectation: frameworks differ in what they leave there.
struct AttentionNumbers {
  std::vector<float> q, k, v, o, d_o, stats, dq, dk, dv = {};
  std::vector<float> bias = {};    // of masks that have one
  std::vector<float> d_bias = {};  // where asked for
  // Of 8-bit types: the scales and the largest magnitudes, one number each; and tables (AttentionTable). All
  // tensors of that type are as they are stored then. All scales are powers of 2, and no two of them together
  // are 1 that might both be left out.
  std::map<AttentionRole, std::vector<float>> others = {};
  // How far from its number a right result may be before it is rounded, for each element of those tensors
  // that are not exact.
  std::map<AttentionRole, std::vector<float>> allowed = {};

  const std::vector<float>& Of(AttentionRole role) const;
};
// Whether a kernel may give the keys of one query to several blocks and combine their sums: those of few
// queries, a tile of 16 rows at most, so that the GPU is busy. O of exact data has a bound then, too.
bool SharesKeysAmongBlocks(const AttentionShape& shape);

// The largest error of a statistic of exact data: the score is exact, the logarithm of the sum is taken with
// ex2.approx and lg2.approx, whose errors are 2^-22 (PTX ISA), and a sum of both in float32, by base 2 and
// back: some units in the last place of it. The same operations make the probabilities of the backward pass,
// so that it is the largest relative error of theirs, too, and of a sum of them that is stored before it is
// rounded: dBias.
double AttentionStatsBound(double expected);

// The same for equal arguments. Throws std::logic_error where the shape has a problem (ProblemsOf).
AttentionNumbers MakeAttentionNumbers(const AttentionProblemSpec& spec, std::uint64_t seed);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_NUMBERS_H_
