#include "framework/known_attention.h"

#include "common/attention_faults.h"
#include "common/known_rows.h"

namespace cudnn_ci {

std::string KnownOfAttention(const Context& ctx, const std::string& cudnn_version,
                             const AttentionProblemSpec& forward) {
  constexpr std::int64_t kAnyEngine = -1;
  AttentionProblemSpec backward = forward;
  backward.backward = true;
  const HitsCase hits = [&](const Predicates& row) {
    return HitsAttention(row, forward, kAnyEngine) || HitsAttention(row, backward, kAnyEngine);
  };
  return TextOfKnown(KnownRowsOf(ctx, cudnn_version, hits), {"wrong"}, hits);
}

}  // namespace cudnn_ci
