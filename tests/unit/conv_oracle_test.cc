// The comparison of outputs: it sees every wrong element and no right one, up to the bound and no further, in
// every type and for each of the three operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>

#include "common/numeric/encode.h"
#include "conv_output.h"
#include "conv_shapes.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

constexpr DataType kTypes[] = {DataType::kFloat32,   DataType::kFloat16, DataType::kBfloat16,
                               DataType::kFloat64,   DataType::kInt8,    DataType::kFloat8E4m3,
                               DataType::kFloat8E5m2};
constexpr const char* kTypeNames[] = {"Float32", "Float16", "Bfloat16",   "Float64",
                                      "Int8",    "Int32",   "Float8E4m3", "Float8E5m2"};
constexpr const char* kOperationNames[] = {"Forward", "BackwardData", "BackwardFilter"};
constexpr Layout kLayouts[] = {Layout::kNchw, Layout::kNhwc};
constexpr Arithmetic kArithmetics[] = {Arithmetic::kExact, Arithmetic::kFft, Arithmetic::kWinograd};

// How many random places each fault is put to; the test "every_position" asks for 1,000.
int Positions() {
  const char* text = std::getenv("CUDNN_CI_POSITIONS");
  return text ? std::atoi(text) : 60;
}

class OracleTest : public testing::TestWithParam<std::tuple<Operation, DataType, Layout>> {
 protected:
  Reference Make(const ConvShape& shape, Arithmetic arithmetic = Arithmetic::kExact) const {
    const Problem problem = {operation_, shape};
    return MakeReference(problem, RecipeFor(problem, type_, arithmetic, {}));
  }
  Output Healthy(const Reference& r) const { return Output(r, type_, layout_); }
  std::int64_t RandomIndex() { return static_cast<std::int64_t>(random_() % reference_.y.size()); }

  const Operation operation_ = std::get<0>(GetParam());
  const DataType type_ = std::get<1>(GetParam());
  const Layout layout_ = std::get<2>(GetParam());
  const Reference reference_ = Make(Shape({3, 60, 5, 7}, {17, 60, 3, 3}, {1}, {2, 1}));
  std::mt19937_64 random_{7};
};

TEST_P(OracleTest, HealthyOutputPassesWhateverTheShape) {
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    const Reference r = Make(RandomShape(random, 1 + static_cast<std::size_t>(i % 3)));
    const Judgement j = Healthy(r).Judged();
    ASSERT_TRUE(j.AllMatch()) << r.problem.Text() << ": " << DescribeWrong(j, r.problem, 0);
    ASSERT_EQ(j.elements, r.problem.Y().Count());
    ASSERT_EQ(j.worst_error, 0);
  }
}

TEST_P(OracleTest, OneFlippedBitIsFoundAnywhere) {
  Output output = Healthy(reference_);
  for (int i = 0; i < Positions(); ++i) {
    const std::int64_t index = RandomIndex();
    const std::size_t bits = 8 * SizeOf(type_), bit = random_() % bits;
    // The sign of zero is no error.
    if (output.Right(index) == 0 && bit == bits - 1 && type_ != DataType::kInt8) continue;
    output.Flip(index, bit);
    const Judgement j = output.Judged();
    ASSERT_EQ(j.wrong + j.unwritten, 1) << "bit " << bit << " of " << output.Right(index);
    ASSERT_EQ(std::max(j.first_wrong, j.first_unwritten), index);
    output.Restore(index);
    ASSERT_TRUE(output.Judged().AllMatch());
  }
}

TEST_P(OracleTest, OneElementOffByTheSmallestStepIsFoundAnywhere) {
  Output output = Healthy(reference_);
  for (int i = 0; i < Positions(); ++i) {
    const std::int64_t index = RandomIndex();
    const double right = output.Get(index);
    double step = 1e-9;
    while (RoundTo(type_, right + step) == right) step *= 2;
    output.Set(index, right + step);
    const Judgement j = output.Judged();
    ASSERT_EQ(j.wrong, 1);
    ASSERT_EQ(j.first_wrong, index);
    ASSERT_EQ(j.first_expected, right);
    ASSERT_EQ(j.first_got, RoundTo(type_, right + step));
    ASSERT_EQ(j.worst_error, std::fabs(j.first_got - right));
    output.Restore(index);
  }
}

