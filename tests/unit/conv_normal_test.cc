// Normal data: sums by another definition, bounds that healthy arithmetic keeps and shorter arithmetic does
// not.
#include "conv/normal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "common/numeric/repeat.h"
#include "conv/bounds.h"
#include "conv_output.h"
#include "conv_shapes.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

using testing::ContainsRegex;
using Rounding = std::function<double(double)>;

constexpr Layout kLayouts[] = {Layout::kNchw, Layout::kNhwc};

// Where element `index` of a tensor, in the order n, c, sizes, lies in memory.
std::size_t Offset(const Tensor& t, DataType type, Layout layout, std::int64_t index) {
  const std::int64_t pixels = Product(t.sizes), plane = index / pixels;
  if (layout == Layout::kNhwc)
    index = (plane / t.channels * pixels + index % pixels) * t.channels + plane % t.channels;
  return static_cast<std::size_t>(index) * SizeOf(type);
}

std::vector<unsigned char> Filled(const Tensor& t, DataType type, std::uint64_t seed) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(t.Count()) * SizeOf(type));
  FillNormal(type, t.Count(), seed, bytes.data());
  return bytes;
}

// The result of a kernel that rounds its inputs and each partial sum so, in an order of its own.
struct Kernel {
  Rounding input, sum;
};

class Result {
 public:
  Result(const Problem& problem, DataType type, Layout layout)
      : problem_(problem),
        type_(type),
        layout_(layout),
        a_(Filled(problem.A(), type, kSeedOfA)),
        b_(Filled(problem.B(), type, kSeedOfB)),
        bytes_(static_cast<std::size_t>(problem.Y().Count()) * SizeOf(type)) {}

  double Sum(std::int64_t index, const Kernel& kernel, bool backwards = false) const {
    std::vector<Factors> factors = FactorsOf(problem_, index);
    if (backwards) std::reverse(factors.begin(), factors.end());
    double sum = 0;
    for (const Factors& f : factors)
      sum = kernel.sum(sum +
                       kernel.input(Load(type_, a_.data() + Offset(problem_.A(), type_, layout_, f.a))) *
                           kernel.input(Load(type_, b_.data() + Offset(problem_.B(), type_, layout_, f.b))));
    return sum;
  }
  void Set(std::int64_t index, double value) {
    Store(type_, value, bytes_.data() + Offset(problem_.Y(), type_, layout_, index));
  }
  const unsigned char* By(const Kernel& kernel) {
    for (std::int64_t i = 0; i < problem_.Y().Count(); ++i) Set(i, Sum(i, kernel, i % 2 == 0));
    return bytes_.data();
  }
  const unsigned char* bytes() const { return bytes_.data(); }

 private:
  const Problem problem_;
  const DataType type_;
  const Layout layout_;
  const std::vector<unsigned char> a_, b_;
  std::vector<unsigned char> bytes_;
};

double Same(double v) { return v; }
double Tf32(double v) {
  if (v == 0) return 0;
  const int spacing = std::ilogb(v) - 10;
  return std::ldexp(std::nearbyint(std::ldexp(v, -spacing)), spacing);
}
double CutToTf32(double v) {
  if (v == 0) return 0;
  const int spacing = std::ilogb(v) - 10;
  return std::ldexp(std::trunc(std::ldexp(v, -spacing)), spacing);
}
Rounding To(DataType type) {
  return [type](double v) { return RoundTo(type, v); };
}

constexpr ApiPromise kStrict = {true, true}, kLoose = {false, true};

