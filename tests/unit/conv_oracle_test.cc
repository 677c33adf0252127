// The comparison of outputs: it sees every wrong element and no right one, up to the bound and no further.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "conv/fill.h"
#include "conv/numeric.h"
#include "conv/oracle.h"
#include "conv/reference.h"
#include "conv_shapes.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16,
                               DataType::kFloat64};
constexpr Layout kLayouts[] = {Layout::kNchw, Layout::kNhwc};

// An output buffer as a right kernel leaves it, written by other code than the oracle's.
class Output {
 public:
  Output(const Reference& r, DataType type, Layout layout) : r_(r), type_(type), layout_(layout) {
    bytes_.resize(r.y.size() * SizeOf(type));
    for (std::size_t i = 0; i < r.y.size(); ++i) Set(static_cast<std::int64_t>(i), r.y[i]);
  }
  // Element `index` in NCHW order.
  void Set(std::int64_t index, double value) {
    const double rounded = RoundTo(type_, value);
    const float narrow = static_cast<float>(rounded);
    const std::uint16_t half = type_ == DataType::kFloat16 ? EncodeFloat16(rounded) : EncodeBfloat16(rounded);
    const void* from = type_ == DataType::kFloat64   ? static_cast<const void*>(&rounded)
                       : type_ == DataType::kFloat32 ? static_cast<const void*>(&narrow)
                                                     : &half;
    std::memcpy(bytes_.data() + Offset(index), from, SizeOf(type_));
  }
  void Unwrite(std::int64_t index) {
    for (std::size_t i = 0; i < SizeOf(type_); i += sizeof kUnwrittenWord)
      std::memcpy(bytes_.data() + Offset(index) + i, &kUnwrittenWord, sizeof kUnwrittenWord);
  }
  Judgement Judged(double bound = 0) const { return JudgeOutput(r_, type_, layout_, bound, bytes_.data()); }

 private:
  std::size_t Offset(std::int64_t index) const {
    const ConvShape& s = r_.shape;
    const std::int64_t pixels = Product(s.out);
    if (layout_ == Layout::kNhwc) {
      const std::int64_t n = index / (s.k * pixels), k = index / pixels % s.k, pixel = index % pixels;
      index = (n * pixels + pixel) * s.k + k;
    }
    return static_cast<std::size_t>(index) * SizeOf(type_);
  }
  const Reference& r_;
  const DataType type_;
  const Layout layout_;
  std::vector<unsigned char> bytes_;
};

class OracleTest : public testing::TestWithParam<std::tuple<DataType, Layout>> {
 protected:
  Output Healthy(const Reference& r) const { return Output(r, type_, layout_); }
  const DataType type_ = std::get<0>(GetParam());
  const Layout layout_ = std::get<1>(GetParam());
  // Outputs beyond 256, which bfloat16 has to round.
  const std::shared_ptr<const Reference> reference_ =
      ReferenceOf(Shape({3, 3000, 5, 7}, {17, 3000, 3, 3}, {1}, {2, 1}));
  const ConvShape& shape_ = reference_->shape;
  std::mt19937_64 random_{7};
  std::int64_t RandomIndex() { return static_cast<std::int64_t>(random_() % reference_->y.size()); }
};

TEST_P(OracleTest, HealthyOutputPassesWhateverTheShape) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const auto r = ReferenceOf(RandomShape(random, 1 + static_cast<std::size_t>(i % 3)));
    const Judgement j = Healthy(*r).Judged();
    ASSERT_TRUE(j.AllMatch()) << r->shape.Text() << ": " << DescribeWrong(j, r->shape, 0);
    ASSERT_EQ(j.elements, r->shape.OutputCount());
    ASSERT_EQ(j.worst_error, 0);
  }
  EXPECT_GT(reference_->max_abs, 256);
  EXPECT_TRUE(Healthy(*reference_).Judged().AllMatch());
}

