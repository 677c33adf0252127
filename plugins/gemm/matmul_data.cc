#include "gemm/matmul_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "common/numeric/fill.h"
#include "common/numeric/parallel.h"
#include "common/numeric/random_data.h"

namespace cudnn_ci {
namespace {

// Primes, so that no two rows or columns at one place of two tiles are the same. Sums of more than these need
// not be kept.
constexpr std::int64_t kRows = 251, kColumns = 241, kBatches = 5;
// At either end of K every product counts, as far as the sums' bound lets them: tails are what kernels lose.
constexpr std::int64_t kTail = 16;
constexpr std::uint64_t kSeedOfA = 11, kSeedOfB = 12, kSeedOfC = 13, kSeedOfBias = 14;
// Guards are read back with each look at them.
constexpr std::size_t kWidestGuard = std::size_t{64} << 10;

// tanh.approx.f32 is off by 2^-11 of its result at most (PTX ISA, "tanh"), and half of that, times x, is
// GELU's; as much again for the other roundings and for kernels that take erf in place of the tanh formula.
constexpr double kGeluError = 0x1p-11;

// The largest sum of magnitudes, and the largest elements of A and B.
struct Sizes {
  double sum, a, b;
};

Sizes SizesOf(const MatmulSpec& spec) {
  const double none = std::numeric_limits<double>::infinity();
  switch (spec.type) {
    case DataType::kInt8:
      if (spec.scales != MatmulScales::kNone) return {256, 11, 1};  // of the integers that bfloat16 has
      return {none, 127, 127};
    case DataType::kFloat64:
      return {0x1p52, 0x1p26 + 1, 3};  // no float32 has such an element
    case DataType::kFloat32:
      return {0x1p22, spec.tf32 || spec.gelu ? 3.0 : 4097.0, 3};  // likewise no TF32 and no float16
    case DataType::kFloat16:
      return {1024, 2, 2};
    default:
      return {128, 2, 1};  // what bfloat16 has of integers
  }
}

double Gelu(double x) {
  const double root = std::sqrt(2 / std::acos(-1.0));
  return 0.5 * x * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
}

double Small(std::uint64_t seed, std::int64_t number) {
  return static_cast<double>(RandomWord(seed, static_cast<std::uint64_t>(number)) % 7) - 3;
}

constexpr double kNarrow = 127;  // numbers up to it are small integers, others show a type that is too short

std::size_t At(std::int64_t index) { return static_cast<std::size_t>(index); }

// Of one operand in one data set.
std::uint64_t SeedOf(std::uint64_t operand, const MatmulSpec& spec) { return operand + 16 * spec.data_set; }

std::vector<std::int64_t> Shuffled(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> all(At(count));
  std::iota(all.begin(), all.end(), 0);
  for (std::int64_t i = count - 1; i > 0; --i)
    std::swap(all[At(i)],
              all[At(RandomWord(seed, static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(i + 1))]);
  return all;
}

// Most matrices are smaller than their period: a division takes longer than all else that is done for an
// element.
std::int64_t Wrapped(std::int64_t index, std::int64_t period) {
  return index < period ? index : index % period;
}

}  // namespace

MatmulInputs InputsOf(const MatmulSpec& spec) {
  MatmulInputs places;
  int next = 2;
  if (spec.beta != 0) places.c = next++;
  if (spec.bias) places.bias = next++;
  if (spec.scales != MatmulScales::kNone) places.a_scale = next++, places.b_scale = next++;
  return places;
}

Operands OperandsOf(const MatmulSpec& spec) {
  const MatmulLayout d = spec.D();
  const DataType output = spec.OutputType();
  const auto line = [](std::int64_t count) { return Extent{1, 1, count}; };
  Operands operands;
  operands.inputs = {{"A", spec.type, line(spec.Elements(spec.A())), cudnn_ci::Layout::kNchw, kSeedOfA},
                     {"B", spec.type, line(spec.Elements(spec.B())), cudnn_ci::Layout::kNchw, kSeedOfB}};
  if (spec.beta != 0)
    operands.inputs.push_back({"C", output, line(spec.Elements(d)), cudnn_ci::Layout::kNchw, kSeedOfC});
  if (spec.bias) operands.inputs.push_back({"bias", output, line(spec.m)});
  if (spec.scales != MatmulScales::kNone) {
    const bool rows = spec.scales == MatmulScales::kRow;
    operands.inputs.push_back({"scale of A", DataType::kFloat32, line(rows ? spec.m : 1)});
    operands.inputs.push_back({"scale of B", DataType::kFloat32, line(rows ? spec.n : 1)});
  }
  Operand result = {"D", output, line(spec.Elements(d))};
  result.guard = std::min(static_cast<std::size_t>(d.ld) * SizeOf(output), kWidestGuard);
  if (spec.padding > 0)
    result.padding = [d](std::int64_t index) { return MatmulSpec::PlaceOf(d, index).padding; };
  operands.outputs = {result};
  return operands;
}

double BytesOfData(const MatmulSpec& spec) {
  const auto rows = static_cast<double>(std::min(spec.m, kRows)),
             columns = static_cast<double>(std::min(spec.n, kColumns)),
             batches = static_cast<double>(std::min(spec.batch, kBatches));
  return batches * ((rows + columns) * static_cast<double>(spec.k) + rows * columns) * sizeof(double);
}

MatmulData::MatmulData(const MatmulSpec& spec)
    : spec_(spec),
      operands_(OperandsOf(spec)),
      rows_(std::min(spec.m, kRows)),
      columns_(std::min(spec.n, kColumns)),
      batches_(std::min(spec.batch, kBatches)) {
  ChooseSizes();
  DrawA();
  DrawB();
  AddUp();
}

// As large as leaves each product of a sum a column, or a row, in which it counts.
void MatmulData::ChooseSizes() {
  const Sizes sizes = SizesOf(spec_);
  const bool narrow = sizes.a <= kNarrow;
  largest_a_ = sizes.a, largest_b_ = sizes.b;
  // Products that one line may have, of elements of which the other operand has none that is 0.
  const auto fits = [&](std::int64_t lines, double largest, double others) {
    const double most = sizes.sum / others / ((1 + largest) / 2);
    return static_cast<double>(lines) * std::floor(most) >= static_cast<double>(spec_.k);
  };
  const auto of_b = [&] { return fits(columns_, largest_b_, largest_a_); };
  if (of_b()) return;
  largest_b_ = 1;
  if (of_b() || !narrow) return;
  largest_a_ = 1;
  sparse_a_ = !of_b() && rows_ > columns_;
}

// The one that has no zeros.
double MatmulData::Dense(std::uint64_t word, double largest) {
  const bool wide = largest > kNarrow;  // odd numbers that a shorter type rounds
  const auto choices = static_cast<std::uint32_t>(wide ? 2 : largest);
  const auto less = static_cast<double>(static_cast<std::uint32_t>(word >> 8) % choices);
  const double value = largest - less * (wide ? 2 : 1);
  return word % 2 == 0 ? value : -value;
}

void MatmulData::DrawA() {
  const std::uint64_t seed = SeedOf(kSeedOfA, spec_);
  a_.assign(At(batches_ * spec_.k * rows_), 0);
  if (sparse_a_) return DrawSparse(seed, rows_, largest_a_, largest_b_, &a_, 1, rows_);
  for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = Dense(RandomWord(seed, i), largest_a_);
}

void MatmulData::DrawB() {
  const std::uint64_t seed = SeedOf(kSeedOfB, spec_);
  b_.assign(At(batches_ * columns_ * spec_.k), 0);
  if (!sparse_a_) return DrawSparse(seed, columns_, largest_b_, largest_a_, &b_, spec_.k, 1);
  for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = Dense(RandomWord(seed, i), largest_b_);
}

// Of each line (a row of A, a column of B) as many elements are not 0 as keep the sums below their bound; of
// all lines together one at each k, where there is room. `others`: the largest of the other operand; the
// strides are from one line, and from one k, to the next.
void MatmulData::DrawSparse(std::uint64_t seed, std::int64_t lines, double largest, double others,
                            std::vector<double>* to, std::int64_t line_stride, std::int64_t k_stride) const {
  const double most = std::floor(SizesOf(spec_).sum / others);
  const double density =
      std::min(1.0, 0.7 * most / (largest * static_cast<double>(std::max<std::int64_t>(spec_.k, 1))));
  for (std::int64_t matrix = 0; matrix < batches_; ++matrix) {
    std::vector<std::int64_t> missing = Shuffled(spec_.k, seed + static_cast<std::uint64_t>(matrix));
    for (std::int64_t line = 0; line < lines; ++line) {
      double left = most;
      const auto draw = [&](std::int64_t k, bool always) {
        double& element = (*to)[At(matrix * lines * spec_.k + line * line_stride + k * k_stride)];
        const std::uint64_t word = RandomWord(seed, At((matrix * lines + line) * spec_.k + k));
        const bool drawn = always || static_cast<double>(word >> 32) < density * 0x1p32;
        if (element != 0 || !drawn || left < 1) return;
        const double size =
            std::min(left, 1 + static_cast<double>((word >> 8) % static_cast<std::uint64_t>(largest)));
        element = word % 2 == 0 ? size : -size;
        left -= size;
      };
      for (std::int64_t k = 0; k < std::min(kTail, spec_.k); ++k) draw(spec_.k - 1 - k, true);
      for (std::int64_t k = 0; k < std::min(kTail / 4, spec_.k); ++k) draw(k, true);
      const auto of_all = static_cast<std::int64_t>(missing.size());
      for (std::int64_t n = (of_all + lines - line - 1) / (lines - line); n > 0 && left >= 1; --n) {
        draw(missing.back(), true);
        missing.pop_back();
      }
      for (std::int64_t k = 0; k < spec_.k; ++k) draw(k, false);
    }
  }
}

void MatmulData::AddUp() {
  sums_.resize(At(batches_ * columns_ * rows_));
  ParallelFor(batches_ * columns_, 1 + 100000 / std::max<std::int64_t>(rows_ * spec_.k, 1),
              [this](std::int64_t begin, std::int64_t end) {
                for (std::int64_t column = begin; column < end; ++column) {
                  const double* const b = b_.data() + column * spec_.k;
                  const double* a = a_.data() + column / columns_ * spec_.k * rows_;
                  double* const sums = sums_.data() + column * rows_;
                  for (std::int64_t k = 0; k < spec_.k; ++k, a += rows_)
                    for (std::int64_t row = 0; b[k] != 0 && row < rows_; ++row) sums[row] += a[row] * b[k];
                }
              });
}

double MatmulData::A(std::int64_t batch, std::int64_t row, std::int64_t k) const {
  return a_[At((Wrapped(batch, batches_) * spec_.k + k) * rows_ + Wrapped(row, rows_))];
}

double MatmulData::B(std::int64_t batch, std::int64_t k, std::int64_t column) const {
  return b_[At((Wrapped(batch, batches_) * columns_ + Wrapped(column, columns_)) * spec_.k + k)];
}

// These do not come again with rows and columns.
double MatmulData::C(std::int64_t batch, std::int64_t row, std::int64_t column) const {
  return Small(SeedOf(kSeedOfC, spec_), spec_.D().Index(batch, row, column));
}

double MatmulData::Bias(std::int64_t row) const { return Small(SeedOf(kSeedOfBias, spec_), row); }

// Powers of 2, so that scaling rounds nothing.
double MatmulData::Scale(bool of_a, std::int64_t place) const {
  if (spec_.scales == MatmulScales::kNone) return 1;
  if (spec_.scales == MatmulScales::kTensor) return of_a ? 0.25 : 2;
  return std::ldexp(of_a ? 1 : 2, static_cast<int>(place % 3) - 1);
}

double MatmulData::Sum(std::int64_t batch, std::int64_t row, std::int64_t column) const {
  return sums_[At((Wrapped(batch, batches_) * columns_ + Wrapped(column, columns_)) * rows_ +
                  Wrapped(row, rows_))];
}

ElementRule MatmulData::RuleOf(std::int64_t index) const {
  const MatmulPlace at = MatmulSpec::PlaceOf(spec_.D(), index);
  if (at.padding) return {0, 0, true};
  double x = spec_.alpha * Scale(true, at.row) * Scale(false, at.column) * Sum(at.batch, at.row, at.column);
  if (spec_.beta != 0) x += spec_.beta * C(at.batch, at.row, at.column);
  if (spec_.bias) x += Bias(at.row);
  if (spec_.relu) x = std::max(x, 0.0);
  if (spec_.gelu) return {Gelu(x), std::fabs(x) * kGeluError};
  return {x};
}

ElementJudgement MatmulData::JudgeAll(const unsigned char* got) const {
  return JudgeElements(
      spec_.OutputType(), operands_.outputs[0].extent.Count(),
      [this](std::int64_t index) { return RuleOf(index); }, got);
}

Judgement MatmulData::Judge(std::size_t, double, const unsigned char* got) const { return JudgeAll(got); }

// What lies between the columns would spoil each sum that it got into: NaN, or the largest integer.
void MatmulData::EncodeMatrix(bool a, const Operand& operand, unsigned char* to) const {
  const MatmulLayout layout = a ? spec_.A() : spec_.B();
  const bool transposed = a ? spec_.transpose_a : spec_.transpose_b;
  const std::size_t bytes = SizeOf(operand.type);
  ParallelFor(operand.extent.Count(), 1 << 13, [&](std::int64_t begin, std::int64_t end) {
    MatmulPlace at = MatmulSpec::PlaceOf(layout, begin);
    for (std::int64_t i = begin; i < end; ++i, at = MatmulSpec::PlaceBehind(layout, at, i)) {
      unsigned char* const element = to + At(i) * bytes;
      if (at.padding) {
        std::memset(element, operand.type == DataType::kInt8 ? 0x7F : kNanByte, bytes);
        continue;
      }
      const std::int64_t row = transposed ? at.column : at.row, column = transposed ? at.row : at.column;
      Store(operand.type, a ? A(at.batch, row, column) : B(at.batch, row, column), element);
    }
  });
}

void MatmulData::Encode(std::size_t input, unsigned char* to) const {
  const MatmulInputs places = InputsOf(spec_);
  const Operand& operand = operands_.inputs[input];
  const int place = static_cast<int>(input);
  if (place == places.a || place == places.b) return EncodeMatrix(place == places.a, operand, to);
  for (std::int64_t i = 0; i < operand.extent.Count(); ++i) {
    const MatmulPlace at = MatmulSpec::PlaceOf(spec_.D(), i);
    double value = Scale(place == places.a_scale, i);
    if (place == places.bias) value = Bias(i);
    if (place == places.c) value = C(at.batch, at.row, at.column);
    Store(operand.type, value, to + At(i) * SizeOf(operand.type));
    if (place == places.c && at.padding && operand.type != DataType::kInt32)
      std::memset(to + At(i) * SizeOf(operand.type), kNanByte, SizeOf(operand.type));
  }
}

}  // namespace cudnn_ci
