#include "common/numeric/attention_keys.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "common/numeric/attention_key_groups.h"

namespace cudnn_ci {
namespace {

using Random = std::mt19937_64;
using Keys = std::vector<std::int64_t>;

constexpr std::int64_t kFewQuestions = 16;  // each has a set of its own
constexpr int kTries = 32, kPlans = 16;

// 0 of nothing.
std::int64_t Below(Random* random, std::int64_t n) {
  return n < 1 ? 0 : static_cast<std::int64_t>((*random)() % static_cast<std::uint64_t>(n));
}
std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }
std::int64_t SizeOf(const Keys& keys) { return static_cast<std::int64_t>(keys.size()); }

bool IsPowerOfTwo(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }
template <class T>
void Shuffle(std::vector<T>* all, Random* random) {
  for (auto i = static_cast<std::int64_t>(all->size()) - 1; i > 0; --i)
    std::swap((*all)[At(i)], (*all)[At(Below(random, i + 1))]);
}

class Planner {
 public:
  Planner(const AttentionShape& shape, std::int64_t entry, std::int64_t kv_head, const AttentionBias* bias,
          const KeyPlanLimits& limits, Random* random)
      : shape_(shape),
        entry_(entry),
        kv_head_(kv_head),
        most_keys_(limits.keys_of_a_set),
        bias_(bias),
        random_(random) {
    for (std::int64_t i = 0; i < shape.queries; ++i) ranges_.push_back(shape.Visible(entry, i));
    for (std::int64_t h = 0; h < shape.Group(); ++h)
      for (std::int64_t i = 0; i < shape.queries; ++i)
        if (ranges_[At(i)].Count() > 0) slots_.push_back({h, i, 0, {}});
    const auto slots = static_cast<std::int64_t>(slots_.size());
    few_ = slots > 0 && slots <= std::min(kFewQuestions, limits.overlapping_sets);
    for (std::int64_t j = 0; j < shape.keys; ++j)
      if (std::any_of(slots_.begin(), slots_.end(), [&](const KeyQuestion& slot) { return Shows(slot, j); }))
        seen_.push_back(j);
  }

  // Some keys may be left over where masks leave little choice: as few as a number of attempts leaves.
  KeyPlan Make() {
    KeyPlan best;
    std::int64_t least = 0;
    for (int attempt = 0; attempt < kPlans; ++attempt) {
      plan_ = {};
      plan_.overlapping = few_;
      asked_.assign(At(shape_.keys), 0);
      if (few_)
        AskWithSetsOfTheirOwn();
      else
        AskForGroups();
      const std::int64_t left = CountUnasked(seen_);
      if (attempt == 0 || left < least) best = std::move(plan_), least = left;
      if (least == 0 || few_) break;
    }
    plan_ = std::move(best);
    // Keys behind the length: wherever they are, no query sees them.
    for (std::int64_t j = shape_.Keys(entry_); j < shape_.keys && !plan_.sets.empty(); ++j)
      plan_.sets[At(Below(random_, static_cast<std::int64_t>(plan_.sets.size())))].push_back(j);
    return std::move(plan_);
  }

 private:
  bool Shows(const KeyQuestion& slot, std::int64_t key) const {
    const KeyRange& range = ranges_[At(slot.query)];
    return key >= range.begin && key < range.end &&
           (!bias_ || bias_->Shows(entry_, kv_head_ * shape_.Group() + slot.head, slot.query, key));
  }
  Keys Seen(const KeyQuestion& slot, const Keys& of) const {
    Keys seen;
    for (const std::int64_t key : of)
      if (Shows(slot, key)) seen.push_back(key);
    return seen;
  }
  std::int64_t CountUnasked(const Keys& keys) const {
    return std::count_if(keys.begin(), keys.end(), [this](std::int64_t key) { return asked_[At(key)] == 0; });
  }
  void Ask(KeyQuestion slot, std::size_t set, Keys keys) {
    for (const std::int64_t key : keys) ++asked_[At(key)];
    slot.set = set;
    slot.keys = std::move(keys);
    plan_.questions.push_back(std::move(slot));
  }

