#include "common/numeric/attention_bias.h"

#include <algorithm>

#include "common/numeric/random_data.h"

namespace cudnn_ci {
namespace {

constexpr std::uint64_t kSeedOfRows = 31, kSeedOfKeys = 32, kSeedOfElements = 33, kSeedOfParts = 34;
constexpr double kHidden = -16384, kStep = 8;
constexpr std::int64_t kFewKeys = 64;

}  // namespace

AttentionBias::AttentionBias(const AttentionShape& shape)
    : heads_(shape.BiasHeads()),
      queries_(shape.queries),
      keys_(shape.keys),
      shows_first_(shape.keys <= kFewKeys || shape.mask != AttentionMask::kBias),
      causal_(shape.mask == AttentionMask::kBiasCausal),
      by_entry_(shape.BiasBatch() > 1),
      by_head_(shape.BiasHeads() > 1) {
  // As its neighbour's as often as not, so that keys side by side may share a code.
  for (std::int64_t j = 0; j < keys_; ++j) {
    const std::uint64_t random = RandomWord(kSeedOfKeys, static_cast<std::uint64_t>(j));
    const bool same = j > 0 && random % 2 == 0;
    of_key_.push_back(same ? of_key_.back() : kStep * static_cast<double>((random >> 8) % 4));
  }
}

std::uint64_t AttentionBias::Row(std::int64_t entry, std::int64_t head, std::int64_t query) const {
  return static_cast<std::uint64_t>(((by_entry_ ? entry : 0) * heads_ + (by_head_ ? head : 0)) * queries_ +
                                    query);
}

bool AttentionBias::Shows(std::int64_t entry, std::int64_t head, std::int64_t query, std::int64_t key) const {
  const std::uint64_t row = Row(entry, head, query), random = RandomWord(kSeedOfRows, row);
  // So that each row has one: the first key has a code of its own, and no mask beside the bias hides it.
  if (shows_first_ && key == 0) return true;
  // What is beside the diagonal is the causal mask's alone to hide.
  if (causal_ && (key == query || key == query + 1)) return true;
  switch (random % 4) {
    case 0: {
      const std::uint64_t part = RandomWord(kSeedOfParts, row);
      const auto keys = static_cast<std::uint64_t>(keys_);
      std::int64_t begin = static_cast<std::int64_t>((part >> 32) % keys);
      const std::int64_t end =
          std::min(keys_, begin + kShortestPart + static_cast<std::int64_t>((part & 0xFFFFFFFFU) % keys));
      begin = std::max<std::int64_t>(0, std::min(begin, end - kShortestPart));
      return key >= begin && key < end;
    }
    case 1:
      return true;
    default:
      return RandomWord(kSeedOfElements + row, static_cast<std::uint64_t>(key)) % 2 == 0;
  }
}

double AttentionBias::At(std::int64_t entry, std::int64_t head, std::int64_t query, std::int64_t key) const {
  if (!Shows(entry, head, query, key)) return kHidden;
  const std::uint64_t random = RandomWord(kSeedOfRows, Row(entry, head, query));
  return kStep * (static_cast<double>((random >> 8) % 7) - 3) + OfKey(key);
}

}  // namespace cudnn_ci
