#include "common/numeric/attention_spec.h"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "common/numeric/attention_tables.h"

namespace cudnn_ci {
namespace {

// Each gets the operand behind that of the one before, or, as a part of a packed operand, the same.
std::vector<AttentionTensor> WithOperands(std::vector<AttentionTensor> tensors) {
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const bool same = tensors[i].all_parts > 0;
    tensors[i].operand = tensors[i - 1].operand + (same ? 0 : 1);
  }
  return tensors;
}

AttentionTensor As(AttentionRole role, AttentionTensor tensor) {
  tensor.role = role;
  return tensor;
}

}  // namespace

AttentionLogits AttentionLogitsFrom(const std::string& name) {
  if (name == "ordinary") return AttentionLogits::kOrdinary;
  if (name == "far_negative") return AttentionLogits::kFarNegative;
  if (name == "far_positive") return AttentionLogits::kFarPositive;
  throw std::invalid_argument("no logits: " + name);
}

double ScoreOf(AttentionLogits logits) {
  if (logits == AttentionLogits::kFarNegative) return -256;
  return logits == AttentionLogits::kFarPositive ? 1024 : 32;
}

AttentionData AttentionDataFrom(const std::string& name) {
  if (name == "exact") return AttentionData::kExact;
  if (name == "normal") return AttentionData::kNormal;
  throw std::invalid_argument("no data of an attention: " + name);
}

float AttentionProblemSpec::Scale() const {
  return data == AttentionData::kExact ? 1.0F : 1.0F / std::sqrt(static_cast<float>(shape.head_size));
}

AttentionTensor AttentionProblemSpec::Part(AttentionRole role, std::int64_t heads, std::int64_t length,
                                           std::int64_t size) const {
  AttentionTensor tensor = {shape.batch, heads, length, size, layout, role};
  const bool by_key = IsByKey(role);
  if (layout == AttentionLayout::kThd) tensor.starts = StartsOf(by_key ? shape.kv_length : shape.q_length);
  if (page_size > 0 && by_key) {
    tensor.layout = AttentionLayout::kBhsd;
    tensor.page_size = page_size;
    tensor.pages =
        ShuffledPages(shape.batch, (length + page_size - 1) / page_size, role == AttentionRole::kK ? 1 : 2);
  }
  if (!IsPacked(layout)) return tensor;
  tensor.all_parts = (shape.q_heads + 2 * shape.kv_heads) * size;
  const std::int64_t before_k = layout == AttentionLayout::kBs3hd ? shape.q_heads * size : size;
  if (role == AttentionRole::kK) tensor.offset = before_k;
  if (role == AttentionRole::kV)
    tensor.offset = before_k + (layout == AttentionLayout::kBs3hd ? shape.kv_heads * size : size);
  return tensor;
}

AttentionTensor AttentionProblemSpec::O() const {
  AttentionTensor o = {shape.batch,
                       shape.q_heads,
                       shape.queries,
                       shape.v_head_size,
                       IsPacked(layout) ? AttentionLayout::kBshd : layout,
                       AttentionRole::kO};
  if (layout == AttentionLayout::kThd) o.starts = StartsOf(shape.q_length);
  return o;
}

AttentionTensor AttentionProblemSpec::Stats() const {
  return {shape.batch, shape.q_heads, shape.queries, 1, AttentionLayout::kBhsd, AttentionRole::kStats};
}

AttentionTensor AttentionProblemSpec::Bias() const {
  return {shape.BiasBatch(), shape.BiasHeads(),      shape.queries,
          shape.keys,        AttentionLayout::kBhsd, AttentionRole::kBias};
}

std::vector<AttentionTensor> AttentionProblemSpec::Inputs() const {
  std::vector<AttentionTensor> inputs = {Q(), K(), V()};
  if (backward) inputs.insert(inputs.end(), {O(), As(AttentionRole::kDo, O()), Stats()});
  if (HasBias(shape.mask)) inputs.push_back(Bias());
  for (const AttentionRole role : Scales()) inputs.push_back(As(role, {1, 1, 1, 1}));
  if (HasLengths(shape.mask))
    for (const AttentionRole role : {AttentionRole::kLengthsQ, AttentionRole::kLengthsKv})
      inputs.push_back(As(role, {shape.batch, 1, 1, 1}));
  if (page_size > 0)
    for (const AttentionRole role : {AttentionRole::kPagesK, AttentionRole::kPagesV})
      inputs.push_back(As(role, {shape.batch, 1, (shape.keys + page_size - 1) / page_size, 1}));
  if (layout == AttentionLayout::kThd)
    for (const AttentionRole role : {AttentionRole::kOffsetsQ, AttentionRole::kOffsetsK,
                                     AttentionRole::kOffsetsV, AttentionRole::kOffsetsO})
      inputs.push_back(As(role, {shape.batch + 1, 1, 1, 1}));
  return WithOperands(std::move(inputs));
}