  // A few queries. Each asks for its share of what nobody has asked for yet, and for others that make the
  // number a power of two.
  void AskWithSetsOfTheirOwn() {
    Shuffle(&slots_, random_);
    for (std::size_t n = 0; n < slots_.size(); ++n) {
      const Keys candidates = Candidates(slots_[n]);
      const auto left = static_cast<std::int64_t>(slots_.size() - n);
      const std::int64_t unasked = CountUnasked(candidates);
      const std::int64_t wanted =
          unasked > 0 ? PowerOfTwoFrom((unasked + left - 1) / left) : std::int64_t{1} << Below(random_, 3);
      const std::int64_t size = std::min({wanted, PowerOfTwoUpTo(SizeOf(candidates)), most_keys_});
      Keys keys = Pick(candidates, size);
      std::sort(keys.begin(), keys.end());
      plan_.sets.push_back(keys);
      Ask(slots_[n], n, std::move(keys));
    }
  }

  Keys Candidates(const KeyQuestion& slot) const {
    Keys all(At(shape_.keys));
    std::iota(all.begin(), all.end(), 0);
    return MostOfOnePart(Seen(slot, all));
  }
  // With a bias those whose part of it is the same: the part that most of those have of which nobody has
  // asked. Where one query cannot ask for all, each head of keys has another part.
  Keys MostOfOnePart(Keys keys) const {
    if (!bias_) return keys;
    std::map<double, Keys> by_part;
    for (const std::int64_t key : keys) by_part[bias_->OfKey(key)].push_back(key);
    if (by_part.empty()) return {};
    if (slots_.size() == 1)
      return std::next(by_part.begin(), HeadNumber() % static_cast<std::int64_t>(by_part.size()))->second;
    const auto more = [this](const auto& a, const auto& b) {
      return CountUnasked(a.second) < CountUnasked(b.second);
    };
    return std::max_element(by_part.begin(), by_part.end(), more)->second;
  }
  std::int64_t HeadNumber() const { return entry_ * shape_.kv_heads + kv_head_; }

  // `size` of them: first those of which nobody has asked, then the first and the last one, since there masks
  // and tiles end. Where one query cannot ask for all, each head of keys begins elsewhere.
  Keys Pick(const Keys& candidates, std::int64_t size) {
    Keys first, then;
    for (const std::int64_t key : candidates) (asked_[At(key)] > 0 ? then : first).push_back(key);
    if (slots_.size() == 1) {
      Random same(static_cast<std::uint64_t>(candidates.size()));
      Shuffle(&first, &same);
      std::rotate(first.begin(), first.begin() + HeadNumber() * size % SizeOf(first), first.end());
    } else {
      if (Below(random_, 2) == 0) Shuffle(&first, random_);
      Shuffle(&then, random_);
    }
    first.insert(first.end(), then.begin(), then.end());
    Keys keys(first.begin(), first.begin() + size);
    // In the place of those that somebody has asked for: the others may have nobody else.
    for (const std::int64_t edge : {candidates.front(), candidates.back()})
      if (std::int64_t& last = keys.back();
          std::find(keys.begin(), keys.end(), edge) == keys.end() && asked_[At(last)] > 0) {
        last = edge;
        std::rotate(keys.begin(), keys.end() - 1, keys.end());
      }
    return keys;
  }

  // Many queries: each key is in one group, and each group is asked for until all of its keys have been. Of
  // the queries that may be spared, some ask for where what they see ends.
  void AskForGroups() {
    const std::int64_t common = bias_ ? shape_.Keys(entry_) : FirstNotSeenByAll();
    groups_ = GroupKeys(shape_, entry_, bias_, static_cast<std::int64_t>(slots_.size()), common, most_keys_,
                        random_);
    free_.assign(At(shape_.queries), {});
    Shuffle(&slots_, random_);
    for (std::size_t s = 0; s < slots_.size(); ++s)
      if (!groups_.small || Below(random_, 3) > 0 || !AskForAnEdge(slots_[s]))
        free_[At(slots_[s].query)].push_back(s);
    next_.resize(At(shape_.queries + 1));
    for (std::size_t i = 0; i < next_.size(); ++i) next_[i] = static_cast<std::int64_t>(i);
    for (std::int64_t i = 0; i < shape_.queries; ++i) Forget(i);
    for (const std::int64_t key : FewestQueriesFirst())
      if (asked_[At(key)] == 0 && (!groups_.by_sight || groups_.alone[At(key)])) AskFor(key);
    Regroup();
    for (const std::vector<std::size_t>& slots : free_)
      for (const std::size_t s : slots) AskForAny(slots_[s]);
    plan_.sets = std::move(groups_.groups);
  }