TEST(NormalTest, SumsAreThoseOfTheDefinition) {
  std::mt19937 random(5);
  for (int i = 0; i < 90; ++i) {
    const Problem problem = {kOperations[i % 3],
                             RandomShape(random, 1 + static_cast<std::size_t>(i / 3 % 3))};
    const DataType type = i % 2 == 0 ? DataType::kFloat32 : DataType::kFloat16;
    const Layout layout = kLayouts[i / 2 % 2];
    const NormalSample sample(problem, type, layout);
    const Result result(problem, type, layout);
    ASSERT_EQ(sample.elements().size(), static_cast<std::size_t>(problem.Y().Count()))
        << "all of a small one";
    for (std::size_t e = 0; e < sample.elements().size(); e += 1 + sample.elements().size() / 50) {
      const NormalSample::Element& element = sample.elements()[e];
      ASSERT_NEAR(element.value, result.Sum(element.index, {Same, Same}),
                  1e-12 * (1 + element.sum_of_magnitudes))
          << problem.Text();
      ASSERT_GE(element.sum_of_magnitudes * (1 + 1e-12), std::fabs(element.value));
    }
  }
}

TEST(NormalTest, OfLargeResultsTheFirstTheLastAndSomeAreLookedAt) {
  const Problem problem = {Operation::kForward, Shape({32, 64, 56, 56}, {64, 64, 3, 3}, {1})};
  const NormalSample sample(problem, DataType::kFloat32, Layout::kNchw);
  EXPECT_EQ(sample.elements().size(), (1u << 20) / 576);
  EXPECT_EQ(sample.elements().front().index, 0);
  EXPECT_EQ(sample.elements().back().index, problem.Y().Count() - 1);
  std::int64_t channels[64] = {};
  for (const NormalSample::Element& e : sample.elements()) ++channels[e.index / (56 * 56) % 64];
  for (const std::int64_t count : channels) EXPECT_GT(count, 0);
}

// What a kernel is, what is known of it, and whether it is right.
struct Case {
  const char* name;
  DataType type;
  ApiPromise promise;
  KernelClass kernels;
  Kernel kernel;
};

class NormalBoundTest : public testing::TestWithParam<std::tuple<Operation, Case>> {
 protected:
  static std::string Judged(const Problem& problem, const Case& c, Layout layout) {
    const std::optional<NormalBound> bound =
        NormalBoundOf(problem, {c.type, Arithmetic::kExact, c.promise, c.kernels});
    if (!bound) return "not judged";
    return NormalSample(problem, c.type, layout).Judge(*bound, Result(problem, c.type, layout).By(c.kernel));
  }
};

class NormalHealthyTest : public NormalBoundTest {};

// Thousands of elements each, summed forwards and backwards.
TEST_P(NormalHealthyTest, IsNoFalseAlarm) {
  const auto& [operation, c] = GetParam();
  std::mt19937 random(11);
  for (int i = 0; i < 12; ++i) {
    const Problem problem = {operation, RandomShape(random, 1)};
    ASSERT_EQ(Judged(problem, c, kLayouts[i / 2 % 2]), "") << problem.Text();
  }
  EXPECT_EQ(Judged({operation, Shape({3, 40, 5, 6}, {30, 40, 3, 3}, {1})}, c, Layout::kNchw), "");
}

class NormalShortTest : public NormalBoundTest {};

TEST_P(NormalShortTest, IsSeen) {
  const auto& [operation, c] = GetParam();
  const Problem problem = {operation, Shape({3, 40, 5, 6}, {30, 40, 3, 3}, {1})};
  for (const Layout layout : kLayouts)
    EXPECT_THAT(Judged(problem, c, layout), ContainsRegex("^[1-9][0-9]* of [0-9]+ [^;]*; first "));
}

const Case kHealthy[] = {
    {"Float32", DataType::kFloat32, kStrict, KernelClass::kUnknown, {Same, To(DataType::kFloat32)}},
    {"Float32ByName", DataType::kFloat32, kLoose, KernelClass::kFma, {Same, To(DataType::kFloat32)}},
    {"Tf32WhereItIsAllowed",
     DataType::kFloat32,
     kLoose,
     KernelClass::kUnknown,
     {Tf32, To(DataType::kFloat32)}},
    {"Tf32ThatIsCut", DataType::kFloat32, kLoose, KernelClass::kTf32, {CutToTf32, To(DataType::kFloat32)}},
    {"Float64", DataType::kFloat64, kStrict, KernelClass::kUnknown, {Same, Same}}};

