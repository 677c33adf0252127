#include "common/numeric/attention_codes.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace cudnn_ci {

std::int64_t RoomForCodes(std::int64_t head_size) { return head_size / 2 - 1; }

KeyCodes::KeyCodes(const KeyPlan& plan, std::int64_t keys, std::int64_t head_size, std::mt19937_64* random)
    : dimensions_(static_cast<std::size_t>(head_size)), of_key_(static_cast<std::size_t>(keys)) {
  std::iota(dimensions_.begin(), dimensions_.end(), 0);
  for (std::size_t i = dimensions_.size() - 1; i > 0; --i)
    std::swap(dimensions_[i], dimensions_[static_cast<std::size_t>((*random)() % (i + 1))]);
  if (plan.overlapping) {
    if (static_cast<std::int64_t>(plan.sets.size()) > RoomForCodes(head_size))
      throw std::logic_error("more sets of keys than dimensions");
    for (std::size_t s = 0; s < plan.sets.size(); ++s) of_set_.push_back({dimensions_[s]});
    used_ = static_cast<std::int64_t>(plan.sets.size());
  } else {
    NameSets(plan.sets.size(), RoomForCodes(head_size), random);
  }
  for (std::size_t s = 0; s < plan.sets.size(); ++s)
    for (const std::int64_t key : plan.sets[s])
      for (const std::int64_t dimension : of_set_[s])
        of_key_[static_cast<std::size_t>(key)].push_back(dimension);
}

void KeyCodes::NameSets(std::size_t sets, std::int64_t room, std::mt19937_64* random) {
  const auto count = static_cast<std::int64_t>(sets);
  std::vector<std::int64_t> sizes;  // of each digit
  std::int64_t codes = 0;
  for (std::int64_t n = 1; codes < count; ++n) {
    if (n > room / 2) throw std::logic_error("more sets of keys than codes");
    sizes.clear();
    codes = 1;
    for (std::int64_t i = 0; i < n; ++i) {
      sizes.push_back(room / n + (i < room % n ? 1 : 0));
      codes = std::min(codes * sizes.back(), std::int64_t{1} << 40);
    }
  }
  used_ = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  digits_ = sizes.size();
  if (codes == 0) return;
  // Distinct: a step that has no divisor in common with the number of codes.
  std::int64_t step = 1 + static_cast<std::int64_t>((*random)() % static_cast<std::uint64_t>(codes));
  while (std::gcd(step, codes) != 1) ++step;
  for (std::int64_t set = 0; set < count; ++set) {
    std::int64_t code = set * step % codes, from = 0;
    std::vector<std::int64_t> dimensions;
    for (const std::int64_t size : sizes) {
      dimensions.push_back(dimensions_[static_cast<std::size_t>(from + code % size)]);
      code /= size;
      from += size;
    }
    of_set_.push_back(std::move(dimensions));
  }
}

}  // namespace cudnn_ci
