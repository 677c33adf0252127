// Which keys share a code in the exact data of attention, and which of them each query asks for, so that
// every key is asked for by some query. Must not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_KEYS_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "common/numeric/attention_bias.h"
#include "common/numeric/attention_shape.h"

namespace cudnn_ci {

// A query of one of the query heads that share a head of keys, and what it asks for.
struct KeyQuestion {
  std::int64_t head = 0, query = 0;  // head: 0 to Group() - 1
  std::size_t set = 0;
  // The keys of the set that the query sees, ascending. Their number is a power of two, and with a bias their
  // parts of it are equal, so that the softmax gives each of them the same exact probability.
  std::vector<std::int64_t> keys = {};
};

// The plan of one head of keys. A query that sees no key has no question.
struct KeyPlan {
  // Keys of one set have a digit of a code, or a whole code, in common. Where `overlapping` is false, each
  // key is in exactly one set; where it is true, a key may be in several sets or in none.
  bool overlapping = false;
  std::vector<std::vector<std::int64_t>> sets;
  // Questions that are the first to ask for a key come first.
  std::vector<KeyQuestion> questions;
};

struct KeyPlanLimits {
  std::int64_t overlapping_sets = 1;  // 1 or more
  std::int64_t keys_of_a_set = 1;     // a power of two
};

// Keys behind a length are in sets, but no question has them. Every other key that a query sees is asked for,
// unless a single query sees a number of keys that is no power of two: it asks for as many as the largest
// power of two below, and other heads of keys for those that are left. Likewise where there are more keys
// than all queries together may ask for. The same for equal arguments.
KeyPlan PlanKeys(const AttentionShape& shape, std::int64_t entry, std::int64_t kv_head,
                 const AttentionBias* bias, const KeyPlanLimits& limits, std::mt19937_64* random);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_KEYS_H_
