// How a plan combines the axes of an entry: all of them or pairs, of one check or of several.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "golden_messages.h"
#include "mentions.h"
#include "model/plan/plan.h"
#include "planning.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// A catalog in which two checks have three parameters without shapes.
Catalog PairsCatalog() {
  Catalog catalog;
  std::vector<CheckInfo> checks;
  for (const char* name : {"p.one", "p.two"}) {
    CheckInfo check = Check(name, Layer::kConvolution, Devices::kNone);
    check.params = {Param("a", ParamType::kI64, "0"), Param("b", ParamType::kI64, "0"),
                    Param("c", ParamType::kI64, "0")};
    checks.push_back(check);
  }
  catalog.plugins = {Plugin("p", checks)};
  return catalog;
}

std::variant<Plan, std::vector<Problem>> Planned(const std::string& text) {
  const Scratch scratch;
  const std::string path =
      scratch.Write("m.json", R"({"schema":"cudnn-ci/matrix/1","name":"m",)" + text + "}");
  const auto matrix = LoadMatrix(path);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&matrix)) return *problems;
  const Catalog catalog = PairsCatalog();
  return MakePlan(std::get<Matrix>(matrix), catalog, {});
}

// By check: the values of a, b and c of its cases.
std::multimap<std::string, std::vector<int64_t>> CasesOf(const std::string& text) {
  std::multimap<std::string, std::vector<int64_t>> cases;
  const auto planned = Planned(text);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&planned)) {
    ADD_FAILURE() << ToString(problems->front());
    return cases;
  }
  for (const Case& c : std::get<Plan>(planned).cases) {
    std::vector<int64_t> values;
    for (const char* name : {"a", "b", "c"}) values.push_back(std::get<int64_t>(c.planned.params.at(name)));
    cases.emplace(c.planned.check, values);
  }
  return cases;
}

constexpr const char* kAxes = R"("axes":{"a":[1,2,3,4],"b":[1,2],"c":[1,2]})";

TEST(PlanCover, TakesEveryCombinationWhereNothingIsSaid) {
  EXPECT_THAT(CasesOf(std::string(R"("checks":[{"check":"p.one",)") + kAxes + "}]"), SizeIs(16));
}

TEST(PlanCover, TakesPairsWhereTheEntrySaysSo) {
  EXPECT_THAT(CasesOf(std::string(R"("checks":[{"check":"p.one","cover":"pairs",)") + kAxes + "}]"),
              SizeIs(8));
}

TEST(PlanCover, OfTheMatrixCountsMoreThanThatOfAnEntry) {
  const std::string entry = std::string(R"({"check":"p.one","cover":"pairs",)") + kAxes + "}";
  EXPECT_THAT(CasesOf(R"("cover":"all","checks":[)" + entry + "]"), SizeIs(16));
  const std::string all = std::string(R"({"check":"p.one",)") + kAxes + "}";
  EXPECT_THAT(CasesOf(R"("cover":"pairs","checks":[)" + all + "]"), SizeIs(8));
}

TEST(PlanCover, MakesTheCasesOfEachCheckOfAList) {
  const auto cases = CasesOf(std::string(R"("checks":[{"check":["p.one","p.two"],)") + kAxes + "}]");
  EXPECT_EQ(cases.count("p.one"), 16u);
  EXPECT_EQ(cases.count("p.two"), 16u);
}

TEST(PlanCover, SharesThePairsOutAmongTheChecksOfAList) {
  const auto cases =
      CasesOf(std::string(R"("checks":[{"check":["p.one","p.two"],"cover":"pairs",)") + kAxes + "}]");
  EXPECT_THAT(cases, SizeIs(8));
  std::set<std::vector<int64_t>> pairs;
  for (const auto& [check, values] : cases)
    for (int64_t i = 0; i < 3; ++i) {
      pairs.insert({check == "p.one" ? 1 : 2, -1, values[static_cast<size_t>(i)], i});
      for (int64_t j = i + 1; j < 3; ++j)
        pairs.insert({values[static_cast<size_t>(i)], i, values[static_cast<size_t>(j)], j});
    }
  EXPECT_THAT(pairs, SizeIs(2 * (4 + 2 + 2) + 4 * 2 + 4 * 2 + 2 * 2));
}

TEST(PlanCover, LeavesOutForOneCheckOfAList) {
  const auto cases = CasesOf(R"("checks":[{"check":["p.one","p.two"],"axes":{"a":[1,2]},
    "exclude":[{"check":"p.two","a":2}]}])");
  using Case = std::pair<const std::string, std::vector<int64_t>>;
  EXPECT_THAT(cases, UnorderedElementsAre(Case("p.one", {1, 0, 0}), Case("p.one", {2, 0, 0}),
                                          Case("p.two", {1, 0, 0})));
}

TEST(PlanCover, MarksSlowCombinations) {
  const auto slow = [](const std::string& text) {
    const auto planned = Planned(text);
    std::vector<std::string> ids;
    for (const Case& c : std::get<Plan>(planned).cases)
      if (c.slow) ids.push_back(c.planned.ref.id);
    return ids;
  };
  EXPECT_THAT(slow(R"("checks":[{"check":["p.one","p.two"],"axes":{"a":[1,2],"b":[1,2]},
    "slow":[{"a":1,"b":2},{"check":"p.two","a":2}]}])"),
              UnorderedElementsAre("p.one[a=1,b=2,c=0]", "p.two[a=1,b=2,c=0]", "p.two[a=2,b=1,c=0]",
                                   "p.two[a=2,b=2,c=0]"));
  EXPECT_THAT(slow(R"("checks":[{"check":"p.one","axes":{"a":[1,2]},"slow":true}])"),
              UnorderedElementsAre("p.one[a=1,b=0,c=0]", "p.one[a=2,b=0,c=0]"));
  EXPECT_THAT(slow(R"("checks":[{"check":"p.one","axes":{"a":[1,2]},"slow":false}])"), IsEmpty());
}

TEST(PlanCover, SaysWhatIsWrong) {
  const std::pair<const char*, std::vector<const char*>> wrong[] = {
      {R"("cover":"triples","checks":[{"check":"p.one"}])",
       {R"("cover")", R"("triples")", R"("pairs", "all")"}},
      {R"("checks":[{"check":"p.one","cover":"al"}])", {R"("cover")", R"("al")", R"("all"?)"}},
      {R"("checks":[{"check":["p.one","p.one"]}])", {R"("p.one")"}},
      {R"("checks":[{"check":[]}])", {R"("check")", R"("driver.load")"}},
      {R"("checks":[{"check":["p.one","p.two"],"axes":{"a":[1]},"exclude":[{"check":"p.two"}]}])",
       {R"("exclude")", "p.two"}},
      {R"("checks":[{"check":["p.one","p.two"],"axes":{"a":[1]},"exclude":[{"check":"p.tow"}]}])",
       {R"("exclude")", R"("p.tow")", R"("check")", R"("p.two"?)"}},
  };
  GoldenMessages golden("cover.txt");
  for (const auto& [text, arguments] : wrong) {
    const auto planned = Planned(text);
    ASSERT_TRUE(std::holds_alternative<std::vector<Problem>>(planned)) << text;
    const std::string message = golden.Row(text, std::get<std::vector<Problem>>(planned).front().message);
    for (const char* argument : arguments) EXPECT_THAT(message, MentionsArgument(std::string(argument)));
  }
}

}  // namespace
}  // namespace cudnn_ci
