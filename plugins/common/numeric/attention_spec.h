// What an attention computes, but for by whom.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SPEC_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SPEC_H_

#include <string>
#include <vector>

#include "common/numeric/attention_shape.h"
#include "common/numeric/data_type.h"

namespace cudnn_ci {

// The score of a key that matches, which is nearly the logarithm of the sum: 32, -256, 1024. Below -88.7 its
// exponential is 0 in float32, above 88.7 it is infinite.
enum class AttentionLogits { kOrdinary, kFarNegative, kFarPositive };
AttentionLogits AttentionLogitsFrom(const std::string& name);
double ScoreOf(AttentionLogits logits);

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

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SPEC_H_