  // The queries that see a key when no bias hides it: they are neighbours.
  std::pair<std::int64_t, std::int64_t> QueriesOf(std::int64_t key) const {
    std::int64_t last = shape_.Queries(entry_);
    const auto seen = std::partition_point(ranges_.begin(), ranges_.begin() + last,
                                           [key](const KeyRange& range) { return range.end <= key; });
    if (shape_.mask == AttentionMask::kSlidingWindow) last = std::min(last, key + shape_.window);
    return {seen - ranges_.begin(), last};
  }

  Keys FewestQueriesFirst() {
    Keys keys(At(shape_.Keys(entry_)));
    std::iota(keys.begin(), keys.end(), 0);
    Shuffle(&keys, random_);
    const bool window = shape_.mask == AttentionMask::kSlidingWindow;
    const std::int64_t common = FirstNotSeenByAll(), tail = shape_.Queries(entry_) - shape_.window;
    // Of windows those at the end, then the others in the order in which their last query comes.
    const auto rank = [=](std::int64_t key) {
      if (!window) return -std::max(key, common - 1);
      return key > tail ? -key : key;
    };
    std::stable_sort(keys.begin(), keys.end(),
                     [&rank](std::int64_t a, std::int64_t b) { return rank(a) < rank(b); });
    return keys;
  }
  // Keys before it are seen by all queries, if no bias hides them; those behind it by fewer and fewer.
  std::int64_t FirstNotSeenByAll() const {
    std::int64_t end = shape_.Keys(entry_);
    for (const KeyQuestion& slot : slots_) end = std::min(end, ranges_[At(slot.query)].end);
    if (shape_.mask == AttentionMask::kSlidingWindow) return 0;
    return end;
  }

  // The next query from `i` on that has not asked yet.
  std::int64_t NextFree(std::int64_t i) {
    std::int64_t root = i;
    while (next_[At(root)] != root) root = next_[At(root)];
    while (next_[At(i)] != root) i = std::exchange(next_[At(i)], root);
    return root;
  }
  void Forget(std::int64_t query) {
    if (free_[At(query)].empty()) next_[At(query)] = query + 1;
  }

