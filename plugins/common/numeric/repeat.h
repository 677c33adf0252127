// Whether a result repeats: random numbers whose sums round differently in another order, and the comparison
// of two results bit by bit. Must not know CUDA, cuDNN or any operation.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_REPEAT_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_REPEAT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/numeric/data_type.h"
#include "common/numeric/integers.h"

namespace cudnn_ci {

// `count` normally distributed elements of `type`, the same for equal arguments on one machine; `out` has
// room for them, aligned for the type. Exact data cannot show a changed order of summation, these do. They
// come again after some ten thousand, which no order of summation can make use of.
void FillNormal(DataType type, std::int64_t count, std::uint64_t seed, unsigned char* out);

// The same numbers one by one, as the type holds them.
class NormalData {
 public:
  // How many there are. A prime, so that no row of a tensor is as long and the same numbers never meet the
  // same tap again.
  static constexpr std::int64_t kPeriod = 32771;

  NormalData(DataType type, std::uint64_t seed);
  // What FillNormal wrote as this element.
  double At(std::int64_t element) const {
    return values_[static_cast<std::size_t>((start_ + element) % kPeriod)];
  }

 private:
  const std::vector<double>& values_;
  const std::int64_t start_;
};

// Two results of the same call on the same data.
struct Difference {
  std::int64_t elements = 0;  // whose bits differ
  // The first of them in the order n, c, sizes; -1 if there is none. Its bits in either result.
  std::int64_t first = -1;
  std::uint64_t bits_before = 0, bits_after = 0;
  // Those of them that are in the second result what its memory was filled with; the first one, or -1.
  std::int64_t unwritten = 0, first_unwritten = -1;
};

// Both hold an element of `type` for each of the extent's in `layout`. Equal bits are equal, NaNs too. The
// memory of the second was filled with the word `filled`, that of the first with another one.
Difference DifferenceOf(const unsigned char* before, const unsigned char* after, const Extent& extent,
                        DataType type, Layout layout, std::optional<std::uint32_t> filled = {});

// "0x3f800001", with as many digits as the type has.
std::string BitsText(DataType type, std::uint64_t bits);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_REPEAT_H_
