// The judge of elements that each have a value and a bound of their own.
#include "compute/judge_elements.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "common/numeric/fill.h"
#include "compute/describe_result.h"

namespace cudnn_ci {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<unsigned char> Stored(DataType type, const std::vector<double>& values) {
  std::vector<unsigned char> bytes(values.size() * SizeOf(type));
  for (std::size_t i = 0; i < values.size(); ++i) Store(type, values[i], bytes.data() + i * SizeOf(type));
  return bytes;
}

ElementJudgement JudgeAll(DataType type, const std::vector<ElementRule>& rules,
                          const std::vector<unsigned char>& got) {
  return JudgeElements(
      type, static_cast<std::int64_t>(rules.size()),
      [&](std::int64_t i) { return rules[static_cast<std::size_t>(i)]; }, got.data());
}

bool Takes(const ElementRule& rule, double got, DataType type = DataType::kFloat32) {
  return JudgeAll(type, {rule}, Stored(type, {got})).AllMatch();
}

TEST(JudgeElements, ABoundIsTheErrorBeforeTheLastRounding) {
  EXPECT_TRUE(Takes({1, 0.25}, 1.25));
  EXPECT_TRUE(Takes({1, 0.25}, 0.75));
  EXPECT_FALSE(Takes({1, 0.25}, std::nextafterf(1.25F, 2)));
  EXPECT_FALSE(Takes({1, 0.25}, std::nextafterf(0.75F, 0)));
  // 2049 is no float16: halves go to the even one.
  EXPECT_TRUE(Takes({2049, 0}, 2048, DataType::kFloat16));
  EXPECT_FALSE(Takes({2049, 0}, 2050, DataType::kFloat16));
  EXPECT_TRUE(Takes({2049, 0.5}, 2050, DataType::kFloat16));
}

TEST(JudgeElements, WithoutABoundTheBitsDecideButForTheSignOfZero) {
  EXPECT_TRUE(Takes({3, 0}, 3));
  EXPECT_FALSE(Takes({3, 0}, std::nextafterf(3, 4)));
  EXPECT_FALSE(Takes({3, 0}, std::nextafterf(3, 2)));
  EXPECT_TRUE(Takes({0, 0}, -0.0));
}

TEST(JudgeElements, NanAndInfinityAreRightWhereTheyAreExpectedAlone) {
  EXPECT_TRUE(Takes({kNan, 1}, kNan));
  EXPECT_FALSE(Takes({kNan, 1}, 0));
  EXPECT_FALSE(Takes({0, 1}, kNan));
  EXPECT_FALSE(Takes({0, kAnyNumber}, kNan));
  EXPECT_TRUE(Takes({0, kAnyNumber}, -kInfinity));
  EXPECT_TRUE(Takes({kInfinity, 1}, kInfinity));
  EXPECT_FALSE(Takes({kInfinity, 1}, -kInfinity));
  EXPECT_FALSE(Takes({kInfinity, 1}, std::numeric_limits<float>::max()));
  EXPECT_FALSE(Takes({0, 1}, kInfinity));
}

TEST(JudgeElements, TheWorstIsToldWithItsBound) {
  const std::vector<ElementRule> rules = {{1, 0.5}, {2, 1}, {3, 0.125}, {4, 2}};
  const ElementJudgement j = JudgeAll(DataType::kFloat32, rules, Stored(DataType::kFloat32, {1, 4, 3.5, 9}));
  EXPECT_EQ(j.elements, 4);
  EXPECT_EQ(j.wrong, 3);
  EXPECT_EQ(j.first_wrong, 1);
  EXPECT_EQ(j.first_expected, 2);
  EXPECT_EQ(j.first_got, 4);
  EXPECT_EQ(j.worst_error, 5);
  EXPECT_EQ(j.worst, 2) << "four times its bound";
  EXPECT_EQ(j.WorstText("(2)"), "worst at (2): got 3.5, expected 3, allowed 0.125");
}

TEST(JudgeElements, NanIsTheWorst) {
  const ElementJudgement j =
      JudgeAll(DataType::kFloat32, {{1, 0.5}, {2, 1}}, Stored(DataType::kFloat32, {99, kNan}));
  EXPECT_EQ(j.worst, 1);
  EXPECT_EQ(j.first_wrong, 0);
}

TEST(JudgeElements, WhatWasNotWrittenIsToldFromWhatIsWrongAndPaddingMustStay) {
  for (const DataType type : {DataType::kFloat64, DataType::kFloat16, DataType::kInt32}) {
    std::vector<unsigned char> got = Stored(type, {1, 2, 3, 4});
    const std::uint32_t fill[2] = {UnwrittenWord(type), UnwrittenWord(type)};
    std::memcpy(got.data() + SizeOf(type), fill, SizeOf(type));
    std::memcpy(got.data() + 2 * SizeOf(type), fill, SizeOf(type));
    const ElementJudgement j = JudgeAll(type, {{1}, {2}, {0, 0, true}, {0, 0, true}}, got);
    EXPECT_EQ(j.unwritten, 1);
    EXPECT_EQ(j.first_unwritten, 1);
    EXPECT_EQ(j.wrong, 1) << "the padding that was written";
    EXPECT_EQ(j.first_wrong, 3);
    EXPECT_EQ(j.worst, 3);
  }
}

TEST(JudgeElements, WhatIsIgnoredMayHoldAnything) {
  ElementRule ignored = {1, 0};
  ignored.ignored = true;
  const std::vector<ElementRule> rules = {ignored, ignored, {1, 0}, ignored};
  std::vector<unsigned char> got = Stored(DataType::kFloat32, {kNan, 7, 1, 7});
  const std::uint32_t fill = UnwrittenWord(DataType::kFloat32);
  std::memcpy(got.data() + 12, &fill, sizeof fill);
  const ElementJudgement judged = JudgeAll(DataType::kFloat32, rules, got);
  EXPECT_TRUE(judged.AllMatch());
  EXPECT_EQ(judged.elements, 4);
  EXPECT_EQ(judged.worst_error, 0);
}

TEST(JudgeElements, TheFirstWrongOneIsToldWithItsBound) {
  const std::vector<ElementRule> rules = {{1, 0.25}, {2, 0.5}, {3, 0.125}};
  const ElementJudgement judged = JudgeAll(DataType::kFloat32, rules, Stored(DataType::kFloat32, {1, 3, 4}));
  EXPECT_EQ(judged.first_wrong, 1);
  EXPECT_EQ(judged.first_allowed, 0.5);
  EXPECT_THAT(DescribeWrong(judged, "here", 0), testing::HasSubstr("rounding 0.5"));
  EXPECT_THAT(
      DescribeWrong(JudgeAll(DataType::kFloat32, {{1, 0}}, Stored(DataType::kFloat32, {2})), "here", 0),
      testing::Not(testing::HasSubstr("rounding")));
}

TEST(JudgeElements, ManyThreadsSayTheSame) {
  const std::int64_t count = 1 << 18;
  std::vector<double> values(count, 5);
  for (const std::size_t i : {std::size_t{7}, std::size_t{100000}, std::size_t{200000}}) values[i] = 6;
  values[150000] = 8;
  const ElementJudgement j = JudgeElements(
      DataType::kFloat32, count,
      [](std::int64_t) {
        return ElementRule{5, 0.5};
      },
      Stored(DataType::kFloat32, values).data());
  EXPECT_EQ(j.elements, count);
  EXPECT_EQ(j.wrong, 4);
  EXPECT_EQ(j.first_wrong, 7);
  EXPECT_EQ(j.worst, 150000);
  EXPECT_EQ(j.worst_error, 3);
}

}  // namespace
}  // namespace cudnn_ci
