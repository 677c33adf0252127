// Normally distributed data, whose sums round: how far a right result may lie from the exact one, by standard
// error analysis, and a look at some elements of a result. It stands beside the exact data, never in their
// place: a bound of rounding errors grows with the sum and sees no single product in a long one. What it sees
// that they do not is arithmetic that is shorter than promised and data of many magnitudes. Must not know
// CUDA or cuDNN.
#ifndef CUDNN_CI_PLUGINS_CONV_NORMAL_H_
#define CUDNN_CI_PLUGINS_CONV_NORMAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/numeric/data_type.h"
#include "compute/kernel_class.h"
#include "conv/operation.h"
#include "conv/recipe.h"

namespace cudnn_ci {

// Where the random numbers of either operand begin (FillNormal): not at the same one.
constexpr std::uint64_t kSeedOfA = 1, kSeedOfB = 16411;

// How the numbers were computed, as far as is known.
struct Computation {
  DataType type = DataType::kFloat32;
  Arithmetic arithmetic = Arithmetic::kExact;
  ApiPromise promise;
  KernelClass kernels = KernelClass::kUnknown;
  bool rounds_to_half = false;  // noted so
};

// The largest error before the last rounding to the type: `of_products` times the sum of the products'
// magnitudes, and `absolute`.
struct NormalBound {
  double of_products = 0, absolute = 0;
};

// Empty where nothing is promised that a bound could follow from: the 8-bit types, whose results overflow;
// sums in 16 bits, which one engine rounds once and another at every step.
std::optional<NormalBound> NormalBoundOf(const Problem& problem, const Computation& computation);

// Some elements of the result of the data that FillNormal makes of these seeds, summed in float64 by the
// definition.
class NormalSample {
 public:
  struct Element {
    std::int64_t index = 0;  // of the result, in the order n, c, sizes
    double value = 0, sum_of_magnitudes = 0;
  };

  // The first and the last element, and others at random, the same for the same problem: as many as take some
  // milliseconds, at least 4 where there are as many.
  NormalSample(const Problem& problem, DataType type, Layout layout);

  const std::vector<Element>& elements() const { return elements_; }

  // Those of an output, as it lies in memory, that are off by more than the bound, or no numbers. In words:
  // "3 of 4096 elements that were looked at are off by more than rounding explains; first (n=0,k=1,p=2,q=3):
  // expected 1.25, got 1.5, allowed 1e-5"; empty if none is.
  std::string Judge(const NormalBound& bound, const unsigned char* output) const;

 private:
  const Problem problem_;
  const DataType type_;
  const Layout layout_;
  std::vector<Element> elements_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_NORMAL_H_
