// The comparison of outputs: it passes right ones, up to the bound and no further, in every type and for each
// of the three operations. That it sees every wrong one: conv_fault_test.cc, conv_shortness_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "common/numeric/encode.h"
#include "compute/describe_result.h"
#include "conv_output.h"
#include "conv_shapes.h"
#include "conv_types.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

constexpr DataType kTypesWithNan[] = {DataType::kFloat32, DataType::kFloat16,    DataType::kBfloat16,
                                      DataType::kFloat64, DataType::kFloat8E4m3, DataType::kFloat8E5m2};

class OracleTest : public testing::TestWithParam<std::tuple<Operation, TensorTypes, Layout>> {
 protected:
  Reference Make(const ConvShape& shape) const {
    const Problem problem = {operation_, shape, {}, types_.output};
    return MakeReference(problem, RecipeFor(problem, types_.inputs, Arithmetic::kExact, {}));
  }
  Output Healthy(const Reference& r) const { return Output(r, types_.Result(), layout_); }

  const Operation operation_ = std::get<0>(GetParam());
  const TensorTypes types_ = std::get<1>(GetParam());
  const Layout layout_ = std::get<2>(GetParam());
  const Reference reference_ = Make(Shape({3, 60, 5, 7}, {17, 60, 3, 3}, {1}, {2, 1}));
  std::mt19937_64 random_{7};
};

TEST_P(OracleTest, HealthyOutputPassesWhateverTheShape) {
  std::mt19937 random(3);
  for (int i = 0; i < 30; ++i) {
    const Reference r = Make(RandomShape(random, 1 + static_cast<std::size_t>(i % 3)));
    const Judgement j = Healthy(r).Judged();
    ASSERT_TRUE(j.AllMatch()) << r.problem.Text() << ": "
                              << DescribeWrong(j, r.problem.Place(j.first_wrong), 0);
    ASSERT_EQ(j.elements, r.problem.Y().Count());
    ASSERT_EQ(j.worst_error, 0);
  }
}

TEST_P(OracleTest, TransformErrorsPassUpToTheBoundAndNoFurther) {
  const double bound = 0.01;
  Output output = Healthy(reference_);
  for (std::int64_t i = 0; i < output.Count(); ++i)
    output.Set(i, output.Right(i) + (i % 2 == 0 ? bound : -bound) * 0.99);
  EXPECT_TRUE(output.Judged(bound).AllMatch());
  const auto index = static_cast<std::int64_t>(random_() % reference_.y.size());
  output.Set(index, output.Right(index) + (std::fabs(output.Right(index)) > 8 ? 16 : 4));
  EXPECT_EQ(output.Judged(bound).wrong, 1);
  EXPECT_EQ(output.Judged(bound).first_wrong, index);
}

TEST_P(OracleTest, WhereNoBoundDecidesEveryNumberPasses) {
  Output output = Healthy(reference_);
  output.Set(3, 100 + reference_.y[3]);
  EXPECT_TRUE(output.Judged(kAnyNumber).AllMatch());
}

INSTANTIATE_TEST_SUITE_P(All, OracleTest,
                         testing::Combine(testing::ValuesIn(kOperations), testing::ValuesIn(kTensorTypes),
                                          testing::ValuesIn(kLayouts)),
                         [](const auto& p) {
                           return NameOf(std::get<0>(p.param)) + std::get<1>(p.param).name +
                                  (std::get<2>(p.param) == Layout::kNchw ? "Nchw" : "Nhwc");
                         });

TEST(EncodeTest, DataIsEncodedInLayoutOrder) {
  const Extent extent = {3, 37, 1001};
  std::mt19937_64 random(7);
  std::vector<std::int8_t> low, high;
  for (std::int64_t i = 0; i < extent.Count(); ++i) {
    low.push_back(static_cast<std::int8_t>(static_cast<int>(random() % 7) - 3));
    high.push_back(static_cast<std::int8_t>(static_cast<int>(random() % 7) - 3));
  }
  for (const auto& [name, type, output] : kTensorTypes) {
    if (output) continue;  // its inputs come once more
    const int shift = type == DataType::kFloat32 ? 12 : 0;
    const TwoScale<std::int8_t> values = {low.data(), shift == 0 ? nullptr : high.data(), shift};
    std::vector<unsigned char> encoded(low.size() * SizeOf(type));
    for (const Layout layout : kLayouts) {
      EncodeData(values, extent, type, layout, encoded.data());
      for (std::int64_t i = 0; i < extent.Count(); ++i) {
        const std::int64_t o = i / extent.channels / extent.pixels, c = i / extent.pixels % extent.channels;
        const std::int64_t p = i % extent.pixels;
        const std::int64_t at = layout == Layout::kNchw ? i : (o * extent.pixels + p) * extent.channels + c;
        ASSERT_EQ(Load(type, encoded.data() + static_cast<std::size_t>(at) * SizeOf(type)), values.At(i))
            << name << i;
      }
    }
  }
}

// One element that should be 0, of one scale or of two.
class Zero {
 public:
  Zero(DataType type, double value) : type_(type) { Store(type, value, bytes_); }
  void FlipLowestBit() { bytes_[0] ^= 1; }
  Judgement Judged(double bound, bool two_scales) const {
    const std::int16_t right = 0;
    return JudgeOutput({{&right, two_scales ? &right : nullptr, 6}, 0}, {1, 1, 1}, type_, Layout::kNchw,
                       bound, bytes_);
  }

 private:
  const DataType type_;
  alignas(double) unsigned char bytes_[sizeof(double)] = {};
};

TEST(CompareTest, NegativeZeroIsZero) {
  for (const DataType type : kTypesWithNan)
    for (const bool two_scales : {false, true})
      EXPECT_TRUE(Zero(type, -0.0).Judged(0, two_scales).AllMatch()) << static_cast<int>(type);
}

TEST(CompareTest, NanIsNoNumberAndOneThatWasComputedIsNoFill) {
  for (const DataType type : kTypesWithNan)
    for (const double bound : {0.0, 0.3, kAnyNumber})
      for (const bool two_scales : {false, true}) {
        Zero nan(type, std::nan(""));
        const Judgement before = nan.Judged(bound, two_scales);
        ASSERT_EQ(before.wrong, 1) << static_cast<int>(type) << bound;
        ASSERT_EQ(before.unwritten, 0);
        if (SizeOf(type) == 1) continue;  // of which there is but one
        nan.FlipLowestBit();
        ASSERT_EQ(nan.Judged(bound, two_scales).first_bits, before.first_bits ^ 1)
            << "it is told as it lies in memory";
      }
}

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
  EXPECT_THAT(DescribeWrong(j, r.problem.Place(j.first_wrong), 0),
              Mentions("1 of 120", "first (n=0,c=0,h=0,w=1): expected"));
  EXPECT_EQ(DescribeUnwritten(j, r.problem.Place(j.first_unwritten)),
            "1 of 120 elements were never written; first (n=0,c=0,h=0,w=2)");
}

}  // namespace
}  // namespace cudnn_ci
