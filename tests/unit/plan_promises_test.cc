// MakePlan: a promise of the contract that no required case judges is refused, and told where a selection
// leaves it out.
#include <gmock/gmock.h>

#include "planning.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// cudnn.version (per subject) judges cuDNN, driver.load the GPUs and the driver; nothing judges the toolkit.
Catalog Judging() {
  Catalog catalog = SmallCatalog();
  CheckInfo version = Check("cudnn.version", Layer::kCudnn, Devices::kNone);
  version.per_subject = true;
  version.judges = {"image.cudnn"};
  catalog.plugins[1].checks.push_back(version);
  catalog.plugins[2].checks[0].judges = {"runner.gpus", "runner.driver"};
  return catalog;
}

constexpr const char* kBoth = R"("image":{"toolkit":">=12","cudnn":">=9"},)";
constexpr const char* kCudnn = R"("image":{"cudnn":">=9"},)";

std::string ProblemsOf(const std::string& matrix, const Catalog& catalog = Judging()) {
  return PlanProblems(matrix, catalog, {});
}

TEST(Promises, ThatTheMatrixDoesNotMakeAreNotGated) {
  const Plan plan = PlanOf(R"("image":{"cudnn":">=9"},"checks":[{"check":"cudnn.version"}])", Judging());
  EXPECT_THAT(CodesOf(plan.not_gated), ElementsAre("version-not-promised"));
  EXPECT_EQ(plan.not_gated[0].args.at("key"), Value(std::string("image.toolkit")));
}

TEST(Promises, ThatNoCheckOfTheMatrixJudgesAreRefusedWhereTheyAreMade) {
  EXPECT_THAT(ProblemsOf(std::string(kCudnn) + R"("checks":[{"check":"host.disk"}])"),
              ContainsRegex("^m.json:2:18: error: \"image.cudnn\" .*\\{ \"check\": \"cudnn.version\" \\}"));
  EXPECT_THAT(ProblemsOf(R"("runner":{"gpus":">=1"},"checks":[{"check":"host.disk"}])"),
              ContainsRegex("\"runner.gpus\" .*\\{ \"check\": \"driver.load\" \\}"));
}

TEST(Promises, ThatNoPluginCanJudgeAreRefused) {
  EXPECT_THAT(ProblemsOf(std::string(kBoth) + R"("checks":[{"check":"cudnn.version"}])"),
              AllOf(HasSubstr("\"image.toolkit\""), Not(HasSubstr("{ \"check\""))));
}

// A subject that lacks what nobody promised of it, and another that is held to the same promise.
TEST(Promises, ThatASubjectIsNotHeldToMayBeSkippedThere) {
  Matrix matrix = MatrixOf(std::string(kCudnn) +
                           R"("subjects":{"a":"loader","b":"path:/b"},"checks":[{"check":"cudnn.version"}])");
  matrix.unpromised["b"] = {"image.cudnn"};
  const auto planned = MakePlan(matrix, Judging(), {});
  ASSERT_TRUE(std::holds_alternative<Plan>(planned));
  const Plan& plan = std::get<Plan>(planned);
  for (const Case& c : plan.cases) {
    const std::vector<SkipKind> absent = {SkipKind::kAbsent};
    EXPECT_EQ(c.planned.allow_skip, c.planned.subject == "b" ? absent : std::vector<SkipKind>());
  }
  EXPECT_THAT(SentencesOf(plan.not_gated), testing::Contains(HasSubstr("\"b\"")));
  matrix.unpromised["b"] = {"image.toolkit"};
  const auto held = MakePlan(matrix, Judging(), {});
  ASSERT_TRUE(std::holds_alternative<Plan>(held));
  for (const Case& c : std::get<Plan>(held).cases) EXPECT_TRUE(c.planned.allow_skip.empty());
}

TEST(Promises, AnOptionalCheckDoesNotJudge) {
  EXPECT_THAT(ProblemsOf(std::string(kCudnn) + R"("checks":[{"check":"host.disk"},
      {"check":"cudnn.version","required":false}])"),
              HasSubstr("\"image.cudnn\" is promised"));
}

TEST(Promises, ACheckThatMayBeSkippedDoesNotJudge) {
  EXPECT_THAT(ProblemsOf(std::string(kCudnn) + R"("checks":[{"check":"host.disk"},
      {"check":"cudnn.version","allow_skip":["absent"]}])"),
              HasSubstr("\"image.cudnn\" is promised"));
}

