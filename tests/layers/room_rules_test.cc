#include "room_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "include_rules.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Rooms, KnowOnlyRoomsAboveThemselves) {
  std::set<std::string_view> above = {"report/assets"};
  for (const Room& room : Rooms()) {
    for (const std::string_view known : room.may_include)
      EXPECT_EQ(above.count(known), 1u) << room.name << " -> " << known;
    above.insert(room.name);
  }
}

TEST(RoomProblem, AllowsTheDirectionOfTheTable) {
  EXPECT_EQ(RoomProblem("harness/model/plan/plan.cc", "model/plan/plan_steps.h"), "");
  EXPECT_EQ(RoomProblem("harness/model/plan/plan.cc", "model/matrix/matrix.h"), "");
  EXPECT_EQ(RoomProblem("harness/model/plan/plan.cc", "base/text.h"), "");
  EXPECT_EQ(RoomProblem("harness/cli/gate.cc", "model/plan/plan.h"), "");
  EXPECT_EQ(RoomProblem("plugins/conv/forward.cc", "common/cudnn_api.h"), "");
}

TEST(RoomProblem, RejectsTheOtherDirection) {
  EXPECT_EQ(RoomProblem("harness/model/matrix/matrix.cc", "model/plan/plan.h"),
            "model/matrix must not know model/plan");
  EXPECT_EQ(RoomProblem("harness/exec/workers/pool.cc", "exec/schedule/runner.h"),
            "exec/workers must not know exec/schedule");
  EXPECT_EQ(RoomProblem("harness/report/text/run_text.cc", "report/formats/json.h"),
            "report/text must not know report/formats");
}

TEST(RoomProblem, WantsAFileInARoom) {
  EXPECT_THAT(RoomProblem("harness/model/plan.cc", "base/text.h"), HasSubstr("rooms"));
  EXPECT_THAT(RoomProblem("harness/model/novel/x.cc", "base/text.h"), HasSubstr("rooms"));
}

TEST(BrokenRules, HoldsTheWallsOfTheRooms) {
  EXPECT_THAT(BrokenRules("harness/model/matrix/matrix.cc", "#include \"model/plan/plan.h\"\n"),
              ElementsAre(AllOf(HasSubstr("model/matrix "), HasSubstr(" model/plan"))));
  EXPECT_THAT(BrokenRules("harness/report/formats/run_summary.cc", "#include \"review/compare.h\"\n"),
              ElementsAre(AllOf(HasSubstr("report "), HasSubstr(" review"))));
  EXPECT_THAT(BrokenRules("harness/review/rebuild.cc", "#include \"report/formats/html.h\"\n"), IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