const Case kShort[] = {
    {"Tf32AsFloat32", DataType::kFloat32, kStrict, KernelClass::kUnknown, {Tf32, To(DataType::kFloat32)}},
    {"Tf32UnderTheNameOfFma", DataType::kFloat32, kLoose, KernelClass::kFma, {Tf32, To(DataType::kFloat32)}},
    {"Float16SumsAsFloat32",
     DataType::kFloat32,
     kStrict,
     KernelClass::kUnknown,
     {Same, To(DataType::kFloat16)}},
    {"Float32AsFloat64", DataType::kFloat64, kLoose, KernelClass::kUnknown, {To(DataType::kFloat32), Same}},
    {"Float32SumsAsFloat64",
     DataType::kFloat64,
     kLoose,
     KernelClass::kUnknown,
     {Same, To(DataType::kFloat32)}}};

// Sums in float32 are promised of a forward convolution alone.
const Case kHealthy16[] = {
    {"Float16", DataType::kFloat16, kStrict, KernelClass::kUnknown, {Same, To(DataType::kFloat32)}},
    {"Bfloat16", DataType::kBfloat16, kStrict, KernelClass::kUnknown, {Same, To(DataType::kFloat32)}}};
const Case kShort16[] = {
    {"Float16Sums", DataType::kFloat16, kStrict, KernelClass::kUnknown, {Same, To(DataType::kFloat16)}},
    {"Bfloat16Sums", DataType::kBfloat16, kStrict, KernelClass::kUnknown, {Same, To(DataType::kBfloat16)}}};

std::string CaseName(const testing::TestParamInfo<std::tuple<Operation, Case>>& p) {
  return OperationName(std::get<0>(p.param)) + std::get<1>(p.param).name;
}

INSTANTIATE_TEST_SUITE_P(All, NormalHealthyTest,
                         testing::Combine(testing::ValuesIn(kOperations), testing::ValuesIn(kHealthy)),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Forward, NormalHealthyTest,
                         testing::Combine(testing::Values(Operation::kForward),
                                          testing::ValuesIn(kHealthy16)),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(All, NormalShortTest,
                         testing::Combine(testing::ValuesIn(kOperations), testing::ValuesIn(kShort)),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Forward, NormalShortTest,
                         testing::Combine(testing::Values(Operation::kForward), testing::ValuesIn(kShort16)),
                         CaseName);

TEST(NormalTest, AnElementThatIsOffOrNoNumberIsFoundAnywhere) {
  std::mt19937_64 random(3);
  for (const Layout layout : kLayouts) {
    const Problem problem = {Operation::kForward, Shape({2, 6, 9, 11}, {8, 3, 3, 5}, {1}, {2, 1}, {1}, 2)};
    const NormalSample sample(problem, DataType::kFloat32, layout);
    Result result(problem, DataType::kFloat32, layout);
    const Kernel right = {Same, To(DataType::kFloat32)};
    const NormalBound bound = {1e-6, 1e-6};
    ASSERT_EQ(sample.Judge(bound, result.By(right)), "");
    for (int i = 0; i < 60; ++i) {
      const auto index =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(problem.Y().Count()));
      const double exact = result.Sum(index, {Same, Same});
      for (const double wrong :
           {exact + 1e-2, exact - 1e-2, std::nan(""), std::numeric_limits<double>::infinity()}) {
        result.Set(index, wrong);
        EXPECT_THAT(
            sample.Judge(bound, result.bytes()),
            Mentions("1 of " + std::to_string(problem.Y().Count()), "; first " + problem.Place(index)));
      }
      result.Set(index, result.Sum(index, right));
    }
  }
}

