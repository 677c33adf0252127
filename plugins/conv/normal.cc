// The bounds, and sums by the definition.
//
// Sums of n products, in any order: |error| <= n u / (1 - n u) * sum |a b| with the unit roundoff u (Higham,
// Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1). It is far above what happens: errors
// of rounding to nearest point either way, and L sqrt(n) u bounds all of them with a probability of 1 - 2 n
// exp(-L^2/2) (Higham and Mary 2019, A New Approach to Probabilistic Rounding Error Analysis, SIAM J. Sci.
// Comput. 41(5)). The smaller one holds. Tensor cores cut sums off instead (Fasi, Higham, Mikaitis, Pranesh
// 2021, Numerical behavior of NVIDIA tensor cores, PeerJ CS 7:e330): twice the roundoff, all errors one way,
// and products that are aligned to the largest of their block, so that each of the n counts twice. TF32 keeps
// 10 bits behind the point; inputs may be cut to it, 2^-10 of either factor.
#include "conv/normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "common/numeric/parallel.h"
#include "common/numeric/random_data.h"
#include "common/numeric/repeat.h"
#include "conv/bounds.h"

namespace cudnn_ci {
namespace {

constexpr double kUnit32 = 0x1p-24, kUnit64 = 0x1p-53;
constexpr double kTf32Product = 0x1p-9;  // of both factors together
constexpr double kCutOff = 4;            // of tensor cores' sums: twice the roundoff, twice a product
constexpr double kSigmas = 6;            // L: 3e-8 n

constexpr std::int64_t kMostProducts = std::int64_t{1} << 20;  // of all elements that are looked at
constexpr std::int64_t kFewest = 4, kMost = 1 << 14;

// n u / (1 - n u), where that bounds anything.
double Gamma(double n, double unit) {
  return n * unit < 0.5 ? n * unit / (1 - n * unit) : std::numeric_limits<double>::infinity();
}

// The definition, element by element.
class Definition {
 public:
  Definition(const Problem& problem, DataType type, Layout layout)
      : problem_(problem),
        layout_(layout),
        a_tensor_(problem.A()),
        b_tensor_(problem.B()),
        a_(type, kSeedOfA),
        b_(type, kSeedOfB) {}

  NormalSample::Element Of(std::int64_t index) const {
    const ConvShape& s = problem_.shape;
    const Tensor y = problem_.Y();
    const std::int64_t pixels = Product(y.sizes), plane = index / pixels;
    const std::int64_t outer = plane / y.channels, channel = plane % y.channels;
    const std::int64_t cg = s.ChannelsPerGroup(), kg = s.FiltersPerGroup();
    NormalSample::Element e{index};
    const std::vector<Pair> pairs = Pairs(index % pixels);
    switch (problem_.operation) {
      case Operation::kForward:
        for (std::int64_t c = 0; c < cg; ++c) Add(pairs, outer, channel / kg * cg + c, channel, c, &e);
        break;
      case Operation::kBackwardData:
        for (std::int64_t k = channel / cg * kg; k < (channel / cg + 1) * kg; ++k)
          Add(pairs, outer, k, k, channel % cg, &e);
        break;
      case Operation::kBackwardFilter:
        for (std::int64_t n = 0; n < s.n; ++n) Add(pairs, n, outer, n, outer / kg * cg + channel, &e);
        break;
    }
    return e;
  }

 private:
  // Places in the planes of a and b whose product counts.
  struct Pair {
    std::int64_t a, b;
  };

  // One axis of Pairs: where element `at` of the result meets a and b.
  std::vector<Pair> AxisPairs(std::size_t axis, std::int64_t at) const {
    const ConvShape& s = problem_.shape;
    const std::int64_t stride = s.stride[axis], dilation = s.dilation[axis], pad = s.pad[axis];
    std::vector<Pair> pairs;
    const std::int64_t steps =
        problem_.operation == Operation::kBackwardFilter ? s.out[axis] : s.kernel[axis];
    for (std::int64_t i = 0; i < steps; ++i) {
      if (problem_.operation == Operation::kBackwardData) {
        const std::int64_t from = at + pad - i * dilation;
        if (from >= 0 && from % stride == 0 && from / stride < s.out[axis])
          pairs.push_back({from / stride, i});
        continue;
      }
      const bool forward = problem_.operation == Operation::kForward;
      const std::int64_t x = forward ? at * stride + i * dilation - pad : i * stride + at * dilation - pad;
      if (x < 0 || x >= s.in[axis]) continue;
      pairs.push_back(forward ? Pair{x, i} : Pair{i, x});
    }
    return pairs;
  }

  std::vector<Pair> Pairs(std::int64_t at) const {
    const Axes sizes = problem_.Y().sizes, a = a_tensor_.sizes, b = b_tensor_.sizes;
    std::vector<Pair> pairs;
    for (const Pair& z : AxisPairs(0, at / sizes[2] / sizes[1]))
      for (const Pair& v : AxisPairs(1, at / sizes[2] % sizes[1]))
        for (const Pair& h : AxisPairs(2, at % sizes[2]))
          pairs.push_back({(z.a * a[1] + v.a) * a[2] + h.a, (z.b * b[1] + v.b) * b[2] + h.b});
    return pairs;
  }

