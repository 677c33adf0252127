// Inputs of an attention whose softmax is exact, and the outputs that are right for them. Must not know CUDA,
// cuDNN or the SDK: the library under test may not grade itself.
//
// Each key has a code of one-hot digits, and up to four keys share one. Each query has the code of some of
// the keys that it sees. With a scale of 1 those keys score 128 more than every other, so that exp() of the
// difference is 0 in float32 and each of the T matching keys has the probability 1/T, T = 1, 2 or 4, however
// exp() is approximated. One further dimension is constant and moves all scores of a row together. V and the
// gradient of O are -1, 0 or 1, so that O and all gradients are short binary fractions: they are exact in
// float16 and bfloat16, in whatever order they are summed. Half of each key's dimensions meet a zero in every
// query: they hold small random integers, which the gradient of Q shows.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_NUMBERS_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_NUMBERS_H_

#include <cstdint>
#include <vector>

#include "common/numeric/attention_spec.h"

namespace cudnn_ci {

// All tensors, in the order batch, heads, length, size. A query or key that does not count (padding) has
// large inputs, and no expectation: frameworks differ in what they leave there.
struct AttentionNumbers {
  std::vector<float> q, k, v, o, d_o, stats, dq, dk, dv;
};
// The same for equal arguments. Throws std::logic_error where the shape has a problem (ProblemsOf).
AttentionNumbers MakeAttentionNumbers(const AttentionProblemSpec& spec, std::uint64_t seed);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_NUMBERS_H_
