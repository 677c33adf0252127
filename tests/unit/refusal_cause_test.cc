// What the numbers of cuDNN's statuses say about a refusal: every one that a header has declared.
#include "common/refusal_cause.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace cudnn_ci {
namespace {

using Cause = RefusalCause;

TEST(RefusalCauseTest, IsKnownOfEveryStatusOfNine) {
  const std::map<Cause, std::vector<int>> said = {
      {Cause::kInstallation, {1001, 1002, 1005, 1008, 3005, 3006, 3008, 3009}},
      {Cause::kMemory, {2006, 4003, 4004}},
      {Cause::kTypeOrArchitecture, {3003, 3007, 3010}},
      {Cause::kLayout, {3004}},
      {Cause::kPadding, {3011}},
      {Cause::kShape, {3002, 3014}},
      {Cause::kOperation, {3001, 3013}},
      {Cause::kError, {1003, 1004, 1006, 1007, 2000, 2001, 2002, 2003, 2004, 2005, 2007, 2008, 2009,
                       2010, 2011, 2012, 4000, 4001, 4002, 4005, 4006, 5000, 5001, 5002, 5003, 5004}},
      {Cause::kNotSaid, {0, 3000, 3012}}};
  for (const auto& [cause, statuses] : said)
    for (const int status : statuses) EXPECT_EQ(CauseOf(9, status), cause) << status;
}

TEST(RefusalCauseTest, IsKnownOfEveryStatusOfEight) {
  const std::map<Cause, std::vector<int>> said = {{Cause::kInstallation, {1, 10, 11, 14}},
                                                  {Cause::kMemory, {2}},
                                                  {Cause::kTypeOrArchitecture, {6}},
                                                  {Cause::kError, {3, 4, 5, 7, 8, 12, 13}},
                                                  {Cause::kNotSaid, {0, 9}}};
  for (const auto& [cause, statuses] : said)
    for (const int status : statuses) EXPECT_EQ(CauseOf(8, status), cause) << status;
}

TEST(RefusalCauseTest, OfUnknownOnesNothingIsGuessed) {
  for (const int status : {3015, 3999}) EXPECT_EQ(CauseOf(9, status), Cause::kNotSaid) << status;
  for (const int status : {-1, 9, 999, 1009, 2999, 4007, 5005, 6000})
    EXPECT_EQ(CauseOf(9, status), Cause::kError) << status;
  EXPECT_EQ(CauseOf(8, 3007), Cause::kError) << "a number of the other major";
}

TEST(RefusalCauseTest, EveryOneHasItsWords) {
  std::set<std::string> words;
  for (int cause = 0; cause <= static_cast<int>(Cause::kNotSaid); ++cause)
    words.insert(TextOf(static_cast<Cause>(cause)));
  EXPECT_EQ(words.size(), 9u);
  EXPECT_EQ(words.count(""), 0u);
}

}  // namespace
}  // namespace cudnn_ci
