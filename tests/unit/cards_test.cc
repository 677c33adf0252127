// Lists of cards in a matrix, as a range that one of them satisfies; and the facts about cards in the table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden_messages.h"
#include "matrix_files.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;

bool In(const std::string& version, const std::string& range) {
  std::string error;
  return Contains(*ParseRange(range, &error), *ParseVersion(version));
}

TEST(Series, OneOfThemHolds) {
  EXPECT_TRUE(In("8.0", "8.0 or 8.9"));
  EXPECT_TRUE(In("8.9", "8.0 or 8.9"));
  EXPECT_TRUE(In("8.9.1", "8.0 or 8.9"));
  EXPECT_FALSE(In("8.6", "8.0 or 8.9"));
  EXPECT_FALSE(In("8.10", "8.0 or 8.9"));
  EXPECT_EQ(InBounds("8.0 or 8.9"), "8.0 or 8.9");
  std::string error;
  EXPECT_TRUE(IsSatisfiable(*ParseRange("8.0 or 8.9", &error)));
  GoldenMessages golden("cards.txt");
  for (const char* text : {"or", "8.0 or", "or 8.0", "8.0 or or 8.9", "8.0 8.9 or 9.0", ">=8.0 or 9.0"}) {
    EXPECT_FALSE(ParseRange(text, &error)) << text;
    EXPECT_THAT(golden.Row(text, error), HasSubstr("\"or\""));
  }
}

std::string Runner(const std::string& value) { return "\"runner\":{\"compute_capability\":" + value + "}"; }
std::string Promised(const std::string& value) {
  const Scratch scratch;
  const Matrix matrix = Load(
      scratch.Write("m.json", "{\"schema\":\"cudnn-ci/matrix/1\",\"name\":\"m\"," + Runner(value) + "}"));
  return matrix.contract.at("runner.compute_capability");
}

TEST(Cards, AListIsWhatTheFleetHas) {
  EXPECT_EQ(Promised(R"(["8.0", "8.9", "10.0"])"), "8.0 or 8.9 or 10.0");
  EXPECT_EQ(Promised(R"(["9.0"])"), "9.0");
  EXPECT_EQ(Promised(R"("9.0")"), ">=9.0 <9.1");
}

TEST(Cards, WhatIsNoListOfCardsIsRefused) {
  GoldenMessages golden("cards.txt");
  for (const char* list : {"[]", R"(["8"])", R"(["8.0", "8.0"])", R"([8.0])", R"([">=8.0"])", R"(["8.0.0"])"})
    EXPECT_THAT(golden.Row(list, ProblemsOf(Runner(list))), HasSubstr("\"runner.compute_capability\""))
        << list;
  EXPECT_THAT(golden.Row("8.0 or 9.0", ProblemsOf(Runner(R"("8.0 or 9.0")"))), HasSubstr("\"or\""));
  EXPECT_THAT(golden.Row("drivers", ProblemsOf(R"("runner":{"driver":["580.1"]})")),
              HasSubstr("\"runner.driver\""));
}

}  // namespace
}  // namespace cudnn_ci
