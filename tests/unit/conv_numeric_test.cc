// The 16-bit floating-point types against a second method: tables of all their values.
#include "conv/numeric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "conv/reference.h"

namespace cudnn_ci {
namespace {

// All finite values of a 16-bit format, by adding up the meaning of the bits.
std::vector<double> AllValues(int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  std::vector<double> values;
  for (int bits = 0; bits < 1 << (exponent_bits + fraction_bits); ++bits) {
    const int exponent = bits >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    if (exponent == (1 << exponent_bits) - 1) break;
    const double unit = std::pow(2.0, std::max(exponent, 1) - bias - fraction_bits);
    values.push_back(unit * (exponent == 0 ? fraction : fraction + (1 << fraction_bits)));
  }
  return values;
}

// The nearest of `values` (ascending, index = encoding), the even encoding on a tie.
std::uint16_t Nearest(const std::vector<double>& values, double v) {
  const auto above =
      static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), v) - values.begin());
  if (above == 0 || values[above] == v) return static_cast<std::uint16_t>(above);
  const double up = values[above] - v, down = v - values[above - 1];
  if (up == down) return static_cast<std::uint16_t>(above % 2 == 0 ? above : above - 1);
  return static_cast<std::uint16_t>(up < down ? above : above - 1);
}

class RoundingTest : public testing::TestWithParam<DataType> {
 protected:
  bool half() const { return GetParam() == DataType::kFloat16; }
  std::uint16_t Encode(double v) const { return half() ? EncodeFloat16(v) : EncodeBfloat16(v); }
  float Decode(int bits) const {
    return half() ? DecodeFloat16(static_cast<std::uint16_t>(bits))
                  : DecodeBfloat16(static_cast<std::uint16_t>(bits));
  }
  std::vector<double> values_ = half() ? AllValues(5, 10) : AllValues(8, 7);
};

TEST_P(RoundingTest, EveryEncodingIsReadAndWrittenBack) {
  for (std::size_t bits = 0; bits < values_.size(); ++bits) {
    const int negative = static_cast<int>(bits) | 0x8000;
    ASSERT_EQ(static_cast<double>(Decode(static_cast<int>(bits))), values_[bits]);
    ASSERT_EQ(static_cast<double>(Decode(negative)), -values_[bits]);
    ASSERT_EQ(Encode(values_[bits]), bits);
    ASSERT_EQ(Encode(-values_[bits]), negative);
  }
  for (int bits = static_cast<int>(values_.size()) + 1; bits < 0x8000; ++bits)
    ASSERT_TRUE(std::isnan(Decode(bits))) << bits;
}

TEST_P(RoundingTest, RoundsToTheNearestWithTiesToEven) {
  const auto check = [this](double v) {
    ASSERT_EQ(Encode(RoundTo(GetParam(), v)), Nearest(values_, v)) << v;
    ASSERT_EQ(RoundTo(GetParam(), -v), -RoundTo(GetParam(), v)) << v;
  };
  for (std::size_t i = 0; i + 1 < values_.size(); ++i) {
    const double middle = (values_[i] + values_[i + 1]) / 2;
    for (const double v : {middle, std::nextafter(middle, 0), std::nextafter(middle, HUGE_VAL)}) check(v);
  }
  // Every integer that a reference may hold.
  for (int v = 0; v <= kMaxOutput; ++v) check(v);
}

TEST_P(RoundingTest, OverflowIsInfinite) {
  const double largest = values_.back(), step = largest - values_[values_.size() - 2];
  EXPECT_EQ(RoundTo(GetParam(), largest + step * 0.499), largest);
  EXPECT_EQ(RoundTo(GetParam(), largest + step * 0.5), HUGE_VAL);
  EXPECT_EQ(RoundTo(GetParam(), -largest - step), -HUGE_VAL);
  EXPECT_TRUE(std::isinf(Decode(Encode(HUGE_VAL))));
  EXPECT_TRUE(std::isnan(Decode(Encode(std::nan("")))));
}

INSTANTIATE_TEST_SUITE_P(Types, RoundingTest, testing::Values(DataType::kFloat16, DataType::kBfloat16),
                         [](const auto& p) {
                           return p.param == DataType::kFloat16 ? "Float16" : "Bfloat16";
                         });

}  // namespace
}  // namespace cudnn_ci