TEST(NormalTest, WhatIsNotPromisedIsNotJudged) {
  const Problem forward = {Operation::kForward, Shape({2, 8, 9, 9}, {8, 8, 3, 3})};
  const Problem filter = {Operation::kBackwardFilter, forward.shape};
  const auto judged = [](const Problem& problem, DataType type, const ApiPromise& promise,
                         bool to_half = false) {
    return NormalBoundOf(problem, {type, Arithmetic::kExact, promise, KernelClass::kUnknown, to_half})
        .has_value();
  };
  for (const DataType type : {DataType::kInt8, DataType::kFloat8E4m3, DataType::kFloat8E5m2})
    EXPECT_FALSE(judged(forward, type, kStrict));
  for (const DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    EXPECT_TRUE(judged(forward, type, kStrict));
    EXPECT_FALSE(judged(forward, type, kLoose)) << "sums may be in 16 bits";
    EXPECT_FALSE(judged(forward, type, {true, false})) << "of the graph API";
    EXPECT_FALSE(judged(filter, type, kStrict));
  }
  for (const DataType type : {DataType::kFloat32, DataType::kFloat64}) {
    EXPECT_TRUE(judged(filter, type, kLoose));
    EXPECT_FALSE(judged(filter, type, kLoose, true)) << "noted to round to 16 bits";
  }
}

TEST(NormalTest, BoundsAreThoseOfTheirSources) {
  const Problem problem = {Operation::kForward, Shape({2, 64, 9, 9}, {8, 64, 3, 3})};
  const auto bound = [&](DataType type, const ApiPromise& promise,
                         KernelClass kernels = KernelClass::kUnknown,
                         Arithmetic arithmetic = Arithmetic::kExact) {
    return *NormalBoundOf(problem, {type, arithmetic, promise, kernels});
  };
  const double n = 577, u = 0x1p-24;
  EXPECT_DOUBLE_EQ(bound(DataType::kFloat32, kStrict).of_products, 6 * std::sqrt(n) * u);
  EXPECT_DOUBLE_EQ(bound(DataType::kFloat32, kLoose, KernelClass::kFma).of_products, 6 * std::sqrt(n) * u);
  for (const KernelClass kernels : {KernelClass::kUnknown, KernelClass::kHelper, KernelClass::kTensorCore,
                                    KernelClass::kTf32, KernelClass::kHalfSums})
    EXPECT_DOUBLE_EQ(bound(DataType::kFloat32, kLoose, kernels).of_products, 0x1p-9 + 4 * n * u);
  EXPECT_DOUBLE_EQ(bound(DataType::kFloat16, kStrict).of_products, 4 * n * u);
  EXPECT_DOUBLE_EQ(bound(DataType::kFloat64, kLoose).of_products, 2 * n * 0x1p-53 / (1 - n * 0x1p-53));
  const NormalBound winograd =
      bound(DataType::kFloat32, kStrict, KernelClass::kUnknown, Arithmetic::kWinograd);
  EXPECT_EQ(winograd.of_products, 0);
  EXPECT_DOUBLE_EQ(winograd.absolute, 8 * 1.04e-3);
  EXPECT_DOUBLE_EQ(bound(DataType::kFloat32, kLoose, KernelClass::kUnknown, Arithmetic::kFft).of_products,
                   0x1p-9);
  // Of few products the worst case, of very many something still.
  const Problem one = {Operation::kForward, Shape({2, 1, 9, 9}, {8, 1, 1, 1})};
  EXPECT_NEAR(NormalBoundOf(one, {DataType::kFloat32, Arithmetic::kExact, kStrict})->of_products, 2 * u,
              u * 1e-6);
  const Problem many = {Operation::kBackwardFilter, Shape({64, 1, 600, 600}, {1, 1, 1, 1})};
  EXPECT_NEAR(NormalBoundOf(many, {DataType::kFloat32, Arithmetic::kExact, kStrict})->of_products,
              6 * std::sqrt(64 * 600 * 600) * u, 1e-6);
}

TEST(NormalTest, TransformsOfGradientsGrowWithTheirSums) {
  const auto bound = [](std::int64_t images) {
    return NormalTransformBound(Arithmetic::kWinograd, DataType::kFloat32,
                                {Operation::kBackwardFilter, Shape({images, 8, 28, 28}, {8, 8, 3, 3}, {1})});
  };
  EXPECT_DOUBLE_EQ(bound(4), 8 * 0.05) << "below the reduction that it was measured at";
  EXPECT_DOUBLE_EQ(bound(64), 8 * 0.05 * 2);
}

}  // namespace
}  // namespace cudnn_ci
