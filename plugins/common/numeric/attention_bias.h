// The additive bias of the exact data of attention. Must not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_BIAS_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_BIAS_H_

#include <cstdint>
#include <vector>

#include "common/numeric/attention_shape.h"

namespace cudnn_ci {

// Of a key that a query is to see the bias is a number of the row and one of the key, both multiples of 8;
// they show in the statistics, and in the gradients. Of every other key it is -16384, so that its probability
// is 0. Some rows see half of the keys, here and there; some a part from one key to another, as with packed
// documents; some see all. A row sees one key at least. Beside another mask it sees the first one, and beside
// a causal mask those at the diagonal, so that the mask alone hides what is behind. A key's number is at most
// 24 more than another's, so that a score of 128 less stays 104 less, and exp(-104) is 0 in float32.
class AttentionBias {
 public:
  static constexpr std::int64_t kShortestPart = 16;  // keys, where there are as many

  explicit AttentionBias(const AttentionShape& shape);

  bool Shows(std::int64_t entry, std::int64_t head, std::int64_t query, std::int64_t key) const;
  double At(std::int64_t entry, std::int64_t head, std::int64_t query, std::int64_t key) const;
  // The part that is the key's: keys of one code are to have the same.
  double OfKey(std::int64_t key) const { return of_key_[static_cast<std::size_t>(key)]; }

 private:
  std::uint64_t Row(std::int64_t entry, std::int64_t head, std::int64_t query) const;

  const std::int64_t heads_, queries_, keys_;
  const bool shows_first_, causal_, by_entry_, by_head_;
  std::vector<double> of_key_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_BIAS_H_
