// An attention as a problem with operands, and the judge of its outputs. Must not know CUDA, cuDNN or the
// SDK: the library under test may not grade itself.
#ifndef CUDNN_CI_PLUGINS_ATTENTION_DATA_H_
#define CUDNN_CI_PLUGINS_ATTENTION_DATA_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "common/numeric/attention_spec.h"
#include "compute/operand.h"
#include "compute/reference_data.h"

namespace cudnn_ci {

// The operands' places.
enum AttentionForwardOutput : std::size_t { kAttentionO, kAttentionStats };
enum AttentionBackwardOutput : std::size_t { kAttentionDq, kAttentionDk, kAttentionDv };

// Q, K, V; for the backward pass O, dO and the statistics behind them; with padding the lengths, too. The
// outputs are O and, if asked for, the statistics, or dQ, dK and dV.
Operands AttentionOperands(const AttentionProblemSpec& spec);

// The largest error of a statistic: the score is exact, the logarithm of the sum is taken with ex2.approx and
// lg2.approx, whose errors are 2^-22 (PTX ISA), and a sum of both in float32, by base 2 and back: some units
// in the last place of it.
double AttentionStatsBound(double expected);

// Judges outputs against them. The bound of ReferenceData::Judge is not looked at.
std::shared_ptr<const ReferenceSource> AttentionReference(const AttentionProblemSpec& spec);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_ATTENTION_DATA_H_