std::vector<AttentionRole> AttentionProblemSpec::Scales() const {
  using Role = AttentionRole;
  if (!Scaled()) return {};
  if (!backward)
    return {Role::kDescaleQ, Role::kDescaleK, Role::kDescaleV, Role::kDescaleS, Role::kScaleS, Role::kScaleO};
  return {Role::kDescaleQ,  Role::kDescaleK, Role::kDescaleV,  Role::kDescaleO,
          Role::kDescaleDo, Role::kDescaleS, Role::kDescaleDp, Role::kScaleS,
          Role::kScaleDq,   Role::kScaleDk,  Role::kScaleDv,   Role::kScaleDp};
}

std::vector<AttentionRole> AttentionProblemSpec::Magnitudes() const {
  if (!Scaled()) return {};
  if (!backward) return {AttentionRole::kAmaxS, AttentionRole::kAmaxO};
  return {AttentionRole::kAmaxDq, AttentionRole::kAmaxDk, AttentionRole::kAmaxDv, AttentionRole::kAmaxDp};
}

std::vector<AttentionTensor> AttentionProblemSpec::Outputs() const {
  std::vector<AttentionTensor> outputs = {O()};
  if (backward) {
    outputs = {As(AttentionRole::kDq, Q()), As(AttentionRole::kDk, K()), As(AttentionRole::kDv, V())};
    if (bias_gradient) outputs.push_back(As(AttentionRole::kDbias, Bias()));
  } else if (statistics) {
    outputs.push_back(Stats());
  }
  for (const AttentionRole role : Magnitudes()) outputs.push_back(As(role, {1, 1, 1, 1}));
  return WithOperands(std::move(outputs));
}

std::vector<AttentionProblemText> ProblemsOf(const AttentionProblemSpec& spec) {
  const AttentionShape& shape = spec.shape;
  std::vector<AttentionProblemText> problems;
  const auto need = [&problems](bool holds, const char* field, const char* why) {
    if (!holds) problems.push_back({field, why});
  };
  if (IsPacked(spec.layout))
    need(shape.queries == shape.keys && shape.head_size == shape.v_head_size, "layout",
         "one tensor for Q, K and V needs as many keys as queries and one head size");
  need(spec.layout != AttentionLayout::kBsh3d || shape.q_heads == shape.kv_heads, "layout",
       "bsh3d needs as many key heads as query heads");
  const bool bias = HasBias(shape.mask), padding = HasLengths(shape.mask);
  need(shape.mask == AttentionMask::kPadding || spec.layout != AttentionLayout::kThd, "layout",
       "thd needs sequence lengths (mask padding)");
  if (spec.page_size != 0) {
    need(spec.page_size > 0 && spec.page_size <= shape.keys, "page_size",
         "must be from 1 to the length of the keys");
    need(shape.mask == AttentionMask::kPadding, "page_size", "needs sequence lengths (mask padding)");
    need(!spec.backward, "page_size", "is only for the forward pass");
    need(!IsPacked(spec.layout) && spec.layout != AttentionLayout::kThd, "page_size",
         "is only for layouts bhsd and bshd");
  }
  need(bias || shape.bias_shape == AttentionBiasShape::k11ss, "bias", "is only for masks with a bias");
  need(bias || !spec.bias_gradient, "bias_gradient", "is only for masks with a bias");
  // What is behind a length is no part of some entries' sums, and of others' it is.
  need(!padding || !spec.bias_gradient, "bias_gradient", "cannot be verified with sequence lengths");
  if (spec.Scaled()) {
    need(spec.type == DataType::kFloat8E4m3, "dtype", "with 8 bits must be float8_e4m3");
    need(!bias && !padding, "mask", "must have no bias and no sequence lengths with an 8-bit type");
    // A fifth digit of their codes makes the constant a number that the type lacks.
    need(shape.head_size >= 128 || shape.keys <= 4096, "length",
         "of keys must be at most 4096 with an 8-bit type and a head size below 128");
    need(spec.data == AttentionData::kExact, "data", "must be exact with an 8-bit type");
  }
  if (spec.data == AttentionData::kNormal) {
    need(!bias, "data", "must be exact with a bias");
    need(spec.logits == AttentionLogits::kOrdinary, "logits", "must be ordinary with normal data");
  }
  return problems;
}

}  // namespace cudnn_ci
