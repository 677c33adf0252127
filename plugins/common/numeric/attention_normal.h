// Normally distributed inputs of an attention, its outputs in float64, and how far a right result may lie
// from them, by standard error analysis. Beside the exact data, never in their place: such a bound sees no
// single key among many. What it sees that they do not is arithmetic that is shorter than promised, and a
// softmax in which every key counts. Must not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_NORMAL_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_NORMAL_H_

#include <cstdint>

#include "common/numeric/attention_numbers.h"

namespace cudnn_ci {

// Inputs are as the type holds them. Of the backward pass O and the statistics are inputs, rounded to their
// types, and its outputs are those of these. Outputs are not rounded, and `allowed` has the bounds of all of
// them. The same for equal arguments on one machine. Rows behind a length are large numbers and have no
// expectation. Throws std::logic_error for masks with a bias, and where the shape has a problem (ProblemsOf).
AttentionNumbers MakeNormalAttention(const AttentionProblemSpec& spec, std::uint64_t seed);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_NORMAL_H_