  // By the query that gets the most keys out of it of which nobody has asked, of a few.
  void AskFor(std::int64_t key) {
    const auto [first, last] = QueriesOf(key);
    const std::int64_t start = shape_.mask == AttentionMask::kSlidingWindow || first >= last
                                   ? first
                                   : first + Below(random_, last - first);
    const std::size_t set = groups_.of_key[At(key)];
    Keys best;
    std::int64_t query = -1, at = -1, tried = 0, most = 0;
    const auto look = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = NextFree(from); i < to && tried < kTries; i = NextFree(i + 1))
        for (std::size_t n = 0; n < free_[At(i)].size() && tried < kTries; ++n) {
          Keys keys = Seen(slots_[free_[At(i)][n]], groups_.groups[set]);
          if (!std::binary_search(keys.begin(), keys.end(), key) || !IsPowerOfTwo(SizeOf(keys))) continue;
          ++tried;
          const std::int64_t unasked = CountUnasked(keys);
          if (unasked <= most) continue;
          most = unasked, best = std::move(keys), query = i, at = static_cast<std::int64_t>(n);
          if (most == SizeOf(groups_.groups[set])) tried = kTries;
        }
    };
    look(start, last);
    look(first, start);
    if (query < 0) return;
    std::vector<std::size_t>& slots = free_[At(query)];
    Ask(slots_[slots[At(at)]], set, std::move(best));
    slots.erase(slots.begin() + at);
    Forget(query);
  }

  // Keys of which nobody could ask as they were grouped make new groups, each such that one query sees all of
  // it: one that has not asked, or all of whose keys another asks for, too. No question has these keys, so
  // that they may leave their groups.
  void Regroup() {
    Keys left;
    for (std::int64_t j = 0; j < shape_.Keys(entry_); ++j)
      if (asked_[At(j)] == 0) left.push_back(j);
    for (std::int64_t i = 0; i < shape_.queries; ++i) {
      std::vector<std::size_t>& slots = free_[At(i)];
      while (!slots.empty() && AskForNewGroup(slots_[slots.back()], &left)) slots.pop_back();
    }
    for (std::size_t n = 0, count = plan_.questions.size(); n < count && !left.empty(); ++n) {
      const KeyQuestion before = plan_.questions[n];
      const auto again = [this](std::int64_t key) { return asked_[At(key)] > 1; };
      if (!std::all_of(before.keys.begin(), before.keys.end(), again) ||
          !AskForNewGroup({before.head, before.query, 0, {}}, &left))
        continue;
      for (const std::int64_t key : before.keys) --asked_[At(key)];
      plan_.questions[n] = std::move(plan_.questions.back());
      plan_.questions.pop_back();
    }
  }
  bool AskForNewGroup(const KeyQuestion& slot, Keys* left) {
    Keys keys = MostOfOnePart(Seen(slot, *left));
    if (keys.empty()) return false;
    // In a window the codes that no other key has are to stay so.
    const std::int64_t most = shape_.mask == AttentionMask::kSlidingWindow ? 1 : groups_.most;
    keys.resize(At(std::min(most, PowerOfTwoUpTo(SizeOf(keys)))));
    const std::size_t group = groups_.New();
    for (const std::int64_t key : keys) {
      Keys& old = groups_.groups[groups_.of_key[At(key)]];
      old.erase(std::find(old.begin(), old.end(), key));
      left->erase(std::find(left->begin(), left->end(), key));
      groups_.Join(group, key);
    }
    Ask(slot, group, std::move(keys));
    return true;
  }

  // For the set of a key that the query sees. False if it sees no power of two of the set.
  bool TryToAsk(const KeyQuestion& slot, std::int64_t key) {
    const std::size_t set = groups_.of_key[At(key)];
    Keys keys = Shows(slot, key) ? Seen(slot, groups_.groups[set]) : Keys();
    const bool can = IsPowerOfTwo(SizeOf(keys));
    if (can) Ask(slot, set, std::move(keys));
    return can;
  }

  bool AskForAnEdge(const KeyQuestion& slot) {
    const KeyRange range = ranges_[At(slot.query)];
    // The last keys of all are seen by few queries.
    const bool may_spare_its_last = range.begin > 0 && slot.query + shape_.window < shape_.Queries(entry_);
    return TryToAsk(slot, may_spare_its_last && Below(random_, 2) == 0 ? range.begin : range.end - 1);
  }

  // Mostly the last and the first one that it sees, since there masks and tiles end.
  void AskForAny(const KeyQuestion& slot) {
    const KeyRange range = ranges_[At(slot.query)];
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const std::int64_t dice = Below(random_, 10);
      std::int64_t key = range.begin + Below(random_, range.Count());
      if (dice < 4) key = range.end - 1;
      if (dice == 4 || (dice < 8 && dice > 4 && range.begin > 0)) key = range.begin;
      // Behind a gap, the first one.
      for (std::int64_t n = 0; n < range.Count() && !Shows(slot, key); ++n)
        key = key + 1 < range.end ? key + 1 : range.begin;
      if (TryToAsk(slot, key)) return;
    }
    for (std::int64_t key = range.begin; key < range.end; ++key)
      if (TryToAsk(slot, key)) return;
    throw std::logic_error("no set of which a query sees a power of two");
  }

  const AttentionShape& shape_;
  const std::int64_t entry_, kv_head_, most_keys_;
  const AttentionBias* const bias_;
  Random* const random_;
  bool few_ = false;                            // queries, so that each has a set of its own
  Keys seen_;                                   // by some query
  std::vector<KeyRange> ranges_;                // of each query
  std::vector<KeyQuestion> slots_;              // those that see a key, without their keys
  std::vector<int> asked_;                      // of each key, how often
  KeyGroups groups_;                            // where plan_ does not overlap
  std::vector<std::vector<std::size_t>> free_;  // of each query, its slots that have not asked
  std::vector<std::int64_t> next_;
  KeyPlan plan_;
};

}  // namespace

KeyPlan PlanKeys(const AttentionShape& shape, std::int64_t entry, std::int64_t kv_head,
                 const AttentionBias* bias, const KeyPlanLimits& limits, std::mt19937_64* random) {
  return Planner(shape, entry, kv_head, bias, limits, random).Make();
}

}  // namespace cudnn_ci
