#include "common/attention_faults.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace cudnn_ci {
namespace {

// Of the keys' length: cuDNN's kernels take so many at once.
constexpr std::int64_t kTile = 128;

bool IsOf(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool AtLeast(const std::vector<std::string>& values, std::int64_t number) {
  return values.size() == 1 && number >= std::atoll(values.front().c_str());
}

// A row of one mask is about it beside a bias, too, and a row of the bias about it beside a mask.
bool HitsMask(const std::vector<std::string>& values, AttentionMask mask) {
  if (IsOf(values, Name(mask)) || (HasBias(mask) && IsOf(values, Name(AttentionMask::kBias)))) return true;
  if (HasLengths(mask)) return IsOf(values, Name(AttentionMask::kPadding));
  return mask == AttentionMask::kBiasCausal && IsOf(values, Name(AttentionMask::kCausal));
}

bool Holds(const std::string& name, const std::vector<std::string>& values, const AttentionProblemSpec& spec,
           std::int64_t engine) {
  const AttentionShape& shape = spec.shape;
  if (name == "operation") return IsOf(values, spec.backward ? "attention_backward" : "attention_forward");
  if (name == "dtype") return IsOf(values, NameOf(spec.type));
  if (name == "mask") return HitsMask(values, shape.mask);
  if (name == "engine") return engine < 0 || IsOf(values, std::to_string(engine));
  if (name == "queries") return IsOf(values, std::to_string(shape.queries));
  if (name == "keys_mod_128") return IsOf(values, std::to_string(shape.keys % kTile));
  if (name == "keys_min") return AtLeast(values, shape.keys);
  if (name == "log_sum_below_88")
    return IsOf(values, spec.logits == AttentionLogits::kFarNegative ? "true" : "false");
  if (name == "large_logits")
    return IsOf(values, spec.logits == AttentionLogits::kOrdinary ? "false" : "true");
  if (name == "grouped") return IsOf(values, shape.Group() > 1 ? "true" : "false");
  if (name == "different_head_sizes")
    return IsOf(values, shape.head_size != shape.v_head_size ? "true" : "false");
  return name == "compute_capability_min" || name == "compute_capability_max";
}

}  // namespace

bool HitsAttention(const Predicates& hits, const AttentionProblemSpec& spec, std::int64_t engine) {
  // A row that names no operation of attention is about convolutions.
  return hits.count("operation") > 0 && std::all_of(hits.begin(), hits.end(), [&](const auto& predicate) {
           return Holds(predicate.first, predicate.second, spec, engine);
         });
}

}  // namespace cudnn_ci
