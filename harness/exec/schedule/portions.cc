#include "exec/schedule/portions.h"

#include <algorithm>

namespace cudnn_ci {

size_t Portions::Next(int64_t worker, const std::deque<size_t>& ready) {
  const auto first_of = [&](const Range& r) { return std::lower_bound(ready.begin(), ready.end(), r.begin); };
  const auto size_of = [&](const Range& r) {
    return std::max<std::ptrdiff_t>(0, std::lower_bound(ready.begin(), ready.end(), r.end) - first_of(r));
  };
  if (ranges_.empty() && left_.empty()) left_.push_back({0, SIZE_MAX});
  Range& own = ranges_.try_emplace(worker, Range{0, 0}).first->second;
  if (size_of(own) == 0) {
    // What nobody works through is taken whole, and before anybody's is halved.
    const auto rest =
        std::find_if(left_.begin(), left_.end(), [&](const Range& r) { return size_of(r) > 0; });
    Range* largest = nullptr;
    for (auto& [id, range] : ranges_)
      if (!largest || size_of(range) > size_of(*largest)) largest = &range;
    if (rest != left_.end()) {
      own = *rest;
      left_.erase(rest);
    } else if (size_of(*largest) > 0) {
      own = {first_of(*largest)[size_of(*largest) / 2], largest->end};
      largest->end = own.begin;
    } else {
      own = {ready.front(), ready.front() + 1};  // a case that was given back, behind its worker's place
    }
  }
  const size_t next = *first_of(own);
  own.begin = next + 1;
  return next;
}

void Portions::Leave(int64_t worker) {
  const auto found = ranges_.find(worker);
  if (found == ranges_.end()) return;
  left_.push_back(found->second);
  ranges_.erase(found);
}

}  // namespace cudnn_ci
