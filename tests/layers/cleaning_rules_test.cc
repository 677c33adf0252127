// The rule itself: what cleans a text, and where.
#include "cleaning_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CleaningRules, FindWhoCleansBehindTheEntrance) {
  constexpr char kPath[] = "harness/report/formats/x.cc";
  for (const char* code : {"out += CleanLine(text, 40);", "f(CleanText(a + b))", "CleanInPlace(&text);"})
    EXPECT_EQ(MisplacedCleanings(kPath, code).size(), 1u) << code;
  EXPECT_THAT(MisplacedCleanings(kPath, "a;\n\nCleanText(x);"), ElementsAre(HasSubstr("x.cc:3: cleans")));
  for (const char* code : {"SingleLine(text)", "// CleanLine(text)", "f(\"CleanText(x)\")"})
    EXPECT_THAT(MisplacedCleanings(kPath, code), IsEmpty()) << code;
}

TEST(CleaningRules, KnowWhoMay) {
  for (const CleaningPlace& place : CleaningPlaces())
    EXPECT_THAT(MisplacedCleanings(place.path, "CleanText(x);"), IsEmpty()) << place.path;
  EXPECT_THAT(MisplacedCleanings("harness/cli/x.cc", "CleanText(x);"), IsEmpty());
  EXPECT_THAT(MisplacedCleanings("harness/exec/x.cc", "CleanText(x);"), testing::SizeIs(1));
}

}  // namespace
}  // namespace cudnn_ci
