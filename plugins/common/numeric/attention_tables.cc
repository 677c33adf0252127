#include "common/numeric/attention_tables.h"

#include <numeric>
#include <utility>

#include "common/numeric/random_data.h"

namespace cudnn_ci {

std::vector<std::int64_t> ShuffledPages(std::int64_t entries, std::int64_t parts, std::uint64_t seed) {
  std::vector<std::int64_t> pages(static_cast<std::size_t>(entries * parts + kSparePages));
  std::iota(pages.begin(), pages.end(), 0);
  for (std::size_t i = pages.size() - 1; i > 0; --i)
    std::swap(pages[i], pages[static_cast<std::size_t>(RandomWord(seed, i) % (i + 1))]);
  pages.resize(static_cast<std::size_t>(entries * parts));
  return pages;
}

std::vector<std::int64_t> StartsOf(const std::vector<std::int32_t>& lengths) {
  std::vector<std::int64_t> starts = {0};
  for (const std::int32_t length : lengths) starts.push_back(starts.back() + length);
  return starts;
}

std::vector<float> AttentionTable(const AttentionProblemSpec& spec, AttentionRole role) {
  const AttentionShape& shape = spec.shape;
  const auto offsets = [](const AttentionTensor& tensor) {
    std::vector<float> table;
    for (const std::int64_t start : tensor.starts)
      table.push_back(static_cast<float>(start * tensor.heads * tensor.size));
    return table;
  };
  const auto pages = [](const AttentionTensor& tensor) {
    return std::vector<float>(tensor.pages.begin(), tensor.pages.end());
  };
  switch (role) {
    case AttentionRole::kLengthsQ:
      return {shape.q_length.begin(), shape.q_length.end()};
    case AttentionRole::kLengthsKv:
      return {shape.kv_length.begin(), shape.kv_length.end()};
    case AttentionRole::kPagesK:
      return pages(spec.K());
    case AttentionRole::kPagesV:
      return pages(spec.V());
    case AttentionRole::kOffsetsQ:
      return offsets(spec.Q());
    case AttentionRole::kOffsetsK:
      return offsets(spec.K());
    case AttentionRole::kOffsetsV:
      return offsets(spec.V());
    case AttentionRole::kOffsetsO:
      return offsets(spec.O());
    default:
      return {};
  }
}

void StoreTables(const AttentionProblemSpec& spec, AttentionNumbers* numbers) {
  for (const AttentionTensor& tensor : spec.Inputs())
    if (tensor.role >= AttentionRole::kLengthsQ)
      numbers->others[tensor.role] = AttentionTable(spec, tensor.role);
}

}  // namespace cudnn_ci
