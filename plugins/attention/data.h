// An attention as a problem with operands, and the judge of its outputs. Must not know CUDA, cuDNN or the
// SDK: the library under test may not grade itself.
#ifndef CUDNN_CI_PLUGINS_ATTENTION_DATA_H_
#define CUDNN_CI_PLUGINS_ATTENTION_DATA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/numeric/attention_numbers.h"
#include "common/numeric/attention_spec.h"
#include "compute/operand.h"
#include "compute/reference_data.h"

namespace cudnn_ci {

// Q, K, V, which may be one operand; for the backward pass O, dO and the statistics behind them; the bias;
// with padding the lengths, too. The outputs are O and, if asked for, the statistics, or dQ, dK and dV, which
// may be one operand, and, if asked for, dBias.
Operands AttentionOperands(const AttentionProblemSpec& spec);

// "dK (b=0,h=3,s=17,d=5)", of an element of an output; the name only where the operand has several parts.
std::string AttentionPlace(const AttentionProblemSpec& spec, std::size_t output, std::int64_t place);

// Whether the same bits must come each time. cuDNN's backward pass adds dQ up in whatever order blocks come,
// unless a deterministic algorithm was asked for (attribute `deterministic` of SDPA backward,
// https://docs.nvidia.com/deeplearning/cudnn/frontend/latest/operations/Attention.html). Its forward pass may
// share the keys of a few queries among blocks (SharesKeysAmongBlocks) and add their sums up likewise: on an
// H200, 9.14's engine 1 gave two values for the LSE of one query and 1,000 keys. Plans bear no note of
// either.
// `noted`: the plan has the note NONDETERMINISTIC.
inline bool RepeatsBits(const AttentionProblemSpec& spec, bool asked, bool noted) {
  return !noted && (spec.backward ? asked : !SharesKeysAmongBlocks(spec.shape));
}

// Judges outputs against them. The bound of ReferenceData::Judge is not looked at.
std::shared_ptr<const ReferenceSource> AttentionReference(const AttentionProblemSpec& spec);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_ATTENTION_DATA_H_
