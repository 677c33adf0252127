// Judges an output buffer against the exact reference, every element of it. Must not know CUDA or cuDNN.
//
// A right kernel rounds once, to the output type, at its end. So for an algorithm whose arithmetic is
// exact on exact data the output equals the rounded integer, and for one that transforms its input, with
// an error of at most E before that last rounding, it lies between Round(y - E) and Round(y + E): rounding
// is monotonic, so no allowance for the type is needed beside it.
#ifndef CUDNN_CI_PLUGINS_CONV_ORACLE_H_
#define CUDNN_CI_PLUGINS_CONV_ORACLE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "conv/numeric.h"
#include "conv/reference.h"

namespace cudnn_ci {

// What the oracle needs to know of an algorithm.
enum class Arithmetic {
  kExact,     // sums of products, in any order
  kFft,       // also tiled
  kWinograd,  // fused or not
};

// E of the algorithm for this shape and type; 0 for exact arithmetic. See the table in oracle.cc.
double ErrorBound(Arithmetic arithmetic, DataType type, const ConvShape& shape);

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
  // The first of each in NCHW order; -1 if there is none.
  std::int64_t first_wrong = -1, first_unwritten = -1;
  double first_expected = 0, first_got = 0;  // of first_wrong
  // The largest |got - y| over all elements that are numbers, y rounded to the type where arithmetic is
  // exact.
  double worst_error = 0;

  bool AllMatch() const { return wrong == 0 && unwritten == 0; }
};

// `output` holds reference.y.size() elements of `type` in `layout`. `bound` is from ErrorBound, or
// kAnyNumber.
Judgement JudgeOutput(const Reference& reference, DataType type, Layout layout, double bound,
                      const void* output);

// "12 of 512 elements are wrong, first (n=0,k=1,p=2,q=3): expected 4, got 5; ..." for a report.
std::string DescribeWrong(const Judgement& judgement, const ConvShape& shape, double bound);
std::string DescribeUnwritten(const Judgement& judgement, const ConvShape& shape);

// Small integers in `values`, of an [outer][channels][pixels] array, encoded to `out` in `layout` order.
// `out` has room for SizeOf(type) bytes for each and is aligned for the type. Values must lie in
// [-kMaxValue, kMaxValue].
void EncodeData(const std::vector<std::int8_t>& values, std::int64_t channels, std::int64_t pixels,
                DataType type, Layout layout, unsigned char* out);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_ORACLE_H_
