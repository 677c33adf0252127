// Random data for repetitions, and the comparison of two results bit by bit.
#include "common/numeric/repeat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "common/numeric/fill.h"

namespace cudnn_ci {
namespace {

constexpr DataType kTypes[] = {DataType::kFloat32,   DataType::kFloat16, DataType::kBfloat16,
                               DataType::kFloat64,   DataType::kInt8,    DataType::kFloat8E4m3,
                               DataType::kFloat8E5m2};
constexpr Extent kExtent = {3, 5, 7};

std::vector<unsigned char> Normal(DataType type, std::int64_t count, std::uint64_t seed) {
  std::vector<unsigned char> data(static_cast<std::size_t>(count) * SizeOf(type));
  FillNormal(type, count, seed, data.data());
  return data;
}

double At(DataType type, const std::vector<unsigned char>& data, std::int64_t i) {
  return Load(type, data.data() + static_cast<std::size_t>(i) * SizeOf(type));
}

TEST(DifferenceTest, OneFlippedBitIsFoundWithItsPlaceAndItsBits) {
  std::mt19937_64 random(5);
  for (const DataType type : kTypes) {
    const std::vector<unsigned char> before = Normal(type, kExtent.Count(), 1);
    EXPECT_EQ(DifferenceOf(before.data(), before.data(), kExtent, type, Layout::kNchw).elements, 0);
    EXPECT_EQ(DifferenceOf(before.data(), before.data(), kExtent, type, Layout::kNchw).first, -1);
    for (int i = 0; i < 200; ++i) {
      const std::int64_t n = static_cast<std::int64_t>(random() % 3),
                         c = static_cast<std::int64_t>(random() % 5),
                         p = static_cast<std::int64_t>(random() % 7);
      const std::size_t bit = random() % (8 * SizeOf(type));
      for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
        const std::int64_t place = layout == Layout::kNchw ? (n * 5 + c) * 7 + p : (n * 7 + p) * 5 + c;
        std::vector<unsigned char> after = before;
        after[static_cast<std::size_t>(place) * SizeOf(type) + bit / 8] ^=
            static_cast<unsigned char>(1 << bit % 8);
        const Difference d = DifferenceOf(before.data(), after.data(), kExtent, type, layout);
        ASSERT_EQ(d.elements, 1);
        ASSERT_EQ(d.first, (n * 5 + c) * 7 + p) << "in the order n, c, sizes";
        ASSERT_EQ(d.bits_before ^ d.bits_after, std::uint64_t{1} << bit);
      }
    }
  }
}

TEST(DifferenceTest, AllAreCountedAndTheFirstIsNamed) {
  const std::vector<unsigned char> before(static_cast<std::size_t>(kExtent.Count()) * 2, 0);
  std::vector<unsigned char> after = before;
  // Channels innermost: element 3 is channel 3 of the first pixel, element 7 channel 2 of the second.
  after[2 * 3] = 1;
  after[2 * 7] = 2;
  const Difference last =
      DifferenceOf(before.data(), after.data(), kExtent, DataType::kFloat16, Layout::kNhwc);
  EXPECT_EQ(last.elements, 2);
  EXPECT_EQ(last.first, 2 * 7 + 1);
  EXPECT_EQ(last.bits_after, 2u);
  EXPECT_EQ(DifferenceOf(before.data(), after.data(), kExtent, DataType::kFloat16, Layout::kNchw).first, 3);
}

// No number, or, where there is none, one that no result of the oracle's data comes near.
TEST(Fill, IsWhatNoResultIs) {
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16, DataType::kFloat64, DataType::kInt8,
        DataType::kInt32, DataType::kFloat8E4m3, DataType::kFloat8E5m2}) {
    const double far = type == DataType::kInt32 ? 0x1p31 - 1 : type == DataType::kInt8 ? 127 : 0;
    for (const std::uint32_t word : {UnwrittenWord(type), OtherUnwrittenWord(type)}) {
      const std::uint32_t words[2] = {word, word};
      const double value = Load(type, reinterpret_cast<const unsigned char*>(words));
      if (far > 0)
        EXPECT_LE(value, -far) << BitsText(DataType::kInt32, word);
      else
        EXPECT_TRUE(std::isnan(value)) << BitsText(DataType::kInt32, word);
    }
  }
}

