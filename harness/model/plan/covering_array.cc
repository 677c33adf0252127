// Greedy, one combination at a time: it begins with a pair that is still missing, takes for each other factor
// the value that brings most missing pairs, and goes back where exclusions leave no value.
#include "model/plan/covering_array.h"

#include <algorithm>
#include <numeric>

namespace cudnn_ci {
namespace {

constexpr size_t kMostPairs = 1'000'000;
constexpr size_t kMostValues = 10'000;      // of all factors
constexpr size_t kMostSteps = 100'000'000;  // values that were weighed, exclusions that were asked
// Beginnings that are tried for each combination; the one that brings most pairs is taken.
constexpr size_t kBeginnings = 16, kMostLookedAt = 1000;

constexpr size_t kOpen = static_cast<size_t>(-1);  // of a factor that has no value yet

struct Pair {
  size_t factor, value, other_factor, other_value;
};

class Cover {
 public:
  explicit Cover(const Factors& factors) : factors_(factors), sizes_(factors.sizes) {
    for (const size_t size : sizes_) {
      first_.push_back(values_);
      values_ += size;
    }
    for (size_t a = 0; a < sizes_.size(); ++a)
      for (size_t b = a + 1; b < sizes_.size(); ++b) pairs_ += sizes_[a] * sizes_[b];
    for (const auto& exclusion : factors.exclusions) {
      everywhere_.emplace_back();
      for (const std::vector<bool>& of : exclusion)
        everywhere_.back().push_back(std::all_of(of.begin(), of.end(), [](bool all) { return all; }));
    }
    uses_.resize(values_);
  }

  std::optional<std::vector<Combination>> Make() {
    if (sizes_.size() < 2) return Singles();
    if (pairs_ > kMostPairs || values_ > kMostValues) return std::nullopt;
    missing_.assign(values_ * values_, false);
    std::vector<Pair> pairs;
    for (size_t a = 0; a < sizes_.size(); ++a)
      for (size_t b = a + 1; b < sizes_.size(); ++b)
        for (size_t va = 0; va < sizes_[a]; ++va)
          for (size_t vb = 0; vb < sizes_[b]; ++vb) {
            pairs.push_back({a, va, b, vb});
            SetMissing(pairs.back(), true);
          }
    std::vector<Combination> made;
    for (size_t first = 0; first < pairs.size();) {
      if (!IsMissing(pairs[first])) {
        ++first;
      } else if (const std::optional<Combination> best = Best(pairs, first)) {
        made.push_back(Take(*best));
      }
      if (steps_ > kMostSteps) return std::nullopt;
    }
    std::sort(made.begin(), made.end());
    return made;
  }

 private:
  std::vector<Combination> Singles() const {
    std::vector<Combination> made;
    if (sizes_.empty()) return {{}};
    for (size_t value = 0; value < sizes_.front(); ++value)
      if (IsAllowed({value})) made.push_back({value});
    return made;
  }

  // Of combinations that begin with a missing pair. A pair that no combination has is no longer missed.
  std::optional<Combination> Best(const std::vector<Pair>& pairs, size_t first) {
    std::optional<Combination> best;
    size_t most = 0, begun = 0;
    for (size_t i = first; i < pairs.size() && begun < kBeginnings && i < first + kMostLookedAt; ++i) {
      const Pair& pair = pairs[i];
      if (!IsMissing(pair)) continue;
      ++begun;
      Combination with(sizes_.size(), kOpen);
      with[pair.factor] = pair.value, with[pair.other_factor] = pair.other_value;
      if (!IsAllowed(with) || !Complete(&with, 0)) {
        SetMissing(pair, false);
        continue;
      }
      const size_t brings = Brings(with);
      if (!best || brings > most) best = with, most = brings;
    }
    return best;
  }

