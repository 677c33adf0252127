#include "common/numeric/attention_shape.h"

#include <algorithm>
#include <stdexcept>

namespace cudnn_ci {
namespace {

constexpr const char* kMasks[] = {"none",    "causal", "causal_bottom_right", "sliding_window",
                                  "padding", "bias",   "bias_causal",         "bias_padding"};
constexpr const char* kBiasShapes[] = {"11ss", "1hss", "b1ss", "bhss"};
constexpr std::int64_t kMostLength = 1 << 16, kMostElements = std::int64_t{1} << 28;

}  // namespace

AttentionMask AttentionMaskFrom(const std::string& name) {
  for (int i = 0; i < static_cast<int>(std::size(kMasks)); ++i)
    if (name == kMasks[i]) return static_cast<AttentionMask>(i);
  throw std::invalid_argument("no attention mask: " + name);
}

const char* Name(AttentionMask mask) { return kMasks[static_cast<int>(mask)]; }

bool HasBias(AttentionMask mask) {
  return mask == AttentionMask::kBias || mask == AttentionMask::kBiasCausal ||
         mask == AttentionMask::kBiasPadding;
}

bool HasLengths(AttentionMask mask) {
  return mask == AttentionMask::kPadding || mask == AttentionMask::kBiasPadding;
}

AttentionBiasShape AttentionBiasShapeFrom(const std::string& name) {
  for (int i = 0; i < static_cast<int>(std::size(kBiasShapes)); ++i)
    if (name == kBiasShapes[i]) return static_cast<AttentionBiasShape>(i);
  throw std::invalid_argument("no shape of a bias: " + name);
}

const char* Name(AttentionBiasShape shape) { return kBiasShapes[static_cast<int>(shape)]; }

std::int64_t AttentionShape::BiasBatch() const {
  return bias_shape == AttentionBiasShape::kB1ss || bias_shape == AttentionBiasShape::kBhss ? batch : 1;
}

std::int64_t AttentionShape::BiasHeads() const {
  return bias_shape == AttentionBiasShape::k1hss || bias_shape == AttentionBiasShape::kBhss ? q_heads : 1;
}

std::int64_t AttentionShape::Queries(std::int64_t entry) const {
  return HasLengths(mask) ? q_length[static_cast<std::size_t>(entry)] : queries;
}

std::int64_t AttentionShape::Keys(std::int64_t entry) const {
  return HasLengths(mask) ? kv_length[static_cast<std::size_t>(entry)] : keys;
}

KeyRange AttentionShape::Visible(std::int64_t entry, std::int64_t query) const {
  switch (mask) {
    case AttentionMask::kNone:
    case AttentionMask::kBias:
      break;
    case AttentionMask::kCausal:
    case AttentionMask::kBiasCausal:
      return {0, std::min(query + 1, keys)};
    case AttentionMask::kCausalBottomRight:
      return {0, std::clamp<std::int64_t>(query + 1 + keys - queries, 0, keys)};
    case AttentionMask::kSlidingWindow: {
      const std::int64_t end = std::min(query + 1, keys);
      return {std::clamp<std::int64_t>(query + 1 - window, 0, end), end};
    }
    case AttentionMask::kPadding:
    case AttentionMask::kBiasPadding:
      return query < Queries(entry) ? KeyRange{0, Keys(entry)} : KeyRange{};
  }
  return {0, keys};
}

std::string AttentionShape::Text() const {
  std::string text = "b=" + std::to_string(batch) + " heads=" + std::to_string(q_heads);
  if (kv_heads != q_heads) text += "/" + std::to_string(kv_heads);
  text += " q=" + std::to_string(queries) + " kv=" + std::to_string(keys) + " d=" + std::to_string(head_size);
  if (v_head_size != head_size) text += "/" + std::to_string(v_head_size);
  if (mask != AttentionMask::kNone) text += std::string(", ") + Name(mask);
  if (mask == AttentionMask::kSlidingWindow) text += " " + std::to_string(window);
  if (HasBias(mask)) text += std::string(" ") + Name(bias_shape);
  return text;
}

std::vector<AttentionProblemText> ProblemsOf(const AttentionShape& shape) {
  std::vector<AttentionProblemText> problems;
  const auto need = [&problems](bool holds, const char* field, const char* why) {
    if (!holds) problems.push_back({field, why});
  };
  const auto length = [](std::int64_t n) { return n >= 1 && n <= kMostLength; };
  need(shape.batch >= 1 && shape.batch <= kMostLength, "batch", "must be from 1 to 65536");
  need(length(shape.queries) && length(shape.keys), "length", "must be from 1 to 65536");
  const bool heads = shape.kv_heads >= 1 && shape.q_heads >= 1 && shape.q_heads <= kMostLength &&
                     shape.kv_heads <= shape.q_heads;
  need(heads && shape.q_heads % std::max<std::int64_t>(shape.kv_heads, 1) == 0, "heads",
       "of the queries must be from 1 to 65536 and a multiple of those of the keys");
  for (const std::int64_t size : {shape.head_size, shape.v_head_size})
    need(size >= 64 && size <= 1024 && size % 8 == 0, "head_size",
         "must be from 64 to 1024 and a multiple of 8");
  if (!problems.empty()) return problems;
  const double most = static_cast<double>(shape.batch) * static_cast<double>(shape.q_heads) *
                      static_cast<double>(std::max(shape.queries, shape.keys)) *
                      static_cast<double>(std::max(shape.head_size, shape.v_head_size));
  need(most <= static_cast<double>(kMostElements), "batch", "makes tensors of more than 2^28 elements");
  if (shape.mask == AttentionMask::kSlidingWindow) {
    need(length(shape.window), "window", "must be from 1 to 65536 keys");
    need(
        !length(shape.window) || shape.queries - shape.keys < shape.window, "length",
        "of the queries must be less than that of the keys and the window together; others would see no key");
  }
  need(
      shape.mask != AttentionMask::kCausalBottomRight || shape.queries <= shape.keys, "length",
      "of the queries must not exceed that of the keys with bottom-right alignment; the first would see no key");
  if (HasBias(shape.mask))
    need(static_cast<double>(shape.BiasBatch() * shape.BiasHeads()) *
                 static_cast<double>(shape.queries * shape.keys) <=
             static_cast<double>(kMostElements),
         "length", "makes a bias of more than 2^28 elements");
  return problems;
}

}  // namespace cudnn_ci