TEST_P(OracleTest, AnUnwrittenElementIsFoundAnywhereAndToldFromAWrongOne) {
  Output output = Healthy(reference_);
  for (int i = 0; i < Positions(); ++i) {
    const std::int64_t index = RandomIndex();
    output.Unwrite(index);
    for (const double bound : {0.0, kAnyNumber}) {
      const Judgement j = output.Judged(bound);
      ASSERT_EQ(j.unwritten, 1);
      ASSERT_EQ(j.first_unwritten, index);
      ASSERT_EQ(j.wrong, 0);
    }
    output.Restore(index);
  }
  if (type_ == DataType::kInt8) return;
  output.Set(0, std::nan(""));
  const Judgement nan = output.Judged();
  EXPECT_EQ(nan.wrong, 1) << "a NaN that was computed is no fill";
  if (SizeOf(type_) == 1) return;  // of which there is but one
  output.Flip(0, 0);
  EXPECT_EQ(output.Judged().first_bits, nan.first_bits ^ 1) << "it is told as it lies in memory";
}

TEST_P(OracleTest, SwappedChannelsAndSwappedImagesAreFound) {
  const Tensor y = reference_.problem.Y();
  const std::int64_t pixels = Product(y.sizes);
  const auto swapped = [&](std::int64_t a, std::int64_t b, std::int64_t count) {
    Output output = Healthy(reference_);
    for (std::int64_t i = 0; i < count; ++i) {
      output.Set(a + i, output.Right(b + i));
      output.Set(b + i, output.Right(a + i));
    }
    return output.Judged().wrong;
  };
  for (std::int64_t c = 1; c < y.channels; ++c)
    EXPECT_GT(swapped((c - 1) * pixels, c * pixels, pixels), pixels / 2);
  for (std::int64_t n = 1; n < y.outer; ++n)
    EXPECT_GT(swapped(0, n * y.channels * pixels, y.channels * pixels), y.channels * pixels);
}

// One product less, in a result that is otherwise as inexact as it may be.
TEST_P(OracleTest, OneLostProductIsFoundAnywhereUnderEveryBound) {
  for (const Arithmetic arithmetic : kArithmetics) {
    if (SizeOf(type_) == 1 && arithmetic != Arithmetic::kExact) continue;  // no transform has these types
    const Reference r = Make(Shape({17, 60, 6, 7}, {9, 60, 5, 5}, {2}), arithmetic);
    const double bound = ErrorBound(arithmetic, type_, r.problem, r.recipe);
    ASSERT_TRUE(IsDecisive(bound)) << "data for this algorithm do not decide";
    Output output = Healthy(r);
    for (std::int64_t i = 0; i < output.Count(); ++i)
      output.Set(i, output.Right(i) + (i % 2 == 0 ? bound : -bound) * 0.99);
    ASSERT_TRUE(output.Judged(bound).AllMatch());
    int lost = 0;
    for (int tries = 0; lost < Positions() && tries < 100 * Positions(); ++tries) {
      const auto index = static_cast<std::int64_t>(random_() % r.y.size());
      const std::vector<Factors> factors = FactorsOf(r.problem, index);
      if (factors.empty()) continue;
      const Factors one = factors[random_() % factors.size()];
      const double product = r.A().At(one.a) * r.B().At(one.b), right = output.Right(index);
      const double kept = output.Get(index), without = RoundTo(type_, right - product);
      // A zero cannot be lost, and a short type does not have every integer.
      if (product == 0) continue;
      if (without >= RoundTo(type_, right - bound) && without <= RoundTo(type_, right + bound)) continue;
      ++lost;
      output.Set(index, right - product);
      const Judgement j = output.Judged(bound);
      ASSERT_EQ(j.wrong, 1) << r.problem.Place(index) << " without " << product << " of " << right;
      ASSERT_EQ(j.first_wrong, index);
      output.Set(index, kept);
    }
    EXPECT_EQ(lost, Positions());
  }
}

