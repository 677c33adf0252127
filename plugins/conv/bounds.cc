// The table of bounds.
#include "conv/bounds.h"

#include <algorithm>
#include <cmath>

namespace cudnn_ci {
namespace {

// Errors of transform algorithms on data of {-1,0,1}, the largest over every output of several shapes, with
// cuDNN 9.14 and 9.19 on an H200, tensor-op and FMA math alike; measured by this project:
//   FFT, FFT tiling     float32 3e-5, float16 1.4e-5, float64 1e-14 (reductions from 256 on)
//   Winograd 3x3        float32 2.6e-4, float16 and bfloat16 1.1e-4 (reductions from 576 on)
//   Winograd 5x5        0.19, 0.83, 2.7, 5.5 at reductions of 400, 1600, 4800, 12800 in all three: its
//                       transform has a far larger condition number
// The 16-bit types are computed in float32 and rounded once, so they share its row. Errors grow like the root
// of the reduction (they are proportional to the outputs' mean square), except for Winograd 5x5, where sums
// cancel late and the error follows the reduction itself. The backward data pass is alike. `margin` covers
// other GPUs and tile sizes.
enum class Growth { kRoot, kLinear };
struct BoundRow {
  double measured;
  double reduction;  // at which `measured` holds at least
  double margin;
  Growth growth;
};
constexpr BoundRow kFft32 = {3e-5, 256, 4, Growth::kRoot};
constexpr BoundRow kFft64 = {1e-14, 256, 8, Growth::kRoot};
constexpr BoundRow kWinograd3 = {2.6e-4, 576, 4, Growth::kRoot};
constexpr BoundRow kWinograd5 = {0.19, 400, 2, Growth::kLinear};
// No Winograd in float64 was ever offered; float32's error scaled by the ratio of unit roundoffs.
constexpr double kFloat64PerFloat32 = 0x1p-29;

// Winograd 5x5 on data that suit it, of the same measurements: with 4 active channels an image 0.17 at most,
// with 16 of them 0.38; the backward filter pass with 48 products that are not 0, 0.12. Half of one product
// more would be 0.5.
constexpr double kWinograd5OnItsData = 0.45;
// The backward filter pass 3x3: 3.9e-3 over 12,544 products, dense.
constexpr double kWinograd3Filter = 0.05, kWinograd3FilterReduction = 12544;

// Normal data beside dense ones of {-1,0,1}: a transform's error goes with the root mean square of the
// products, 1 against 4/9, and the largest values of a tile lie some four times as far out.
constexpr double kNormalPerDense = 8;

// What adding a bias rounds, at most, in the type that a convolution of this one sums in: the largest sum of
// dense data has 9 for each of up to 16 products, 1 for each of more. Exact arithmetic has nothing to round.
double SumRounding(DataType type, const Problem& problem) {
  constexpr double kSmallProducts = 9 * 16;
  const double largest = std::max(kSmallProducts, static_cast<double>(problem.Reduction())) + kMaxValue;
  return problem.epilogue.bias ? largest * (type == DataType::kFloat64 ? 0x1p-53 : 0x1p-24) : 0;
}

bool SuitsWinograd(const Problem& problem, const Recipe& recipe) {
  if (recipe.kind == Recipe::Kind::kFewChannels) return ActiveChannels(problem, recipe) <= kWinogradChannels;
  return problem.operation == Operation::kBackwardFilter && recipe.kind == Recipe::Kind::kSparse &&
         recipe.products + recipe.covering <= kWinogradProducts;
}

bool IsSmall(const Axes& kernel) { return *std::max_element(kernel.begin(), kernel.end()) <= 3; }

// On dense data, or others that spare a transform nothing.
double DenseBound(Arithmetic arithmetic, DataType type, const Problem& problem) {
  const bool small_kernel = IsSmall(problem.shape.kernel);
  BoundRow row = type == DataType::kFloat64 ? kFft64 : kFft32;
  if (arithmetic == Arithmetic::kWinograd) {
    row = small_kernel ? kWinograd3 : kWinograd5;
    if (type == DataType::kFloat64) row.measured *= kFloat64PerFloat32;
  }
  const double ratio = std::max(1.0, static_cast<double>(problem.Reduction()) / row.reduction);
  return row.measured * row.margin * (row.growth == Growth::kRoot ? std::sqrt(ratio) : ratio);
}

bool IsWinogradFilter3(Arithmetic arithmetic, const Problem& problem) {
  return arithmetic == Arithmetic::kWinograd && IsSmall(problem.shape.kernel) &&
         problem.operation == Operation::kBackwardFilter;
}

// Of the sums alone.
double TransformBound(Arithmetic arithmetic, DataType type, const Problem& problem, const Recipe& recipe) {
  if (IsWinogradFilter3(arithmetic, problem)) return kWinograd3Filter;
  if (arithmetic == Arithmetic::kWinograd && !IsSmall(problem.shape.kernel) && SuitsWinograd(problem, recipe))
    return kWinograd5OnItsData;
  return DenseBound(arithmetic, type, problem);
}

}  // namespace

double ErrorBound(Arithmetic arithmetic, DataType type, const Problem& problem, const Recipe& recipe) {
  if (arithmetic == Arithmetic::kExact) return 0;
  return TransformBound(arithmetic, type, problem, recipe) + SumRounding(type, problem);
}

double NormalTransformBound(Arithmetic arithmetic, DataType type, const Problem& problem) {
  const double ratio = std::max(1.0, static_cast<double>(problem.Reduction()) / kWinograd3FilterReduction);
  return kNormalPerDense * (IsWinogradFilter3(arithmetic, problem) ? kWinograd3Filter * std::sqrt(ratio)
                                                                   : DenseBound(arithmetic, type, problem));
}

Judgement JudgeOutput(const Reference& reference, DataType type, Layout layout, double bound,
                      const void* output) {
  return JudgeOutput(reference.Y(), reference.problem.Y().AsExtent(), type, layout, bound, output);
}

}  // namespace cudnn_ci