TEST(Promises, ACheckThatIsLeftOutBecauseItDisturbsDoesNotJudge) {
  Catalog catalog = Judging();
  catalog.plugins[1].checks.back().judges.clear();
  catalog.plugins[1].checks[1].judges = {"image.cudnn"};  // cudnn.fill
  const std::string matrix =
      std::string(kCudnn) + R"("checks":[{"check":"host.disk"},{"check":"cudnn.fill"}])";
  EXPECT_THAT(ProblemsOf(matrix, catalog), HasSubstr("\"image.cudnn\" is promised"));
  PlanOptions options;
  options.disturb = true;
  EXPECT_EQ(PlanProblems(matrix, catalog, options), "none");
}

TEST(Promises, APrerequisiteJudgesToo) {
  EXPECT_EQ(ProblemsOf(R"("runner":{"driver":">=500"},"checks":[{"check":"cudnn.init"}])"), "none");
}

constexpr const char* kTwoSubjects = R"("subjects":{"a":"loader","b":"path:/opt/b"},)";

TEST(Promises, OfTheImageHoldForEverySubject) {
  const std::string matrix = std::string(kTwoSubjects) + kCudnn;
  EXPECT_THAT(
      ProblemsOf(matrix + R"("checks":[{"check":"cudnn.version","subjects":["a"]}])"),
      testing::AllOf(HasSubstr("\"image.cudnn\""), HasSubstr("\"b\""), testing::Not(HasSubstr("\"a\""))));
  EXPECT_EQ(ProblemsOf(matrix + R"("checks":[{"check":"cudnn.version"}])"), "none");
}

TEST(Promises, OfTheImageMayBeJudgedByACheckWithoutASubject) {
  Catalog catalog = Judging();
  catalog.plugins[1].checks.back().per_subject = false;
  EXPECT_EQ(
      ProblemsOf(std::string(kTwoSubjects) + kCudnn + R"("checks":[{"check":"cudnn.version"}])", catalog),
      "none");
}

TEST(Promises, OfTheRunnerAreJudgedOnce) {
  Catalog catalog = Judging();
  catalog.plugins[1].checks.back().judges = {"runner.gpus"};
  EXPECT_EQ(ProblemsOf(std::string(kTwoSubjects) + R"("runner":{"gpus":">=1"},
      "checks":[{"check":"cudnn.version","subjects":["a"]}])",
                       catalog),
            "none");
}

TEST(Promises, WhoseCheckMayBeInABrokenPluginAreItsFault) {
  Catalog catalog = Judging();
  catalog.broken = {{"toolkit", "toolkit.cci.so", "reason"}};
  const Plan plan = PlanOf(std::string(kBoth) + R"("checks":[{"check":"cudnn.version"}])", catalog);
  EXPECT_EQ(CaseOf(plan, "plugin.load[file=toolkit]").planned.required, true);
  EXPECT_THAT(SentencesOf(plan.not_gated), ElementsAre(HasSubstr("image.toolkit >=12 is promised")));
}

TEST(Promises, ThatASelectionLeavesOutAreNotGated) {
  const std::string matrix = std::string(kCudnn) + R"("runner":{"gpus":">=1"},
      "checks":[{"check":"cudnn.version"},{"check":"host.disk"},{"check":"driver.load"}])";
  EXPECT_THAT(CodesOf(PlanOf(matrix, Judging()).not_gated), ElementsAre("version-not-promised"));
  PlanOptions options;
  options.filter = "cudnn.version*";
  EXPECT_THAT(CodesOf(PlanOf(matrix, Judging(), options).not_gated),
              ElementsAre("version-not-promised", "promise-not-judged"));
  options = {};
  options.static_stage = true;
  EXPECT_THAT(CodesOf(PlanOf(matrix, Judging(), options).not_gated),
              ElementsAre("version-not-promised", "promise-not-judged"));
  options = {};
  options.cases = {{"host.disk"}};
  EXPECT_EQ(PlanOf(matrix, Judging(), options).not_gated.size(), 3u);
}

// All shards together judge what the whole plan does.
TEST(Promises, OfAShardAreThoseOfTheWhole) {
  PlanOptions options;
  options.shard_count = 4;
  for (options.shard_index = 1; options.shard_index <= 4; ++options.shard_index)
    EXPECT_EQ(PlanOf(std::string(kCudnn) + R"("checks":[{"check":"cudnn.version"}])", Judging(), options)
                  .not_gated.size(),
              1u);
}

}  // namespace
}  // namespace cudnn_ci
