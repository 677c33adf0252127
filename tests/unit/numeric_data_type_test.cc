// The small types against a second method: tables of all their values.
#include "common/numeric/data_type.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace cudnn_ci {
namespace {

constexpr int kLargestReference = 32767;

// All finite values of a format, by adding up the meaning of the bits. `reserved`: encodings at the end that
// are infinity or no numbers.
std::vector<double> AllValues(int exponent_bits, int fraction_bits, int reserved) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  std::vector<double> values;
  for (int bits = 0; bits < (1 << (exponent_bits + fraction_bits)) - reserved; ++bits) {
    const int exponent = bits >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
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

struct Type {
  const char* name;
  DataType type;
  int exponent_bits, fraction_bits, reserved;
  bool saturates;
  int Bits() const { return 1 + exponent_bits + fraction_bits; }
};

class RoundingTest : public testing::TestWithParam<Type> {
 protected:
  // The bits of a value that the type holds.
  std::uint16_t Encode(double v) const {
    unsigned char bytes[2] = {0, 0};
    Store(GetParam().type, v, bytes);
    return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
  }
  double Decode(int bits) const {
    const unsigned char bytes[2] = {static_cast<unsigned char>(bits), static_cast<unsigned char>(bits >> 8)};
    return Load(GetParam().type, bytes);
  }
  const int sign_ = 1 << (GetParam().Bits() - 1);
  const std::vector<double> values_ =
      AllValues(GetParam().exponent_bits, GetParam().fraction_bits, GetParam().reserved);
};

TEST_P(RoundingTest, EveryEncodingIsReadAndWrittenBack) {
  EXPECT_EQ(SizeOf(GetParam().type), static_cast<std::size_t>(GetParam().Bits() / 8));
  for (std::size_t bits = 0; bits < values_.size(); ++bits) {
    const int negative = static_cast<int>(bits) | sign_;
    ASSERT_EQ(Decode(static_cast<int>(bits)), values_[bits]);
    ASSERT_EQ(Decode(negative), -values_[bits]);
    ASSERT_EQ(Encode(values_[bits]), bits);
    ASSERT_EQ(Encode(-values_[bits]), negative);
  }
  // The first reserved encoding is infinity where there is one.
  const int first_nan = static_cast<int>(values_.size()) + (GetParam().reserved > 1 ? 1 : 0);
  if (GetParam().reserved > 1) {
    EXPECT_TRUE(std::isinf(Decode(first_nan - 1)));
  }
  for (int bits = first_nan; bits < sign_; ++bits) ASSERT_TRUE(std::isnan(Decode(bits))) << bits;
}

TEST_P(RoundingTest, RoundsToTheNearestWithTiesToEven) {
  const auto check = [this](double v) {
    ASSERT_EQ(Encode(RoundTo(GetParam().type, v)), Nearest(values_, v)) << v;
    ASSERT_EQ(RoundTo(GetParam().type, -v), -RoundTo(GetParam().type, v)) << v;
  };
  for (std::size_t i = 0; i + 1 < values_.size(); ++i) {
    const double middle = (values_[i] + values_[i + 1]) / 2;
    for (const double v : {middle, std::nextafter(middle, 0), std::nextafter(middle, HUGE_VAL)}) check(v);
  }
  // Every integer that a reference may hold.
  for (int v = 0; v <= kLargestReference && v <= values_.back(); ++v) check(v);
}

TEST_P(RoundingTest, OverflowIsInfiniteOrTheLargest) {
  const DataType type = GetParam().type;
  const double largest = values_.back(), step = largest - values_[values_.size() - 2];
  const double beyond = GetParam().saturates ? largest : HUGE_VAL;
  EXPECT_EQ(RoundTo(type, largest + step * 0.499), largest);
  EXPECT_EQ(RoundTo(type, largest + step * 0.5), beyond);
  EXPECT_EQ(RoundTo(type, -largest - step), -beyond);
  EXPECT_EQ(RoundTo(type, HUGE_VAL), beyond);
  EXPECT_TRUE(std::isnan(Decode(Encode(std::nan("")))));
}

INSTANTIATE_TEST_SUITE_P(Types, RoundingTest,
                         testing::Values(Type{"Float16", DataType::kFloat16, 5, 10, 1024, false},
                                         Type{"Bfloat16", DataType::kBfloat16, 8, 7, 128, false},
                                         Type{"Float8E4m3", DataType::kFloat8E4m3, 4, 3, 1, true},
                                         Type{"Float8E5m2", DataType::kFloat8E5m2, 5, 2, 4, true}),
                         [](const auto& p) { return p.param.name; });

TEST(Int8Test, RoundsTiesToEvenAndSaturates) {
  const auto rounded = [](double v) { return RoundTo(DataType::kInt8, v); };
  EXPECT_EQ(rounded(2.5), 2);
  EXPECT_EQ(rounded(3.5), 4);
  EXPECT_EQ(rounded(-2.5), -2);
  EXPECT_EQ(rounded(127.4), 127);
  EXPECT_EQ(rounded(128), 127);
  EXPECT_EQ(rounded(-129), -128);
  EXPECT_EQ(rounded(HUGE_VAL), 127);
  unsigned char byte = 0;
  for (int v = -128; v <= 127; ++v) {
    Store(DataType::kInt8, v, &byte);
    EXPECT_EQ(Load(DataType::kInt8, &byte), v);
    EXPECT_EQ(byte, static_cast<unsigned char>(v));
  }
}

TEST(Int32Test, RoundsTiesToEvenAndSaturates) {
  const auto rounded = [](double v) { return RoundTo(DataType::kInt32, v); };
  EXPECT_EQ(rounded(2.5), 2);
  EXPECT_EQ(rounded(-3.5), -4);
  EXPECT_EQ(rounded(16777217), 16777217) << "which float32 does not hold";
  EXPECT_EQ(rounded(0x1p31), 2147483647);
  EXPECT_EQ(rounded(-0x1p32), -2147483648.0);
  EXPECT_EQ(rounded(std::nan("")), 0);
  EXPECT_EQ(SizeOf(DataType::kInt32), 4u);
  unsigned char bytes[4] = {};
  for (const double v : {-2147483648.0, -129.0, 0.0, 128.0, 2147483647.0}) {
    Store(DataType::kInt32, v, bytes);
    EXPECT_EQ(Load(DataType::kInt32, bytes), v);
  }
  Store(DataType::kInt32, -2, bytes);
  EXPECT_EQ(bytes[0], 0xfe);
  EXPECT_EQ(bytes[3], 0xff);
}

TEST(DataTypeTest, NamesAreThoseOfTheMatrix) {
  EXPECT_EQ(DataTypeFrom("float32"), DataType::kFloat32);
  EXPECT_EQ(DataTypeFrom("float64"), DataType::kFloat64);
  EXPECT_EQ(DataTypeFrom("int32"), DataType::kInt32);
  EXPECT_EQ(DataTypeFrom("float8_e4m3"), DataType::kFloat8E4m3);
  EXPECT_EQ(DataTypeFrom("float8_e5m2"), DataType::kFloat8E5m2);
  EXPECT_THROW(DataTypeFrom("float8"), std::invalid_argument);
  EXPECT_THROW(LayoutFrom("chwn"), std::invalid_argument);
}

}  // namespace
}  // namespace cudnn_ci
