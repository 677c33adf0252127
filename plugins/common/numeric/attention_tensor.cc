#include "common/numeric/attention_tensor.h"

#include <iterator>
#include <stdexcept>

namespace cudnn_ci {
namespace {

constexpr const char* kLayouts[] = {"bhsd", "bshd", "bs3hd", "bsh3d"};
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
                                  "descale of S",
                                  "scale of S",
                                  "scale of O",
                                  "amax of S",
                                  "amax of O"};
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
      return {length * heads * size, size, heads * size, 1};
    case AttentionLayout::kBs3hd:
      return {length * all_parts, size, all_parts, 1};
    case AttentionLayout::kBsh3d:
      return {length * all_parts, kParts * size, all_parts, 1};
  }
  return {heads * length * size, length * size, size, 1};
}

std::int64_t AttentionTensor::IndexAt(std::int64_t place) const {
  std::int64_t left = place - offset;
  if (left < 0) return -1;
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
