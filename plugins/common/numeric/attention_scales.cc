#include "common/numeric/attention_scales.h"

#include <algorithm>
#include <cmath>

namespace cudnn_ci {
namespace {

void Multiply(std::vector<float>* numbers, float factor) {
  for (float& number : *numbers) number *= factor;
}

float LargestOf(const std::vector<float>& numbers) {
  float most = 0;
  for (const float number : numbers) most = std::max(most, std::fabs(number));
  return most;
}

// What both passes store.
void ScaleInputs(AttentionNumbers* n) {
  n->others[AttentionRole::kDescaleQ] = {0.5F}, Multiply(&n->q, 2);
  n->others[AttentionRole::kDescaleK] = {1};
  n->others[AttentionRole::kDescaleV] = {0.25F}, Multiply(&n->v, 4);
  n->others[AttentionRole::kDescaleS] = {1.0F / 64}, n->others[AttentionRole::kScaleS] = {64};
}

// The gradient of the scores has the relative error of the probabilities before it is stored.
void ScaleBackward(float score, float most_of_ds, AttentionNumbers* n) {
  using Role = AttentionRole;
  n->others[Role::kDescaleO] = {0.125F}, Multiply(&n->o, 8);
  n->others[Role::kDescaleDo] = {0.5F}, Multiply(&n->d_o, 2);
  n->others[Role::kDescaleDp] = {1.0F / 16}, n->others[Role::kScaleDp] = {16};
  n->others[Role::kAmaxDp] = {most_of_ds};
  n->allowed[Role::kAmaxDp] = {most_of_ds * static_cast<float>(AttentionStatsBound(score))};
  const auto scale = [n](Role amax, Role role, float factor, std::vector<float>* gradient) {
    n->others[amax] = {LargestOf(*gradient)}, n->allowed[amax] = {0};
    n->others[role] = {factor}, Multiply(gradient, factor);
  };
  scale(Role::kAmaxDq, Role::kScaleDq, 4, &n->dq);
  scale(Role::kAmaxDk, Role::kScaleDk, 0.25F, &n->dk);
  scale(Role::kAmaxDv, Role::kScaleDv, 0.5F, &n->dv);
}

void ScaleForward(float score, AttentionNumbers* n) {
  const auto scale = [n](AttentionRole role, float value) { n->others[role] = {value}; };
  scale(AttentionRole::kAmaxO, LargestOf(n->o)), n->allowed[AttentionRole::kAmaxO] = {0};
  // 1 where some row matches one key. Kernels may take the largest before they divide by the sum, so that
  // 1 is right in any case.
  const float ties = std::exp(*std::min_element(n->stats.begin(), n->stats.end()) - score);
  const float least = 1 / std::round(ties);
  scale(AttentionRole::kAmaxS, (1 + least) / 2), n->allowed[AttentionRole::kAmaxS] = {(1 - least) / 2};
  scale(AttentionRole::kScaleO, 8), Multiply(&n->o, 8);
  if (const auto allowed = n->allowed.find(AttentionRole::kO); allowed != n->allowed.end())
    Multiply(&allowed->second, 8);
}

}  // namespace

void StoreScaled(const AttentionProblemSpec& spec, float most_of_ds, AttentionNumbers* numbers) {
  const auto score = static_cast<float>(ScoreOf(spec.logits));
  ScaleInputs(numbers);
  if (spec.backward)
    ScaleBackward(score, most_of_ds, numbers);
  else
    ScaleForward(score, numbers);
}

}  // namespace cudnn_ci
