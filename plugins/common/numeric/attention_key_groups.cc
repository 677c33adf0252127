#include "common/numeric/attention_key_groups.h"

#include <algorithm>
#include <map>

namespace cudnn_ci {
namespace {

using Random = std::mt19937_64;
using Keys = std::vector<std::int64_t>;

constexpr std::int64_t kUsualGroup = 4;  // keys at most where there are about as many queries

std::int64_t Below(Random* random, std::int64_t n) {
  return n < 1 ? 0 : static_cast<std::int64_t>((*random)() % static_cast<std::uint64_t>(n));
}
std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

class Grouping {
 public:
  Grouping(const AttentionShape& shape, std::int64_t keys, const AttentionBias* bias, Random* random)
      : shape_(shape), keys_(keys), bias_(bias), random_(random) {
    made_.of_key.assign(At(keys), 0);
    made_.alone.assign(At(keys), false);
  }

  // Keys that all queries see make large groups where there are fewer queries than keys.
  KeyGroups Make(std::int64_t queries, std::int64_t common, std::int64_t most) {
    // About half of the queries are to be left for the edges of what they see.
    const std::int64_t left = std::max<std::int64_t>(1, queries - (keys_ - common) * 3 / 5);
    made_.most = std::min(PowerOfTwoFrom((2 * common + left - 1) / left), most);
    made_.small = made_.most <= kUsualGroup;
    made_.by_sight = bias_ && !made_.small;
    if (made_.small) made_.most = std::min(kUsualGroup, most);
    // Each query sees a part of the keys that are left.
    if (made_.by_sight) made_.most = std::min(2 * made_.most, most);
    for (std::int64_t j = 0; j < keys_; ++j) made_.alone[At(j)] = IsAlone(j);
    if (made_.by_sight)
      for (std::int64_t j = 0; j < keys_; ++j) made_.Join(made_.New(), j);
    else if (!made_.small)
      GroupEvenly(common);
    if (!made_.by_sight) GroupNeighboursAndOthers(made_.small ? 0 : common, keys_);
    return std::move(made_);
  }

 private:
  // Queries that begin at the first key see that, a whole window one of each `window` keys, and what is left
  // of it at the end the last key; a query with a bias one of each shortest part that a bias shows.
  bool IsAlone(std::int64_t key) const {
    if (made_.by_sight) return key % AttentionBias::kShortestPart == 0;
    if (key == 0 || shape_.mask != AttentionMask::kSlidingWindow) return key == 0;
    return key % shape_.window == 0 || key == shape_.keys - 1;
  }

  // Keys [0, end): neighbours in some groups, far apart in others.
  void GroupEvenly(std::int64_t end) {
    made_.Join(made_.New(), 0);
    Keys near, far;
    for (std::int64_t from = 1; from < end; from += made_.most) {
      Keys* const to = Below(random_, 2) == 0 ? &near : &far;
      for (std::int64_t j = from; j < std::min(end, from + made_.most); ++j) to->push_back(j);
    }
    for (std::size_t i = far.size(); i > 1; --i)
      std::swap(far[i - 1], far[At(Below(random_, static_cast<std::int64_t>(i)))]);
    near.insert(near.end(), far.begin(), far.end());
    for (std::size_t from = 0; from < near.size();) {
      const std::int64_t count =
          std::min(made_.most, PowerOfTwoUpTo(static_cast<std::int64_t>(near.size() - from)));
      const std::size_t group = made_.New();
      for (std::int64_t n = 0; n < count; ++n) made_.Join(group, near[from++]);
      std::sort(made_.groups[group].begin(), made_.groups[group].end());
    }
  }

  // Keys [begin, end) in groups of 1, 2 and 4. Neighbours share a code as often as keys that are far apart: a
  // mask that is off by one shows.
  void GroupNeighboursAndOthers(std::int64_t begin, std::int64_t end) {
    struct Open {
      std::size_t group;
      std::int64_t wanted;
    };
    std::vector<Open> open;
    const std::int64_t reach =
        shape_.mask == AttentionMask::kSlidingWindow ? std::max<std::int64_t>(1, shape_.window / 2) : end;
    for (std::int64_t j = begin; j < end; ++j) {
      if (made_.alone[At(j)]) {
        made_.Join(made_.New(), j);
        continue;
      }
      const auto fits = [&](const Open& of) {
        const Keys& members = made_.groups[of.group];
        return j - members.front() <= reach && (!bias_ || bias_->OfKey(members.front()) == bias_->OfKey(j));
      };
      open.erase(std::remove_if(open.begin(), open.end(),
                                [&](const Open& of) { return j - made_.groups[of.group].front() > reach; }),
                 open.end());
      const std::int64_t dice = Below(random_, 10);
      std::size_t at = open.size();
      if (dice < 4 && !open.empty()) at = open.size() - 1;
      if (dice >= 4 && dice < 8) at = At(Below(random_, static_cast<std::int64_t>(open.size())));
      if (at < open.size() && fits(open[at])) {
        made_.Join(open[at].group, j);
        if (static_cast<std::int64_t>(made_.groups[open[at].group].size()) == open[at].wanted)
          open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      const std::size_t group = made_.New();
      made_.Join(group, j);
      if (const std::int64_t wanted = std::int64_t{1} << Below(random_, 3); wanted > 1)
        open.push_back({group, wanted});
    }
    SplitThrees();
  }
  // So that a query that sees all of a group can ask for it.
  void SplitThrees() {
    for (std::size_t g = 0; g < made_.groups.size(); ++g) {
      if (made_.groups[g].size() != 3) continue;
      const std::int64_t key = made_.groups[g].back();
      made_.groups[g].pop_back();
      made_.Join(made_.New(), key);
    }
  }

  const AttentionShape& shape_;
  const std::int64_t keys_;
  const AttentionBias* const bias_;
  Random* const random_;
  KeyGroups made_;
};

}  // namespace

std::size_t KeyGroups::New() {
  groups.emplace_back();
  return groups.size() - 1;
}

void KeyGroups::Join(std::size_t group, std::int64_t key) {
  groups[group].push_back(key);
  of_key[static_cast<std::size_t>(key)] = group;
}

std::int64_t PowerOfTwoUpTo(std::int64_t n) {
  std::int64_t power = 1;
  while (2 * power <= n) power *= 2;
  return power;
}

std::int64_t PowerOfTwoFrom(std::int64_t n) {
  const std::int64_t below = PowerOfTwoUpTo(n);
  return below < n ? 2 * below : below;
}

KeyGroups GroupKeys(const AttentionShape& shape, std::int64_t entry, const AttentionBias* bias,
                    std::int64_t queries, std::int64_t common, std::int64_t most, std::mt19937_64* random) {
  return Grouping(shape, shape.Keys(entry), bias, random).Make(queries, common, most);
}

}  // namespace cudnn_ci