TEST_P(OracleTest, OneElementOffByTheSmallestStepIsFoundAnywhere) {
  Output output = Healthy(*reference_);
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t index = RandomIndex();
    const int y = reference_->y[static_cast<std::size_t>(index)];
    const double right = RoundTo(type_, y);
    // The smallest step of bfloat16 at the largest |y| is 2; elsewhere a product more or less.
    const double wrong = right + (std::fabs(right) >= 256 && type_ == DataType::kBfloat16 ? 4 : 1);
    output.Set(index, wrong);
    const Judgement j = output.Judged();
    ASSERT_EQ(j.wrong, 1);
    ASSERT_EQ(j.first_wrong, index);
    ASSERT_EQ(j.first_expected, right);
    ASSERT_EQ(j.first_got, RoundTo(type_, wrong));
    ASSERT_EQ(j.worst_error, std::fabs(RoundTo(type_, wrong) - right));
    output.Set(index, y);
  }
}

TEST_P(OracleTest, AnUnwrittenElementIsFoundAnywhereAndToldFromAWrongOne) {
  Output output = Healthy(*reference_);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t index = RandomIndex();
    output.Unwrite(index);
    const Judgement j = output.Judged();
    ASSERT_EQ(j.unwritten, 1);
    ASSERT_EQ(j.first_unwritten, index);
    ASSERT_EQ(j.wrong, 0);
    output.Set(index, reference_->y[static_cast<std::size_t>(index)]);
  }
  output.Set(0, std::nan(""));
  EXPECT_EQ(output.Judged().wrong, 1);
}

TEST_P(OracleTest, SwappedChannelsAndSwappedImagesAreFound) {
  const std::int64_t pixels = Product(shape_.out);
  const auto swapped = [&](std::int64_t a, std::int64_t b, std::int64_t count) {
    Output output = Healthy(*reference_);
    for (std::int64_t i = 0; i < count; ++i) {
      output.Set(a + i, reference_->y[static_cast<std::size_t>(b + i)]);
      output.Set(b + i, reference_->y[static_cast<std::size_t>(a + i)]);
    }
    return output.Judged().wrong;
  };
  for (std::int64_t k = 1; k < shape_.k; ++k)
    EXPECT_GT(swapped((k - 1) * pixels, k * pixels, pixels), pixels / 2);
  EXPECT_GT(swapped(0, shape_.k * pixels, shape_.k * pixels), shape_.k * pixels);
}

TEST_P(OracleTest, TransformErrorsPassUpToTheBoundAndNoFurther) {
  const double bound = 0.01;
  Output output = Healthy(*reference_);
  for (std::size_t i = 0; i < reference_->y.size(); ++i)
    output.Set(static_cast<std::int64_t>(i), reference_->y[i] + (i % 2 == 0 ? bound : -bound) * 0.99);
  EXPECT_TRUE(output.Judged(bound).AllMatch());
  EXPECT_FALSE(output.Judged().AllMatch());
  const std::int64_t index = RandomIndex();
  output.Set(index, reference_->y[static_cast<std::size_t>(index)] + (type_ == DataType::kBfloat16 ? 4 : 1));
  EXPECT_EQ(output.Judged(bound).wrong, 1);
  EXPECT_EQ(output.Judged(bound).first_wrong, index);
}

TEST_P(OracleTest, WhereNoBoundDecidesANumberIsStillAskedFor) {
  Output output = Healthy(*reference_);
  output.Set(3, 100 + reference_->y[3]);
  EXPECT_TRUE(output.Judged(kAnyNumber).AllMatch());
  output.Set(4, std::nan(""));
  EXPECT_EQ(output.Judged(kAnyNumber).wrong, 1);
  output.Unwrite(5);
  EXPECT_EQ(output.Judged(kAnyNumber).unwritten, 1);
}

TEST_P(OracleTest, NegativeZeroIsZero) {
  Output output = Healthy(*reference_);
  bool found = false;
  for (std::size_t i = 0; i < reference_->y.size(); ++i) {
    if (reference_->y[i] != 0) continue;
    output.Set(static_cast<std::int64_t>(i), -0.0);
    found = true;
  }
  ASSERT_TRUE(found);
  EXPECT_TRUE(output.Judged().AllMatch());
}

