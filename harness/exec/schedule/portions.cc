#include "exec/schedule/portions.h"

#include <algorithm>

namespace cudnn_ci {

size_t Portions::Next(int64_t worker, const std::deque<size_t>& ready, const IsSlow& is_slow) {
  if (const auto slow = std::find_if(ready.begin(), ready.end(), is_slow); slow != ready.end()) return *slow;
  const auto at = [&](size_t place) { return std::lower_bound(ready.begin(), ready.end(), place); };
  const auto count_of = [&](const Range& r) { return std::max<ptrdiff_t>(0, at(r.end) - at(r.begin)); };
  const auto is_empty = [&](const Range& r) { return count_of(r) == 0; };
  // The first case of its second half; a single case is that itself.
  const auto middle_of = [&](const Range& r) { return *(at(r.begin) + count_of(r) / 2); };
  if (ranges_.empty() && left_.empty()) left_.push_back({0, SIZE_MAX});
  Range& own = ranges_.try_emplace(worker, Range{0, 0}).first->second;
  if (is_empty(own)) {
    // A portion without a worker is taken whole, before another is halved.
    const auto rest = std::find_if(left_.begin(), left_.end(), [&](const Range& r) { return !is_empty(r); });
    Range* largest = nullptr;
    for (auto& [id, range] : ranges_)
      if (!largest || count_of(range) > count_of(*largest)) largest = &range;
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