// Left unwritten by the second run, or by both; not what both gave.
TEST(DifferenceTest, ElementsThatAreStillTheFillAreToldApart) {
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16, DataType::kFloat64, DataType::kInt8,
        DataType::kInt32, DataType::kFloat8E4m3, DataType::kFloat8E5m2}) {
    ASSERT_NE(UnwrittenWord(type), OtherUnwrittenWord(type));
    const std::size_t size = SizeOf(type);
    const std::uint32_t first[2] = {UnwrittenWord(type), UnwrittenWord(type)},
                        second[2] = {OtherUnwrittenWord(type), OtherUnwrittenWord(type)};
    std::vector<unsigned char> before(static_cast<std::size_t>(kExtent.Count()) * size, 0), after = before;
    after[0] = 1;  // differs, and was written
    std::memcpy(before.data() + 9 * size, second, size);
    std::memcpy(after.data() + 9 * size, second, size);  // a number like others where it is one
    std::memcpy(after.data() + 7 * size, second, size);
    std::memcpy(before.data() + 3 * size, first, size);
    std::memcpy(after.data() + 3 * size, second, size);
    const Difference d =
        DifferenceOf(before.data(), after.data(), kExtent, type, Layout::kNchw, OtherUnwrittenWord(type));
    EXPECT_EQ(d.elements, 3);
    EXPECT_EQ(d.unwritten, 2);
    EXPECT_EQ(d.first_unwritten, 3);
    EXPECT_EQ(d.first, 0);
    EXPECT_EQ(
        DifferenceOf(before.data(), after.data(), kExtent, type, Layout::kNhwc, OtherUnwrittenWord(type))
            .first_unwritten,
        2 * 7 + 1)
        << "channel 2 of the second pixel, before channel 3 of the first";
    EXPECT_EQ(DifferenceOf(before.data(), after.data(), kExtent, type, Layout::kNchw).unwritten, 0);
  }
}

TEST(DifferenceTest, BitsHaveTheTypesDigits) {
  EXPECT_EQ(BitsText(DataType::kFloat16, 0x3c01), "0x3c01");
  EXPECT_EQ(BitsText(DataType::kFloat32, 0x3f), "0x0000003f");
  EXPECT_EQ(BitsText(DataType::kInt8, 0xab), "0xab");
  EXPECT_EQ(BitsText(DataType::kFloat64, 1), "0x0000000000000001");
}

TEST(NormalTest, IsTheSameForOneSeedAndAnotherForAnother) {
  for (const DataType type : kTypes) {
    EXPECT_EQ(Normal(type, 50000, 3), Normal(type, 50000, 3));
    EXPECT_NE(Normal(type, 100, 3), Normal(type, 100, 4));
  }
}

TEST(NormalTest, HasItsMoments) {
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16, DataType::kFloat64}) {
    constexpr std::int64_t kCount = 30000;
    const std::vector<unsigned char> data = Normal(type, kCount, 0);
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < kCount; ++i) {
      const double v = At(type, data, i);
      ASSERT_TRUE(std::isfinite(v));
      sum += v;
      squares += v * v;
    }
    EXPECT_NEAR(sum / kCount, 0, 0.03);
    EXPECT_NEAR(squares / kCount, 1, 0.05);
  }
}

// What exact data cannot show.
TEST(NormalTest, SumsDependOnTheirOrder) {
  int different = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<unsigned char> data = Normal(DataType::kFloat32, 1000, 1000 * seed);
    float forward = 0, backward = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
      forward += static_cast<float>(At(DataType::kFloat32, data, i));
      backward += static_cast<float>(At(DataType::kFloat32, data, 999 - i));
    }
    different += forward != backward;
  }
  EXPECT_GT(different, 10);
}

}  // namespace
}  // namespace cudnn_ci
