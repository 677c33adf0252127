#include "common/numeric/attention_tensor.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace cudnn_ci {
namespace {

constexpr const char* kLayouts[] = {"bhsd", "bshd", "bs3hd", "bsh3d", "thd"};
constexpr const char* kRoles[] = {"Q",
                                  "K",
                                  "V",
                                  "O",
                                  "dO",
                                  "LSE",
                                  "bias",
                                  "dQ",
                                  "dK",
                                  "dV",
                                  "dBias",
                                  "descale of Q",
                                  "descale of K",
                                  "descale of V",
                                  "descale of O",
                                  "descale of dO",
                                  "descale of S",
                                  "descale of dP",
                                  "scale of S",
                                  "scale of O",
                                  "scale of dQ",
                                  "scale of dK",
                                  "scale of dV",
                                  "scale of dP",
                                  "amax of S",
                                  "amax of O",
                                  "amax of dQ",
                                  "amax of dK",
                                  "amax of dV",
                                  "amax of dP",
                                  "query lengths",
                                  "key lengths",
                                  "pages of K",
                                  "pages of V",
                                  "offsets of Q",
                                  "offsets of K",
                                  "offsets of V",
                                  "offsets of O"};
constexpr std::int64_t kParts = 3;  // Q, K and V

}  // namespace

AttentionLayout AttentionLayoutFrom(const std::string& name) {
  for (int i = 0; i < static_cast<int>(std::size(kLayouts)); ++i)
    if (name == kLayouts[i]) return static_cast<AttentionLayout>(i);
  throw std::invalid_argument("no attention layout: " + name);
}

bool IsPacked(AttentionLayout layout) {
  return layout == AttentionLayout::kBs3hd || layout == AttentionLayout::kBsh3d;
}

const char* Name(AttentionRole role) { return kRoles[static_cast<int>(role)]; }

bool IsByKey(AttentionRole role) {
  return role == AttentionRole::kK || role == AttentionRole::kV || role == AttentionRole::kDk ||
         role == AttentionRole::kDv;
}

std::array<std::int64_t, 4> AttentionTensor::Strides() const {
  switch (layout) {
    case AttentionLayout::kBhsd:
      break;
    case AttentionLayout::kBshd:
    case AttentionLayout::kThd:
      return {length * heads * size, size, heads * size, 1};
    case AttentionLayout::kBs3hd:
      return {length * all_parts, size, all_parts, 1};
    case AttentionLayout::kBsh3d:
      return {length * all_parts, kParts * size, all_parts, 1};
  }
  return {heads * length * size, length * size, size, 1};
}

std::int64_t AttentionTensor::Places() const {
  if (layout == AttentionLayout::kThd) return starts.back() * heads * size;
  if (page_size == 0) return Count();
  return (static_cast<std::int64_t>(pages.size()) + kSparePages) * heads * page_size * size;
}

std::int64_t AttentionTensor::RowPlace(std::int64_t entry, std::int64_t head, std::int64_t position) const {
  if (layout == AttentionLayout::kThd) {
    const std::int64_t at = starts[static_cast<std::size_t>(entry)] + position;
    if (at >= starts[static_cast<std::size_t>(entry) + 1]) return -1;
    return (at * heads + head) * size;
  }
  if (page_size > 0) {
    const std::int64_t parts = static_cast<std::int64_t>(pages.size()) / batch;
    const std::int64_t page = pages[static_cast<std::size_t>(entry * parts + position / page_size)];
    return ((page * heads + head) * page_size + position % page_size) * size;
  }
  const std::array<std::int64_t, 4> strides = Strides();
  return offset + entry * strides[0] + head * strides[1] + position * strides[2];
}

std::int64_t AttentionTensor::IndexAt(std::int64_t place) const {
  std::int64_t left = place - offset;
  if (left < 0) return -1;
  if (layout == AttentionLayout::kThd) {
    const std::int64_t row = place / size, at = row / heads;
    if (at >= starts.back()) return -1;
    const auto behind = std::upper_bound(starts.begin(), starts.end(), at);
    const std::int64_t entry = behind - starts.begin() - 1;
    return ((entry * heads + row % heads) * length + at - starts[static_cast<std::size_t>(entry)]) * size +
           place % size;
  }
  const std::array<std::int64_t, 4> strides = Strides();
  const std::int64_t b = left / strides[0];
  left %= strides[0];
  const bool head_first = layout == AttentionLayout::kBhsd;  // the longer stride
  const std::int64_t outer = left / strides[head_first ? 1 : 2];
  left %= strides[head_first ? 1 : 2];
  const std::int64_t inner = left / strides[head_first ? 2 : 1], d = left % strides[head_first ? 2 : 1];
  const std::int64_t head = head_first ? outer : inner, s = head_first ? inner : outer;
  if (b >= batch || head >= heads || s >= length || d >= size) return -1;
  return ((b * heads + head) * length + s) * size + d;
}

std::string AttentionTensor::Place(std::int64_t place) const {
  const std::int64_t index = IndexAt(place), row = index / size;
  const bool pairs = role == AttentionRole::kBias || role == AttentionRole::kDbias;
  return "(b=" + std::to_string(row / length / heads) + ",h=" + std::to_string(row / length % heads) +
         (pairs ? ",q=" : ",s=") + std::to_string(row % length) + (pairs ? ",kv=" : ",d=") +
         std::to_string(index % size) + ")";
}

}  // namespace cudnn_ci
