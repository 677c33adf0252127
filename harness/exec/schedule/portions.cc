#include "exec/schedule/portions.h"

#include <algorithm>
#include <numeric>

namespace cudnn_ci {

size_t Portions::Next(int64_t worker, const std::deque<size_t>& ready, const Weight& weight) {
  const auto at = [&](size_t place) { return std::lower_bound(ready.begin(), ready.end(), place); };
  const auto is_empty = [&](const Range& r) { return at(r.begin) >= at(r.end); };
  const auto weight_of = [&](const Range& r) {
    if (is_empty(r)) return size_t{0};
    return std::accumulate(at(r.begin), at(r.end), size_t{0},
                           [&](size_t sum, size_t i) { return sum + weight(i); });
  };
  // The first case of its second half; a single case is that itself.
  const auto middle_of = [&](const Range& r) {
    const size_t half = weight_of(r) / 2;
    auto middle = at(r.begin);
    for (size_t sum = 0; middle + 1 < at(r.end) && sum + weight(*middle) <= half; ++middle)
      sum += weight(*middle);
    return *middle;
  };
  if (ranges_.empty() && left_.empty()) left_.push_back({0, SIZE_MAX});
  Range& own = ranges_.try_emplace(worker, Range{0, 0}).first->second;
  if (is_empty(own)) {
    // What nobody works through is taken whole, and before anybody's is halved.
    const auto rest = std::find_if(left_.begin(), left_.end(), [&](const Range& r) { return !is_empty(r); });
    Range* largest = nullptr;
    for (auto& [id, range] : ranges_)
      if (!largest || weight_of(range) > weight_of(*largest)) largest = &range;
    if (rest != left_.end()) {
      own = *rest;
      left_.erase(rest);
    } else if (!is_empty(*largest)) {
      own = {middle_of(*largest), largest->end};
      largest->end = own.begin;
    } else {
      own = {ready.front(), ready.front() + 1};  // a case that was given back, behind its worker's place
    }
  }
  const size_t next = *at(own.begin);
  own.begin = next + 1;
  return next;
}

void Portions::Release(int64_t worker) {
  const auto found = ranges_.find(worker);
  if (found == ranges_.end()) return;
  left_.push_back(found->second);
  ranges_.erase(found);
}

}  // namespace cudnn_ci