TEST_P(OracleTest, TransformErrorsPassUpToTheBoundAndNoFurther) {
  const double bound = 0.01;
  Output output = Healthy(reference_);
  for (std::int64_t i = 0; i < output.Count(); ++i)
    output.Set(i, output.Right(i) + (i % 2 == 0 ? bound : -bound) * 0.99);
  EXPECT_TRUE(output.Judged(bound).AllMatch());
  const std::int64_t index = RandomIndex();
  output.Set(index, output.Right(index) + (std::fabs(output.Right(index)) > 8 ? 16 : 4));
  EXPECT_EQ(output.Judged(bound).wrong, 1);
  EXPECT_EQ(output.Judged(bound).first_wrong, index);
}

TEST_P(OracleTest, WhereNoBoundDecidesANumberIsStillAskedFor) {
  Output output = Healthy(reference_);
  output.Set(3, 100 + reference_.y[3]);
  EXPECT_TRUE(output.Judged(kAnyNumber).AllMatch());
  output.Unwrite(5);
  EXPECT_EQ(output.Judged(kAnyNumber).unwritten, 1);
  if (type_ == DataType::kInt8 || type_ == DataType::kFloat8E4m3) return;
  output.Set(4, std::nan(""));
  EXPECT_EQ(output.Judged(kAnyNumber).wrong, 1);
}

TEST_P(OracleTest, NegativeZeroIsZero) {
  Output output = Healthy(reference_);
  bool found = false;
  for (std::int64_t i = 0; i < output.Count(); ++i) {
    if (output.Right(i) != 0) continue;
    output.Set(i, -0.0);
    found = true;
  }
  ASSERT_TRUE(found);
  EXPECT_TRUE(output.Judged().AllMatch());
}

TEST_P(OracleTest, DataIsEncodedInLayoutOrder) {
  const Extent extent = {3, 37, 1001};
  const int shift = type_ == DataType::kFloat32 ? 12 : 0;
  std::vector<std::int8_t> low, high;
  for (std::int64_t i = 0; i < extent.Count(); ++i) {
    low.push_back(static_cast<std::int8_t>(static_cast<int>(random_() % 7) - 3));
    high.push_back(static_cast<std::int8_t>(static_cast<int>(random_() % 7) - 3));
  }
  const TwoScale<std::int8_t> values = {low.data(), shift == 0 ? nullptr : high.data(), shift};
  std::vector<unsigned char> encoded(low.size() * SizeOf(type_));
  EncodeData(values, extent, type_, layout_, encoded.data());
  for (std::int64_t i = 0; i < extent.Count(); ++i) {
    const std::int64_t o = i / extent.channels / extent.pixels, c = i / extent.pixels % extent.channels;
    const std::int64_t p = i % extent.pixels;
    const std::int64_t at = layout_ == Layout::kNchw ? i : (o * extent.pixels + p) * extent.channels + c;
    const double right =
        low[static_cast<std::size_t>(i)] + (shift == 0 ? 0 : 4096 * high[static_cast<std::size_t>(i)]);
    ASSERT_EQ(Load(type_, encoded.data() + static_cast<std::size_t>(at) * SizeOf(type_)), right) << i;
  }
}

std::string CaseName(const testing::TestParamInfo<std::tuple<Operation, DataType, Layout>>& p) {
  return std::string(kOperationNames[static_cast<int>(std::get<0>(p.param))]) +
         kTypeNames[static_cast<int>(std::get<1>(p.param))] +
         (std::get<2>(p.param) == Layout::kNchw ? "Nchw" : "Nhwc");
}

INSTANTIATE_TEST_SUITE_P(All, OracleTest,
                         testing::Combine(testing::ValuesIn(kOperations), testing::ValuesIn(kTypes),
                                          testing::ValuesIn(kLayouts)),
                         CaseName);

// Sums, or inputs, that are shorter than the type promises.
struct Shortness {
  const char* name;
  DataType type;
  std::function<double(double)> input, sum;
};

double Same(double v) { return v; }

