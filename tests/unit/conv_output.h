// Outputs as kernels leave them, right ones and spoilt ones, written by other code than the oracle's.
#ifndef CUDNN_CI_TESTS_CONV_OUTPUT_H_
#define CUDNN_CI_TESTS_CONV_OUTPUT_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/numeric/data_type.h"
#include "common/numeric/fill.h"
#include "conv/bounds.h"
#include "conv/reference.h"

namespace cudnn_ci {

// The result of a reference in a type and layout.
class Output {
 public:
  Output(const Reference& r, DataType type, Layout layout)
      : r_(r), y_(r.problem.Y()), type_(type), layout_(layout), bytes_(r.y.size() * SizeOf(type)) {
    for (std::size_t i = 0; i < r.y.size(); ++i) Restore(static_cast<std::int64_t>(i));
  }
  std::int64_t Count() const { return y_.Count(); }
  double Right(std::int64_t index) const { return r_.Y().values.At(index); }
  double Get(std::int64_t index) const { return Load(type_, bytes_.data() + Offset(index)); }
  // Element `index` in the order n, c, sizes, rounded to the type.
  void Set(std::int64_t index, double value) { Store(type_, value, bytes_.data() + Offset(index)); }
  void Restore(std::int64_t index) { Set(index, Right(index)); }
  void Unwrite(std::int64_t index) {
    const std::uint32_t words[2] = {UnwrittenWord(type_), UnwrittenWord(type_)};
    std::memcpy(bytes_.data() + Offset(index), words, SizeOf(type_));
  }
  // Whether an element has the bits that Unwrite gives it.
  bool IsFill(std::int64_t index) const {
    const std::uint32_t words[2] = {UnwrittenWord(type_), UnwrittenWord(type_)};
    return std::memcmp(bytes_.data() + Offset(index), words, SizeOf(type_)) == 0;
  }
  void Flip(std::int64_t index, std::size_t bit) {
    bytes_[Offset(index) + bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
  }
  Judgement Judged(double bound = 0) const { return JudgeOutput(r_, type_, layout_, bound, bytes_.data()); }

 private:
  std::size_t Offset(std::int64_t index) const {
    const std::int64_t pixels = Product(y_.sizes);
    if (layout_ == Layout::kNhwc) {
      const std::int64_t n = index / (y_.channels * pixels), k = index / pixels % y_.channels;
      index = (n * pixels + index % pixels) * y_.channels + k;
    }
    return static_cast<std::size_t>(index) * SizeOf(type_);
  }
  const Reference& r_;
  const Tensor y_;
  const DataType type_;
  const Layout layout_;
  std::vector<unsigned char> bytes_;
};

// A factor of a product: element `index` of the operand.
struct Factors {
  std::int64_t a, b;
};

// The factors of all products that element `index` of the result sums, by the definition.
inline std::vector<Factors> FactorsOf(const Problem& problem, std::int64_t index) {
  const ConvShape& s = problem.shape;
  const Tensor y = problem.Y();
  const std::int64_t cg = s.ChannelsPerGroup(), kg = s.FiltersPerGroup(), plane = index / Product(y.sizes);
  const std::int64_t outer = plane / y.channels, channel = plane % y.channels, at = index % Product(y.sizes);
  const auto place = [](const Axes& sizes, std::int64_t i, std::size_t axis) {
    const std::int64_t below = axis == 2 ? 1 : axis == 1 ? sizes[2] : sizes[1] * sizes[2];
    return i / below % sizes[axis];
  };
  // Where output pixel `p` and tap `t` meet in x; -1: in the padding.
  const auto meet = [&](std::int64_t p, std::int64_t t) {
    std::int64_t i = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t v =
          place(s.out, p, d) * s.stride[d] + place(s.kernel, t, d) * s.dilation[d] - s.pad[d];
      if (v < 0 || v >= s.in[d]) return std::int64_t{-1};
      i = i * s.in[d] + v;
    }
    return i;
  };
  const std::int64_t taps = Product(s.kernel), pixels = Product(s.out), in = Product(s.in);
  std::vector<Factors> factors;
  if (problem.operation == Operation::kForward) {
    for (std::int64_t c = 0; c < cg; ++c)
      for (std::int64_t t = 0; t < taps; ++t)
        if (const std::int64_t i = meet(at, t); i >= 0)
          factors.push_back({(outer * s.c + channel / kg * cg + c) * in + i, (channel * cg + c) * taps + t});
  } else if (problem.operation == Operation::kBackwardData) {
    for (std::int64_t p = 0; p < pixels; ++p)
      for (std::int64_t t = 0; t < taps; ++t) {
        if (meet(p, t) != at) continue;
        for (std::int64_t k = channel / cg * kg; k < (channel / cg + 1) * kg; ++k)
          factors.push_back({(outer * s.k + k) * pixels + p, (k * cg + channel % cg) * taps + t});
      }
  } else {
    for (std::int64_t n = 0; n < s.n; ++n)
      for (std::int64_t p = 0; p < pixels; ++p)
        if (const std::int64_t i = meet(p, at); i >= 0)
          factors.push_back({(n * s.k + outer) * pixels + p, (n * s.c + outer / kg * cg + channel) * in + i});
  }
  return factors;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_CONV_OUTPUT_H_
