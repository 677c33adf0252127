// Groups of keys that share a code in the exact data of attention, each key in one group. Must not know CUDA,
// cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_KEY_GROUPS_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_KEY_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "common/numeric/attention_bias.h"
#include "common/numeric/attention_shape.h"

namespace cudnn_ci {

struct KeyGroups {
  std::vector<std::vector<std::int64_t>> groups;  // of keys, ascending
  std::vector<std::size_t> of_key;                // of each key of the shape that counts, its group
  std::int64_t most = 1;                          // keys that a group may have, a power of two
  // All groups are small, so that there are more queries than groups.
  bool small = false;
  // Queries see so little of large groups that groups are to be made of what each of them sees: each key is
  // in a group of its own until then, and some are to stay there (IsAlone).
  bool by_sight = false;
  // Of a key whose code no other key has, so that every query finds one that matches alone.
  std::vector<bool> alone;

  std::size_t New();
  void Join(std::size_t group, std::int64_t key);
};

// `queries`: that see a key of this head of keys, of all heads of queries that share it. `common`: the keys
// [0, common) are seen by all of them, if no bias hides them. No group has more than `most` keys.
KeyGroups GroupKeys(const AttentionShape& shape, std::int64_t entry, const AttentionBias* bias,
                    std::int64_t queries, std::int64_t common, std::int64_t most, std::mt19937_64* random);

// 1 of less than 2.
std::int64_t PowerOfTwoUpTo(std::int64_t n);
std::int64_t PowerOfTwoFrom(std::int64_t n);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_KEY_GROUPS_H_
