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
  kBias,               // if the bias that is added to the score is not far below 0 (AttentionBias)
  kBiasCausal,         // if both say so
  kBiasPadding,        // likewise
};
// "none", "causal", "causal_bottom_right", "sliding_window", "padding", "bias", "bias_causal",
// "bias_padding"; throws std::invalid_argument.
AttentionMask AttentionMaskFrom(const std::string& name);
const char* Name(AttentionMask mask);
// Whether a bias is added to the scores, alone or beside another mask.
bool HasBias(AttentionMask mask);
// Whether each batch entry has lengths of its own.
bool HasLengths(AttentionMask mask);

// Which axes a bias has, by the names of TransformerEngine: b and h are batch and heads, 1 is one for all of
// them; the last two are queries and keys.
enum class AttentionBiasShape { k11ss, k1hss, kB1ss, kBhss };
// "11ss", "1hss", "b1ss", "bhss"; throws std::invalid_argument.
AttentionBiasShape AttentionBiasShapeFrom(const std::string& name);
const char* Name(AttentionBiasShape shape);

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
  std::int64_t window = 0;                                    // of kSlidingWindow
  std::vector<std::int32_t> q_length = {}, kv_length = {};    // of HasLengths, one a batch entry
  AttentionBiasShape bias_shape = AttentionBiasShape::k11ss;  // of HasBias

  std::int64_t Group() const { return q_heads / kv_heads; }
  // The keys that the mask leaves; a bias leaves some of them (AttentionBias::Shows).
  KeyRange Visible(std::int64_t entry, std::int64_t query) const;
  // Queries of the entry that count; all but with HasLengths.
  std::int64_t Queries(std::int64_t entry) const;
  std::int64_t Keys(std::int64_t entry) const;
  // The first two axes of the bias.
  std::int64_t BiasBatch() const;
  std::int64_t BiasHeads() const;
  // "b=2 heads=8/2 q=64 kv=320 d=128, causal".
  std::string Text() const;
};

// What is wrong with a shape, or with a problem of it, by the parameter it is about.
struct AttentionProblemText {
  std::string field, why;
};
std::vector<AttentionProblemText> ProblemsOf(const AttentionShape& shape);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SHAPE_H_
