// An attention as a problem with operands, and the judge of its outputs. Must not know CUDA, cuDNN or the
// SDK: the library under test may not grade itself.
#ifndef CUDNN_CI_PLUGINS_ATTENTION_DATA_H_
#define CUDNN_CI_PLUGINS_ATTENTION_DATA_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "attention/shape.h"
#include "common/numeric/data_type.h"
#include "compute/operand.h"
#include "compute/reference_data.h"

namespace cudnn_ci {

// The score of a key that matches, which is nearly the logarithm of the sum: 32, -256, 1024. Below -88.7 its
// exponential is 0 in float32, above 88.7 it is infinite.
enum class AttentionLogits { kOrdinary, kFarNegative, kFarPositive };
AttentionLogits AttentionLogitsFrom(const std::string& name);
double ScoreOf(AttentionLogits logits);

// The operands' places.
enum AttentionForwardOutput : std::size_t { kAttentionO, kAttentionStats };
enum AttentionBackwardOutput : std::size_t { kAttentionDq, kAttentionDk, kAttentionDv };

// What is computed, but for by whom.
struct AttentionProblemSpec {
  AttentionShape shape;
  DataType type = DataType::kBfloat16;
  AttentionLayout layout = AttentionLayout::kBhsd;
  AttentionLogits logits = AttentionLogits::kOrdinary;
  bool backward = false;
  bool statistics = true;  // of the forward pass: whether they are an output

  AttentionTensor Q() const { return Tensor(shape.q_heads, shape.queries, shape.head_size); }
  AttentionTensor K() const { return Tensor(shape.kv_heads, shape.keys, shape.head_size); }
  AttentionTensor V() const { return Tensor(shape.kv_heads, shape.keys, shape.v_head_size); }
  AttentionTensor O() const { return Tensor(shape.q_heads, shape.queries, shape.v_head_size); }
  // The logarithms of the rows' sums, [batch][heads][queries][1], always in that order.
  AttentionTensor Stats() const { return {shape.batch, shape.q_heads, shape.queries, 1}; }
  // The tensors behind the operands, in their order, those of lengths left out.
  std::vector<AttentionTensor> Inputs() const;
  std::vector<AttentionTensor> Outputs() const;

 private:
  AttentionTensor Tensor(std::int64_t heads, std::int64_t length, std::int64_t size) const {
    return {shape.batch, heads, length, size, layout};
  }
};

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
