// The tensors of an attention: which one it is, and where each of its elements lies in memory.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_TENSOR_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_TENSOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_ci {

// How a tensor [batch][heads][length][size] lies in memory. In the last two Q, K and V are parts of one
// operand, as are their gradients; the others are kBshd then. The names are TransformerEngine's.
enum class AttentionLayout {
  kBhsd,
  kBshd,
  kBs3hd,  // of each position the heads of Q, then those of K, then those of V
  kBsh3d,  // of each position and head the rows of Q, K and V
  kThd,    // as kBshd, the sequences of all entries, each of its length, behind one another
};
// "bhsd", "bshd", "bs3hd", "bsh3d", "thd"; throws std::invalid_argument.
AttentionLayout AttentionLayoutFrom(const std::string& name);
bool IsPacked(AttentionLayout layout);

// The scales are of 8-bit types: an operand's number is what is stored times its descale, and what is stored
// of a result is its number times its scale. S are the probabilities and dP the gradient of the scores, which
// are stored between two products. The largest magnitudes (amax) of S and O, and those of the gradients, are
// outputs, before the scale.
enum class AttentionRole {
  kQ,
  kK,
  kV,
  kO,
  kDo,
  kStats,
  kBias,
  kDq,
  kDk,
  kDv,
  kDbias,
  kDescaleQ,
  kDescaleK,
  kDescaleV,
  kDescaleO,
  kDescaleDo,
  kDescaleS,
  kDescaleDp,
  kScaleS,
  kScaleO,
  kScaleDq,
  kScaleDk,
  kScaleDv,
  kScaleDp,
  kAmaxS,
  kAmaxO,
  kAmaxDq,
  kAmaxDk,
  kAmaxDv,
  kAmaxDp,
  // Tables of whole numbers (attention_tables.h).
  kLengthsQ,
  kLengthsKv,
  kPagesK,
  kPagesV,
  kOffsetsQ,
  kOffsetsK,
  kOffsetsV,
  kOffsetsO
};
// "Q", "LSE", "dQ".
const char* Name(AttentionRole role);
// Whether its rows are of keys, else of queries.
bool IsByKey(AttentionRole role);

// Pages of a tensor in pages that no table names.
constexpr std::int64_t kSparePages = 3;

struct AttentionTensor {
  std::int64_t batch = 0, heads = 0, length = 0, size = 0;
  AttentionLayout layout = AttentionLayout::kBhsd;
  AttentionRole role = AttentionRole::kQ;
  std::size_t operand = 0;     // of the inputs, or of the outputs
  std::int64_t offset = 0;     // of its first element in the operand
  std::int64_t all_parts = 0;  // of a packed layout: elements of all parts at one position

  std::vector<std::int64_t> starts = {};  // of kThd: the position at which each entry begins; where all end
  // Of a tensor in pages (kBhsd): positions a page, and the page of each part of each entry's sequence. In
  // memory it is [page][heads][positions][size]; there are more pages than are named.
  std::int64_t page_size = 0;
  std::vector<std::int64_t> pages = {};

  std::int64_t Count() const { return batch * heads * length * size; }
  // The elements that it has in memory.
  std::int64_t Places() const;
  // Where a row begins in the operand; -1: it is not there.
  std::int64_t RowPlace(std::int64_t entry, std::int64_t head, std::int64_t position) const;
  // Elements between neighbours of each axis: batch, heads, length, size.
  std::array<std::int64_t, 4> Strides() const;
  // The index in the order batch, heads, length, size of the element at this place of the operand; -1: it is
  // none of this tensor. Of no tensor in pages.
  std::int64_t IndexAt(std::int64_t place) const;
  // "(b=0,h=3,s=17,d=5)", of a place that it has; of a bias "(b=0,h=3,q=17,kv=5)".
  std::string Place(std::int64_t place) const;

  // row(place, index) for each row that is there: where it begins in the operand, and in the order of
  // IndexAt.
  template <class Function>
  void ForRows(Function row) const {
    for (std::int64_t head = 0; head < batch * heads; ++head) ForRowsOfHead(head, row);
  }
  // Those of one head; the heads of all entries are numbered one after another.
  template <class Function>
  void ForRowsOfHead(std::int64_t head, Function row) const {
    for (std::int64_t s = 0, index = head * length * size; s < length; ++s, index += size)
      if (const std::int64_t place = RowPlace(head / heads, head % heads, s); place >= 0) row(place, index);
  }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_TENSOR_H_
