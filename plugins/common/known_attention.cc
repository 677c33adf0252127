#include "common/known_attention.h"

#include "common/attention_faults.h"
#include "common/known_rows.h"

namespace cudnn_ci {

std::string KnownOfAttention(const Context& ctx, const std::string& cudnn_version,
                             const AttentionProblemSpec& pass) {
  constexpr std::int64_t kAnyEngine = -1;
  const HitsCase hits = [&](const Predicates& row) { return HitsAttention(row, pass, kAnyEngine); };
  return TextOfKnown(KnownRowsOf(ctx, cudnn_version, hits), {"wrong"}, hits);
}

}  // namespace cudnn_ci