double Tf32(double v) {
  if (v == 0) return 0;
  const int spacing = std::ilogb(v) - 10;
  return std::ldexp(std::nearbyint(std::ldexp(v, -spacing)), spacing);
}

std::function<double(double)> To(DataType type) {
  return [type](double v) { return RoundTo(type, v); };
}

class ShortnessTest : public testing::TestWithParam<std::tuple<Operation, Shortness>> {
 protected:
  // The result as such a kernel leaves it, judged.
  static Judgement Judged(const Reference& r, const Shortness& shortness, Layout layout) {
    Output output(r, shortness.type, layout);
    for (std::int64_t i = 0; i < output.Count(); ++i) {
      double sum = 0;
      for (const Factors& f : FactorsOf(r.problem, i))
        sum = shortness.sum(sum + shortness.input(r.A().At(f.a)) * shortness.input(r.B().At(f.b)));
      output.Set(i, sum);
    }
    return output.Judged();
  }
};

TEST_P(ShortnessTest, IsSeenWithTwoScales) {
  const auto& [operation, shortness] = GetParam();
  const Reference r = MakeReference({operation, Shape({3, 40, 5, 6}, {30, 40, 3, 3}, {1})},
                                    DiscriminatingRecipe(shortness.type));
  for (const Layout layout : kLayouts) {
    const Shortness right = {"", shortness.type, Same, Same};
    EXPECT_TRUE(Judged(r, right, layout).AllMatch()) << "a kernel that is not short is right";
    const Judgement j = Judged(r, shortness, layout);
    EXPECT_GT(j.wrong, j.elements / 10);
  }
}

const Shortness kShortnesses[] = {
    {"Tf32AsFloat32", DataType::kFloat32, Tf32, Same},
    {"Float16InputsAsFloat32", DataType::kFloat32, To(DataType::kFloat16), Same},
    {"Bfloat16InputsAsFloat32", DataType::kFloat32, To(DataType::kBfloat16), Same},
    {"Float16SumsAsFloat32", DataType::kFloat32, Same, To(DataType::kFloat16)},
    {"Float32AsFloat64", DataType::kFloat64, To(DataType::kFloat32), Same},
    {"Float32SumsAsFloat64", DataType::kFloat64, Same, To(DataType::kFloat32)},
    {"Float16Sums", DataType::kFloat16, Same, To(DataType::kFloat16)},
    {"Bfloat16Sums", DataType::kBfloat16, Same, To(DataType::kBfloat16)}};

INSTANTIATE_TEST_SUITE_P(All, ShortnessTest,
                         testing::Combine(testing::ValuesIn(kOperations), testing::ValuesIn(kShortnesses)),
                         [](const auto& p) {
                           return std::string(kOperationNames[static_cast<int>(std::get<0>(p.param))]) +
                                  std::get<1>(p.param).name;
                         });

TEST(CompareTest, AnInt8ThatLooksUnwrittenIsRefused) {
  std::vector<std::int16_t> y = {1, 127};
  const unsigned char output[2] = {1, 127};
  const auto judged = [&](int max_abs) {
    return JudgeOutput({{y.data()}, max_abs}, {1, 1, 2}, DataType::kInt8, Layout::kNchw, 0, output);
  };
  EXPECT_TRUE(judged(127).AllMatch());
  EXPECT_THROW(judged(128), std::logic_error);
}

TEST(CompareTest, WordsSayWhatAndWhere) {
  const Reference r =
      MakeReference({Operation::kBackwardData, Shape({2, 3, 4, 5}, {4, 3, 3, 3}, {1})}, Sparse());
  Output output(r, DataType::kFloat32, Layout::kNhwc);
  output.Set(1, output.Right(1) + 1);
  output.Unwrite(2);
  const Judgement j = output.Judged();
  EXPECT_THAT(DescribeWrong(j, r.problem, 0),
              HasSubstr("1 of 120 elements are wrong; first (n=0,c=0,h=0,w=1): expected"));
  EXPECT_EQ(DescribeUnwritten(j, r.problem), "1 of 120 elements were never written; first (n=0,c=0,h=0,w=2)");
}

}  // namespace
}  // namespace cudnn_ci
