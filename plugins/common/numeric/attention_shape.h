// The shape of an attention and what each of its queries sees. Knows no data and no library.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SHAPE_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_ci {

enum class AttentionMask {
  kNone,
  kCausal,             // key j is seen by query i if j <= i ("top left")
  kCausalBottomRight,  // if j <= i + keys - queries
  kSlidingWindow,      // if i - window < j <= i
  kPadding,            // if j < kv_length of the batch entry; queries behind q_length do not count
};
// "none", "causal", "causal_bottom_right", "sliding_window", "padding"; throws std::invalid_argument.
AttentionMask AttentionMaskFrom(const std::string& name);
const char* Name(AttentionMask mask);

// The keys [begin, end) that a query sees; none if they are equal.
struct KeyRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t Count() const { return end - begin; }
};

struct AttentionShape {
  std::int64_t batch = 1, q_heads = 1, kv_heads = 1;  // q_heads is a multiple of kv_heads
  std::int64_t queries = 1, keys = 1;
  std::int64_t head_size = 64, v_head_size = 64;
  AttentionMask mask = AttentionMask::kNone;
  std::int64_t window = 0;                                  // of kSlidingWindow
  std::vector<std::int32_t> q_length = {}, kv_length = {};  // of kPadding, one for each batch entry

  std::int64_t Group() const { return q_heads / kv_heads; }
  KeyRange Visible(std::int64_t entry, std::int64_t query) const;
  // Queries of the entry that count; all but with kPadding.
  std::int64_t Queries(std::int64_t entry) const;
  std::int64_t Keys(std::int64_t entry) const;
  // "b=2 heads=8/2 q=64 kv=320 d=128, causal".
  std::string Text() const;
};

// What is wrong with a shape, by the parameter it is about.
struct AttentionShapeProblem {
  std::string field, why;
};
std::vector<AttentionShapeProblem> ProblemsOf(const AttentionShape& shape);

// How a tensor [batch][heads][length][size] lies in memory.
enum class AttentionLayout { kBhsd, kBshd };
AttentionLayout AttentionLayoutFrom(const std::string& name);

struct AttentionTensor {
  std::int64_t batch = 0, heads = 0, length = 0, size = 0;
  AttentionLayout layout = AttentionLayout::kBhsd;

  std::int64_t Count() const { return batch * heads * length * size; }
  // Elements between neighbours of each axis: batch, heads, length, size.
  std::vector<std::int64_t> Strides() const;
  // The index in the order batch, heads, length, size of the element at this place in memory.
  std::int64_t IndexAt(std::int64_t offset) const;
  // "(b=0,h=3,s=17,d=5)", of a place in memory.
  std::string Place(std::int64_t offset) const;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SHAPE_H_
