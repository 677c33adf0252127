// Judges an output buffer against exact integers, every element of it. Must not know CUDA, cuDNN or what
// operation the integers are the result of.
//
// A right kernel rounds once, to the output type, at its end. So for an algorithm whose arithmetic is
// exact on exact data the output equals the rounded integer, and for one that transforms its input, with
// an error of at most E before that last rounding, it lies between Round(y - E) and Round(y + E): rounding
// is monotonic, so no allowance for the type is needed beside it.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_COMPARE_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_COMPARE_H_

#include <cstdint>
#include <limits>

#include "common/numeric/data_type.h"
#include "common/numeric/integers.h"

namespace cudnn_ci {

// Data are integers, so no product is smaller than 1 and a result that lacks one is off by at least 1. A
// bound of half of that or more would let a kernel pass that leaves products out.
constexpr double kDecisiveBound = 0.5;
inline bool IsDecisive(double bound) { return bound < kDecisiveBound; }

// In place of a bound that decides nothing: all that is asked of a written element is to be a number.
constexpr double kAnyNumber = std::numeric_limits<double>::infinity();

struct Judgement {
  std::int64_t elements = 0;
  std::int64_t wrong = 0;      // written, and outside of their bounds
  std::int64_t unwritten = 0;  // still the fill
  // The first of each in the order n, c, sizes; -1 if there is none.
  std::int64_t first_wrong = -1, first_unwritten = -1;
  double first_expected = 0, first_got = 0;  // of first_wrong
  double first_allowed = 0;                  // its own error before the last rounding, if it has one
  std::uint64_t first_bits = 0;              // what was got, as it lies in memory: NaNs have many forms
  // The largest |got - y| over all elements that are numbers, y rounded to the type where arithmetic is
  // exact.
  double worst_error = 0;

  bool AllMatch() const { return wrong == 0 && unwritten == 0; }
};

// What is right, and the largest |low|.
struct Expected {
  TwoScale<std::int16_t> values;
  int max_abs = 0;
};

// `output` holds an element of `type` for each of the extent's in `layout`, aligned for the type. `bound` is
// the largest error before the last rounding, 0 for exact arithmetic, or kAnyNumber. Throws std::logic_error
// where a right result might be taken for the fill: |y| > 127 in int8.
Judgement JudgeOutput(const Expected& expected, const Extent& extent, DataType type, Layout layout,
                      double bound, const void* output);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_COMPARE_H_