TEST_P(OracleTest, DataIsEncodedInLayoutOrder) {
  const std::int64_t outer = 3, channels = 37, pixels = 1001;
  std::vector<std::int8_t> values;
  for (std::int64_t i = 0; i < outer * channels * pixels; ++i)
    values.push_back(static_cast<std::int8_t>(static_cast<int>(random_() % 7) - 3));
  std::vector<unsigned char> encoded(values.size() * SizeOf(type_));
  EncodeData(values, channels, pixels, type_, layout_, encoded.data());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.size()); ++i) {
    const std::int64_t o = i / channels / pixels, c = i / pixels % channels, p = i % pixels;
    const std::int64_t at = layout_ == Layout::kNchw ? i : (o * pixels + p) * channels + c;
    const unsigned char* from = encoded.data() + static_cast<std::size_t>(at) * SizeOf(type_);
    double got = 0;
    if (type_ == DataType::kFloat64) std::memcpy(&got, from, 8);
    float narrow = 0;
    if (type_ == DataType::kFloat32) std::memcpy(&narrow, from, 4), got = static_cast<double>(narrow);
    std::uint16_t half = 0;
    std::memcpy(&half, from, 2);
    if (type_ == DataType::kFloat16) got = static_cast<double>(DecodeFloat16(half));
    if (type_ == DataType::kBfloat16) got = static_cast<double>(DecodeBfloat16(half));
    ASSERT_EQ(got, values[static_cast<std::size_t>(i)]) << i;
  }
}

std::string CaseName(const testing::TestParamInfo<std::tuple<DataType, Layout>>& p) {
  constexpr const char* kNames[] = {"Float32", "Float16", "Bfloat16", "Float64"};
  return std::string(kNames[static_cast<int>(std::get<0>(p.param))]) +
         (std::get<1>(p.param) == Layout::kNchw ? "Nchw" : "Nhwc");
}

INSTANTIATE_TEST_SUITE_P(All, OracleTest,
                         testing::Combine(testing::ValuesIn(kTypes), testing::ValuesIn(kLayouts)), CaseName);

// The measured error, what it was measured at, its growth and its margin: each of them is a decision.
TEST(ErrorBoundTest, IsTheOneOfItsRow) {
  const auto bound = [](Arithmetic arithmetic, DataType type, std::int64_t channels, std::int64_t kernel) {
    return ErrorBound(arithmetic, type, Shape({1, channels, 9, 9}, {4, channels, kernel, kernel}));
  };
  for (const DataType type : kTypes) EXPECT_EQ(bound(Arithmetic::kExact, type, 512, 3), 0);
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kFft, type, 16, 1), 1.2e-4)
        << "below the reduction it was measured at";
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kFft, type, 256, 1), 1.2e-4);
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kFft, type, 1024, 1), 2.4e-4);
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kWinograd, type, 64, 3), 1.04e-3);
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kWinograd, type, 256, 3), 2.08e-3);
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kWinograd, type, 16, 5), 0.38);
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kWinograd, type, 64, 5), 1.52) << "linear";
  }
  EXPECT_DOUBLE_EQ(bound(Arithmetic::kFft, DataType::kFloat64, 256, 1), 8e-14);
  EXPECT_DOUBLE_EQ(bound(Arithmetic::kWinograd, DataType::kFloat64, 64, 3), 1.04e-3 * 0x1p-29);
}

TEST(ErrorBoundTest, CoversTheErrorsSeenOnHealthyCards) {
  // x 16xCx28x28, w 32xCx5x5: largest error by channels.
  for (const auto& [channels, seen] :
       {std::pair<std::int64_t, double>{16, 0.19}, {64, 0.83}, {192, 2.7}, {512, 5.5}})
    EXPECT_GT(ErrorBound(Arithmetic::kWinograd, DataType::kFloat32,
                         Shape({16, channels, 28, 28}, {32, channels, 5, 5}, {2})),
              seen);
}

TEST(ErrorBoundTest, DecidesOnlyBelowHalfOfOneProduct) {
  EXPECT_TRUE(IsDecisive(0));
  EXPECT_TRUE(IsDecisive(0.4999));
  EXPECT_FALSE(IsDecisive(0.5));
  const auto five = [](std::int64_t channels) {
    return ErrorBound(Arithmetic::kWinograd, DataType::kFloat32,
                      Shape({1, channels, 9, 9}, {4, channels, 5, 5}));
  };
  EXPECT_TRUE(IsDecisive(five(16)));
  EXPECT_FALSE(IsDecisive(five(192)));
}

}  // namespace
}  // namespace cudnn_ci
