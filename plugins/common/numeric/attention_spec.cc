#include "common/numeric/attention_spec.h"

#include <stdexcept>

namespace cudnn_ci {

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

std::vector<AttentionTensor> AttentionProblemSpec::Inputs() const {
  std::vector<AttentionTensor> inputs = {Q(), K(), V()};
  if (backward) inputs.insert(inputs.end(), {O(), O(), Stats()});
  return inputs;
}

std::vector<AttentionTensor> AttentionProblemSpec::Outputs() const {
  if (backward) return {Q(), K(), V()};
  if (statistics) return {O(), Stats()};
  return {O()};
}

}  // namespace cudnn_ci