  // False: exclusions leave no value for one of the factors from `from` on.
  bool Complete(Combination* with, size_t from) {
    while (from < sizes_.size() && (*with)[from] != kOpen) ++from;
    if (from == sizes_.size()) return true;
    std::vector<size_t> order(sizes_[from]), gains(sizes_[from]);
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t value = 0; value < order.size(); ++value) gains[value] = GainOf(*with, from, value);
    steps_ += order.size() * sizes_.size();
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      if (gains[a] != gains[b]) return gains[a] > gains[b];
      return uses_[first_[from] + a] < uses_[first_[from] + b];
    });
    for (const size_t value : order) {
      steps_ += 1 + factors_.exclusions.size();
      if (steps_ > kMostSteps) break;
      (*with)[from] = value;
      if (IsAllowed(*with) && Complete(with, from + 1)) return true;
    }
    (*with)[from] = kOpen;
    return false;
  }

  size_t GainOf(const Combination& with, size_t factor, size_t value) const {
    size_t gain = 0;
    for (size_t other = 0; other < with.size(); ++other)
      if (other != factor && with[other] != kOpen) gain += IsMissing(factor, value, other, with[other]);
    return gain;
  }

  size_t Brings(const Combination& whole) const {
    size_t twice = 0;
    for (size_t factor = 0; factor < whole.size(); ++factor) twice += GainOf(whole, factor, whole[factor]);
    return twice / 2;
  }

  const Combination& Take(const Combination& whole) {
    for (size_t a = 0; a < whole.size(); ++a) {
      ++uses_[first_[a] + whole[a]];
      for (size_t b = a + 1; b < whole.size(); ++b) SetMissing(a, whole[a], b, whole[b], false);
    }
    return whole;
  }

  // Whether no exclusion holds, whatever the factors without a value become.
  bool IsAllowed(const Combination& with) const {
    for (size_t e = 0; e < factors_.exclusions.size(); ++e) {
      bool holds = true;
      for (size_t factor = 0; factor < with.size() && holds; ++factor)
        holds = with[factor] == kOpen ? everywhere_[e][factor] : factors_.exclusions[e][factor][with[factor]];
      if (holds) return false;
    }
    return true;
  }

  size_t PlaceOf(size_t factor, size_t value, size_t other, size_t other_value) const {
    const size_t a = first_[factor] + value, b = first_[other] + other_value;
    return std::min(a, b) * values_ + std::max(a, b);
  }
  bool IsMissing(const Pair& p) const { return IsMissing(p.factor, p.value, p.other_factor, p.other_value); }
  void SetMissing(const Pair& p, bool missing) {
    SetMissing(p.factor, p.value, p.other_factor, p.other_value, missing);
  }
  bool IsMissing(size_t factor, size_t value, size_t other, size_t other_value) const {
    return missing_[PlaceOf(factor, value, other, other_value)];
  }
  void SetMissing(size_t factor, size_t value, size_t other, size_t other_value, bool missing) {
    missing_[PlaceOf(factor, value, other, other_value)] = missing;
  }

  const Factors& factors_;
  const std::vector<size_t>& sizes_;
  std::vector<size_t> first_;  // by factor: the place of its first value among all values
  size_t values_ = 0, pairs_ = 0, steps_ = 0;
  std::vector<std::vector<bool>> everywhere_;  // [exclusion][factor]: it does not ask for a value of that
  std::vector<bool> missing_;                  // [value][value], the lower place first
  std::vector<size_t> uses_;                   // by value: combinations that have it
};

}  // namespace

std::optional<std::vector<Combination>> CoverPairs(const Factors& factors) { return Cover(factors).Make(); }

std::optional<std::vector<Combination>> EveryCombination(const Factors& factors, size_t most) {
  size_t count = 1;
  for (const size_t size : factors.sizes)
    if ((count *= size) > most) return std::nullopt;
  const auto is_left_out = [&](const Combination& c) {
    return std::any_of(factors.exclusions.begin(), factors.exclusions.end(), [&](const auto& exclusion) {
      for (size_t factor = 0; factor < c.size(); ++factor)
        if (!exclusion[factor][c[factor]]) return false;
      return true;
    });
  };
  std::vector<Combination> all;
  Combination c(factors.sizes.size());
  for (size_t i = 0; i < count; ++i) {
    if (!is_left_out(c)) all.push_back(c);
    for (size_t factor = c.size(); factor-- > 0 && ++c[factor] == factors.sizes[factor];) c[factor] = 0;
  }
  return all;
}

}  // namespace cudnn_ci