  // Where an element begins in memory, and how far its plane's next one is.
  struct Plane {
    std::int64_t begin, step;
  };
  Plane PlaneOf(const Tensor& t, std::int64_t outer, std::int64_t channel) const {
    const std::int64_t pixels = Product(t.sizes);
    if (layout_ == Layout::kNchw) return {(outer * t.channels + channel) * pixels, 1};
    return {outer * pixels * t.channels + channel, t.channels};
  }

  void Add(const std::vector<Pair>& pairs, std::int64_t a_outer, std::int64_t a_channel, std::int64_t b_outer,
           std::int64_t b_channel, NormalSample::Element* e) const {
    const Plane a = PlaneOf(a_tensor_, a_outer, a_channel), b = PlaneOf(b_tensor_, b_outer, b_channel);
    for (const Pair& p : pairs) {
      const double product = a_.At(a.begin + p.a * a.step) * b_.At(b.begin + p.b * b.step);
      e->value += product;
      e->sum_of_magnitudes += std::fabs(product);
    }
  }

  const Problem problem_;
  const Layout layout_;
  const Tensor a_tensor_, b_tensor_;
  const NormalData a_, b_;
};

}  // namespace

std::optional<NormalBound> NormalBoundOf(const Problem& problem, const Computation& c) {
  if (SizeOf(c.type) == 1 || c.rounds_to_half) return std::nullopt;
  const bool is_16_bit = c.type == DataType::kFloat16 || c.type == DataType::kBfloat16;
  if (is_16_bit && !(c.promise.strict && c.promise.long_sums && problem.operation == Operation::kForward))
    return std::nullopt;
  // One more than the additions, for the products' own rounding.
  const double n = static_cast<double>(problem.Reduction()) + 1;
  // Names may only take TF32's allowance away.
  const bool full = c.type != DataType::kFloat32 || c.promise.strict || c.kernels == KernelClass::kFma;
  const double tf32 = full ? 0 : kTf32Product;
  if (c.arithmetic != Arithmetic::kExact)
    return NormalBound{tf32, NormalTransformBound(c.arithmetic, c.type, problem)};
  // The sum that it is compared with errs as much.
  if (c.type == DataType::kFloat64) return NormalBound{2 * Gamma(n, kUnit64), 0};
  if (is_16_bit || !full) return NormalBound{tf32 + kCutOff * n * kUnit32, 0};
  return NormalBound{std::min(Gamma(n, kUnit32), kSigmas * std::sqrt(n) * kUnit32), 0};
}

NormalSample::NormalSample(const Problem& problem, DataType type, Layout layout)
    : problem_(problem), type_(type), layout_(layout) {
  const std::int64_t all = problem.Y().Count();
  const std::int64_t count = std::min(
      all, std::clamp(kMostProducts / std::max<std::int64_t>(problem.Reduction(), 1), kFewest, kMost));
  const std::uint64_t seed = SeedOf(problem.Text() + " normal");
  elements_.resize(static_cast<std::size_t>(count));
  const Definition definition(problem, type, layout);
  ParallelFor(count, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t random = RandomWord(seed, static_cast<std::uint64_t>(i));
      // All of them where there are no more.
      std::int64_t index =
          count == all ? i : static_cast<std::int64_t>(random % static_cast<std::uint64_t>(all));
      if (i == 0) index = 0;
      if (i == count - 1) index = all - 1;
      elements_[static_cast<std::size_t>(i)] = definition.Of(index);
    }
  });
  std::sort(elements_.begin(), elements_.end(),
            [](const Element& one, const Element& other) { return one.index < other.index; });
}

std::string NormalSample::Judge(const NormalBound& bound, const unsigned char* output) const {
  const Tensor y = problem_.Y();
  const std::int64_t pixels = Product(y.sizes);
  std::int64_t wrong = 0;
  std::ostringstream first;
  first.precision(9);
  for (const Element& e : elements_) {
    const std::int64_t plane = e.index / pixels, pixel = e.index % pixels;
    const std::int64_t at = layout_ == Layout::kNchw
                                ? e.index
                                : (plane / y.channels * pixels + pixel) * y.channels + plane % y.channels;
    const double got = Load(type_, output + static_cast<std::size_t>(at) * SizeOf(type_));
    const double error = bound.of_products * e.sum_of_magnitudes + bound.absolute;
    // Rounding is monotonic, so that no allowance for the type is needed beside it; false for NaN.
    if (got >= RoundTo(type_, e.value - error) && got <= RoundTo(type_, e.value + error)) continue;
    if (wrong++ == 0)
      first << problem_.Place(e.index) << ": expected " << e.value << ", got " << got << ", allowed "
            << error;
  }
  if (wrong == 0) return {};
  return std::to_string(wrong) + " of " + std::to_string(elements_.size()) +
         " compared elements differ by more than rounding explains; first " + first.str();
}

}  // namespace cudnn_ci
