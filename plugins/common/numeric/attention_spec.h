// What an attention computes, but for by whom.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SPEC_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SPEC_H_

#include <string>
#include <vector>

#include "common/numeric/attention_shape.h"
#include "common/numeric/attention_tensor.h"
#include "common/numeric/data_type.h"

namespace cudnn_ci {

// The score of a key that matches, which is nearly the logarithm of the sum: 32, -256, 1024. Below -88.7 its
// exponential is 0 in float32, above 88.7 it is infinite.
enum class AttentionLogits { kOrdinary, kFarNegative, kFarPositive };
AttentionLogits AttentionLogitsFrom(const std::string& name);
double ScoreOf(AttentionLogits logits);

// kExact: those of attention_numbers.h. kNormal: those of attention_normal.h, whose sums round.
enum class AttentionData { kExact, kNormal };
AttentionData AttentionDataFrom(const std::string& name);

struct AttentionProblemSpec {
  AttentionShape shape;
  DataType type = DataType::kBfloat16;
  AttentionLayout layout = AttentionLayout::kBhsd;
  AttentionLogits logits = AttentionLogits::kOrdinary;
  bool backward = false;
  bool statistics = true;      // of the forward pass: whether they are an output
  bool bias_gradient = false;  // of the backward pass with a bias: whether dBias is an output
  AttentionData data = AttentionData::kExact;
  std::int64_t page_size =
      0;  // of the forward pass: K and V are in pages of so many positions; 0: they are not

  // Whether scales are inputs, and the largest magnitudes outputs.
  bool Scaled() const { return SizeOf(type) == 1; }
  // Of the scores: 1, of normal data 1 / sqrt(head size) as frameworks have it, in float32.
  float Scale() const;

  AttentionTensor Q() const { return Part(AttentionRole::kQ, shape.q_heads, shape.queries, shape.head_size); }
  AttentionTensor K() const { return Part(AttentionRole::kK, shape.kv_heads, shape.keys, shape.head_size); }
  AttentionTensor V() const { return Part(AttentionRole::kV, shape.kv_heads, shape.keys, shape.v_head_size); }
  AttentionTensor O() const;
  // The logarithms of the rows' sums, [batch][heads][queries][1], always in that order.
  AttentionTensor Stats() const;
  // As is the bias.
  AttentionTensor Bias() const;
  // The tensors behind the operands, more than one may be part of an operand. In
  // the order of Q, K, V; O, dO and the statistics; the bias; the scales; the lengths;
  // the pages; the offsets.
  std::vector<AttentionTensor> Inputs() const;
  // Of 8-bit types, in the order in which cudnn-frontend takes and gives them: none of others.
  std::vector<AttentionRole> Scales() const;
  std::vector<AttentionRole> Magnitudes() const;
  // O and the statistics; dQ, dK, dV and dBias; the largest magnitudes.
  std::vector<AttentionTensor> Outputs() const;
  DataType TypeOf(const AttentionTensor& tensor) const {
    if (tensor.role >= AttentionRole::kLengthsQ) return DataType::kInt32;
    const bool wide = tensor.role == AttentionRole::kStats || tensor.role >= AttentionRole::kDescaleQ;
    return wide ? DataType::kFloat32 : type;
  }

 private:
  AttentionTensor Part(AttentionRole role, std::int64_t heads, std::int64_t length, std::int64_t size) const;
};

// What of a sound shape (ProblemsOf) cannot be asked for together.
std::vector<AttentionProblemText> ProblemsOf(const AttentionProblemSpec& spec);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SPEC_H_
