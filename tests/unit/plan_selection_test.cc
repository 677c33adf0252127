// MakePlan: filters, literal ids, shards, the static stage, waivers, fingerprints, and plans of many cases.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "golden_messages.h"
#include "model/record/notice_list.h"
#include "planning.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Strings = std::vector<std::string>;

constexpr const char* kMatrix = R"("shapes":{"s":{"x":1}},"checks":[{"check":"host.disk"},
  {"check":"conv.forward","params":{"shape":"s"},"axes":{"dtype":["float32","float16"],"count":[1,2,3,4,5,6,7,8]}}])";

PlanOptions Filter(const std::string& filter) {
  PlanOptions options;
  options.filter = filter;
  return options;
}

TEST(Selection, AFilterPullsPrerequisitesIn) {
  const Plan plan = PlanOf(kMatrix, SmallCatalog(), Filter("*count=3*-*float16*"));
  EXPECT_THAT(Ids(plan), ElementsAre("driver.load", "cudnn.init[subject=system]",
                                     "conv.forward[count=3,dtype=float32,shape=s,subject=system]"));
  EXPECT_EQ(PartialText(plan.partial), "filtered");
  EXPECT_THAT(plan.cases[2].prerequisites, ElementsAre(1u));
  EXPECT_TRUE(plan.cases[1].planned.prerequisite);
  EXPECT_FALSE(plan.cases[2].planned.prerequisite);
}

TEST(Selection, AFilterMayNameTheDevice) {
  PlanOptions options = TwoDevices();
  options.filter = "cudnn.init*@gpu1";
  EXPECT_THAT(Ids(PlanOf(R"("checks":[{"check":"cudnn.init"}])", SmallCatalog(), options)),
              ElementsAre("driver.load", "cudnn.init[subject=system]@gpu1"));
}

TEST(Selection, AFilterThatMatchesNothingLeavesAnEmptyPlan) {
  EXPECT_TRUE(PlanOf(kMatrix, SmallCatalog(), Filter("nothing")).cases.empty());
}

TEST(Selection, LiteralIdsWithAndWithoutDevice) {
  PlanOptions options = TwoDevices();
  options.cases = {{"cudnn.init[subject=system]", "gpu1"}};
  const std::string matrix = R"("checks":[{"check":"cudnn.init"},{"check":"host.disk"}])";
  EXPECT_THAT(Ids(PlanOf(matrix, SmallCatalog(), options)),
              ElementsAre("driver.load", "cudnn.init[subject=system]@gpu1"));
  options.cases = {{"cudnn.init[subject=system]"}, {"host.disk"}};
  EXPECT_EQ(PlanOf(matrix, SmallCatalog(), options).cases.size(), 4u);
}

// What failed on one GPU is asked of that one again.
TEST(Selection, ACaseWithItsDeviceIsOfThatDeviceAlone) {
  PlanOptions options = TwoDevices();
  options.cases = {{"cudnn.init[subject=system]", "gpu0"}};
  EXPECT_THAT(Ids(PlanOf(R"("checks":[{"check":"cudnn.init"}])", SmallCatalog(), options)),
              ElementsAre("driver.load", "cudnn.init[subject=system]"));
}

TEST(CaseRefTest, ATextNamesTheCaseThatItIsTheTextOf) {
  for (const CaseRef& ref : {CaseRef{"a.b[i=1]", "gpu1"}, CaseRef{"a.b", "t4.gpu2"}, CaseRef{"a.b", ""}})
    EXPECT_EQ(ParseDisplayId(DisplayId(ref)), ref);
  EXPECT_EQ(ParseDisplayId(DisplayId({"a.b", "gpu0"})), CaseRef{"a.b"});
  EXPECT_EQ(ParseDisplayId("a.b@gpu0"), (CaseRef{"a.b", "gpu0"}));
  EXPECT_EQ(ParseDisplayId("a.b[f=x@y]"), CaseRef{"a.b[f=x@y]"});
  EXPECT_EQ(ParseDisplayId("a.b@"), CaseRef{"a.b@"});
  EXPECT_EQ(ParseDisplayId(""), CaseRef{});
}

TEST(CaseRefTest, ANameWithoutADeviceMeansTheFirstOneToo) {
  EXPECT_TRUE(Means({"a"}, {"a", "gpu0"}) && Means({"a"}, {"a"}) && Means({"a", "gpu0"}, {"a", "gpu0"}));
  EXPECT_FALSE(Means({"a"}, {"a", "gpu1"}) || Means({"a", "gpu0"}, {"a"}) || Means({"a"}, {"b"}));
}

TEST(Selection, AnUnknownIdIsAProblem) {
  PlanOptions options;
  options.cases = {{"conv.forward[count=3,dtype=float31,shape=s,subject=system]"}};
  EXPECT_THAT(
      GoldenMessages("plan_cases.txt").Row("float31", PlanProblems(kMatrix, SmallCatalog(), options)),
      AllOf(StartsWith("m.json: error: --case conv.forward[count=3,dtype=float31,shape=s,subject=system]: "),
            HasSubstr("\"conv.forward[count=3,dtype=float32,shape=s,subject=system]\"")));
}

// What failed is no better where the plan has it no more, or on a GPU that is not asked.
TEST(Selection, OfARecordWhatIsGoneIsNotForgiven) {
  const std::string matrix = R"("checks":[{"check":"cudnn.init"},{"check":"host.disk"}])";
  PlanOptions options = TwoDevices();
  options.cases_of_record = true;
  options.cases = {{"host.disk"}, {"cudnn.fill[i=0]"}, {"cudnn.fill[i=0]", "gpu1"}};
  GoldenMessages golden("plan_cases.txt");
  const std::string problems = golden.Row("two that are gone", PlanProblems(matrix, SmallCatalog(), options));
  for (const char* gone : {"cudnn.fill[i=0]", "cudnn.fill[i=0]@gpu1"})
    EXPECT_THAT(problems, HasSubstr(std::string("m.json: error: --rerun-failed: ") + gone + " "));
  const auto refused = [](const std::string& id, const std::string& device) {
    return AllOf(StartsWith("m.json: error: --rerun-failed: " + id + " "), HasSubstr(" " + device + ";"),
                 HasSubstr("--device all"), Not(HasSubstr("\n")));
  };
  options.devices.resize(1);
  for (const char* id : {"cudnn.init[subject=system]@gpu1", "cudnn.fill[i=0]@gpu1"}) {
    options.cases = {{"host.disk"}, ParseDisplayId(id)};
    EXPECT_THAT(golden.Row(id, PlanProblems(matrix, SmallCatalog(), options)), refused(id, "gpu1"));
  }
  // The GPU is there, and not asked about this.
  options.cases = {{"cudnn.init[subject=system]"}, {"host.disk", "gpu0"}};
  EXPECT_THAT(golden.Row("host.disk@gpu0", PlanProblems(matrix, SmallCatalog(), options)),
              refused("host.disk@gpu0", "gpu0"));
}

TEST(Selection, TheStaticStageJudgesWhatNeedsNoGpu) {
  Catalog catalog = SmallCatalog();
  catalog.plugins.back().checks[0].prerequisites = {"driver.load"};  // host.disk
  catalog.broken = {{"torch", "torch.cci.so", "reason"}};
  PlanOptions options;
  options.static_stage = true;
  const Plan plan = PlanOf(kMatrix, catalog, options);
  EXPECT_THAT(Ids(plan), ElementsAre("plugin.load[file=torch]", "host.disk"));
  EXPECT_TRUE(plan.cases[1].prerequisites.empty());
  EXPECT_EQ(PartialText(plan.partial), "static stage");
}

TEST(Shards, CoverThePlanWithoutOverlapAndCarryTheirPrerequisites) {
  const Plan whole = PlanOf(kMatrix);
  EXPECT_EQ(whole.partial, Notices());
  std::multiset<std::string> dealt;
  for (int shard = 1; shard <= 3; ++shard) {
    PlanOptions options;
    options.shard_index = shard;
    options.shard_count = 3;
    const Plan plan = PlanOf(kMatrix, SmallCatalog(), options);
    EXPECT_EQ(PartialText(plan.partial), "shard " + std::to_string(shard) + "/3");
    EXPECT_EQ(plan.sha256, whole.sha256);
    EXPECT_LT(plan.cases.size(), whole.cases.size());
    for (size_t i = 0; i < plan.cases.size(); ++i) {
      const Case& c = plan.cases[i];
      if (Fnv1a(c.planned.ref.id) % 3 == static_cast<uint64_t>(shard - 1)) {
        dealt.insert(c.planned.ref.id);
      } else {
        EXPECT_TRUE(c.planned.prerequisite) << c.planned.ref.id;
      }
      EXPECT_EQ(c.prerequisites.size(), CaseOf(whole, c.planned.ref.id).prerequisites.size());
      for (const size_t p : c.prerequisites) EXPECT_LT(p, i);
    }
  }
  const Strings all = Ids(whole);
  EXPECT_EQ(dealt, std::multiset<std::string>(all.begin(), all.end()));
}

TEST(Fingerprint, ChangesWithIdsDevicesAndParameters) {
  const std::string base =
      R"("shapes":{"s":{"x":1}},"checks":[{"check":"conv.forward","params":{"shape":"s"}}])";
  const std::string other =
      R"("shapes":{"s":{"x":2}},"checks":[{"check":"conv.forward","params":{"shape":"s"}}])";
  const std::string fingerprint = PlanOf(base).sha256;
  EXPECT_EQ(fingerprint.size(), 64u);
  EXPECT_EQ(PlanOf(base).sha256, fingerprint);
  EXPECT_NE(PlanOf(other).sha256, fingerprint) << "a shape's field is in no id";
  EXPECT_NE(PlanOf(base, SmallCatalog(), TwoDevices()).sha256, fingerprint);
}

TEST(Waivers, ThatMatchNothingAreWarnedOf) {
  const std::string rest = R"("slug":"crashed","reason":"r","owner":"o","expires":"2027-03-31"})";
  const Plan plan = PlanOf(
      R"("checks":[{"check":"host.disk"}],"waivers":[{"case":"host.*",)" + rest + R"(,
    {"case":"conv.*",)" +
      rest + R"(,{"case":"*","slug":"harness.timed-uot","reason":"r","owner":"o","expires":"2027-03-31"}])");
  ASSERT_EQ(plan.warnings.size(), 2u);
  EXPECT_EQ(plan.warnings[0].code, NoticeCode::kWaiverWithoutCase);
  EXPECT_THAT(SentenceOf(plan.warnings[0]), AllOf(HasSubstr("m.json:3:5: "), HasSubstr("\"conv.*\"")));
  EXPECT_EQ(plan.warnings[1].code, NoticeCode::kWaiverWithoutFinding);
  EXPECT_THAT(SentenceOf(plan.warnings[1]), testing::ContainsRegex("\"timed-uot\".*\"timed-out\""));
}

TEST(Waivers, WithABlameThatTheFindingNeverHasAreWarnedOf) {
  Catalog catalog = SmallCatalog();
  FindingInfo info;
  info.slug = "disk-full";
  info.blame = Blame::kRunner;
  catalog.plugins[0].findings.push_back(info);
  for (const char* slug : {"disk-full", "runner.disk-full", "image.crashed", "image.disk-full"}) {
    const Plan plan = PlanOf(R"("checks":[{"check":"host.disk"}],"waivers":[{"case":"*","slug":")" +
                                 std::string(slug) + R"(","reason":"r","owner":"o","expires":"2027-03-31"}])",
                             catalog);
    ASSERT_EQ(plan.warnings.size(), slug == std::string("image.disk-full") ? 1u : 0u) << slug;
    if (plan.warnings.empty()) continue;
    EXPECT_EQ(plan.warnings[0].code, NoticeCode::kWaiverBlame);
    EXPECT_THAT(SentenceOf(plan.warnings[0]),
                AllOf(HasSubstr("\"image.disk-full\""), HasSubstr("\"runner.disk-full\"")));
  }
}

std::string Numbers(int count) {
  Strings numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return Join(numbers, ",");
}

TEST(LargePlans, HundredThousandCasesAreEachOnceAndLinked) {
  Catalog catalog = SmallCatalog();
  CheckInfo& forward = catalog.plugins[0].checks[0];
  ParamInfo more = Param("more", ParamType::kI64, "0");
  forward.params.push_back(more);
  const Plan plan = PlanOf(
      R"("shapes":{"s":{"x":1}},"checks":[{"check":"conv.forward","params":{"shape":"s"},"axes":{"count":[)" +
          Numbers(1000) + R"(],"more":[)" + Numbers(100) + "]}}]",
      catalog);
  ASSERT_EQ(plan.cases.size(), 100'002u);
  std::set<std::string> ids;
  for (size_t i = 2; i < plan.cases.size(); ++i) {
    const Case& c = plan.cases[i];
    ids.insert(c.planned.ref.id);
    ASSERT_EQ(c.prerequisites, std::vector<size_t>{1});
    ASSERT_EQ(c.planned.params.at("count"), Value(static_cast<int64_t>((i - 2) / 100)));
    ASSERT_EQ(c.planned.params.at("more"), Value(static_cast<int64_t>((i - 2) % 100)));
  }
  EXPECT_EQ(ids.size(), 100'000u);
}

TEST(Waivers, ThatMatchNothingAreWarnedOfWithinBounds) {
  std::string waivers;
  for (int i = 0; i < 200; ++i) {
    waivers += std::string(i == 0 ? "" : ",") +
               R"({"case":"no*","slug":"none","reason":"r","owner":"o","expires":"2027-03-31"})";
  }
  const Plan plan = PlanOf(R"("checks":[{"check":"host.disk"}],"waivers":[)" + waivers + "]");
  ASSERT_EQ(plan.warnings.size(), 51u);
  EXPECT_EQ(SentenceOf(plan.warnings.back()), "and 350 more such warnings about waivers");
}

// A worker gets the parameters of a case in one message of at most 64 KiB.
TEST(LargePlans, ParametersThatFitIntoNoMessageAreAProblem) {
  GoldenMessages golden("plan_cases.txt");
  const std::string text(1000, 'x');
  std::string words, values;
  for (int i = 0; i < 49; ++i) words += (i == 0 ? "\"" : ",\"") + text + "\"";
  EXPECT_THAT(
      golden.Row("a value",
                 PlanProblems(R"("checks":[{"check":"exec.run","name":"n","params":{"exit":0,"argv":[)" +
                              words + "]}}]")),
      AllOf(StartsWith("m.json:2:68: error: "), HasSubstr(" 49204 bytes"), HasSubstr(" 49152 "),
            HasSubstr("\"argv\"")));
  EXPECT_THAT(
      golden.Row("a value of an axis",
                 PlanProblems(R"("checks":[{"check":"exec.run","axes":{"argv":[["a"],[)" + words + "]]}}]")),
      AllOf(StartsWith("m.json:2:46: error: "), HasSubstr(" 49204 bytes"), HasSubstr("\"argv\"")));
  // In JSON a control character takes six bytes.
  std::string controls;
  for (int i = 0; i < 8200; ++i) controls += "\\u0001";
  EXPECT_THAT(
      PlanProblems(R"("checks":[{"check":"exec.run","name":"n","params":{"argv":")" + controls + "\"}}]"),
      HasSubstr(" 49260 bytes"));
  const Plan plan = PlanOf(R"("checks":[{"check":"exec.run","name":"n","params":{"argv":[)" +
                           words.substr(0, 48 * 1003 - 1) + "]}}]");
  EXPECT_EQ(plan.cases.size(), 1u);
}

TEST(LargePlans, ADefaultThatFitsIntoNoMessageIsThePluginsProblem) {
  Catalog catalog = SmallCatalog();
  catalog.plugins[3].checks[0].params[0].default_json = "\"" + std::string(50'000, 'x') + "\"";  // exec.run
  catalog.plugins.back().checks[0].prerequisites = {"exec.run"};                                 // host.disk
  EXPECT_THAT(GoldenMessages("plan_cases.txt")
                  .Row("a default", PlanProblems(R"("checks":[{"check":"host.disk"}])", catalog)),
              AllOf(StartsWith("exec.cci.so: error: "), HasSubstr(" exec.run "), HasSubstr(" 50060 bytes"),
                    HasSubstr(" 49152 ")));
}

TEST(LargePlans, ParametersThatFillTheMemoryAreAProblem) {
  Catalog catalog = SmallCatalog();
  CheckInfo& disk = catalog.plugins.back().checks[0];
  disk.params = {Param("text", ParamType::kString), Param("a", ParamType::kI64), Param("b", ParamType::kI64)};
  const std::string checks = R"("checks":[{"check":"host.disk","params":{"text":")" +
                             std::string(20'000, 'x') + R"("},"axes":{"a":[)" + Numbers(1000) + R"(],"b":[)" +
                             Numbers(100) + "]}}]";
  EXPECT_THAT(GoldenMessages("plan_cases.txt").Row("100 000 cases of 20 KB", PlanProblems(checks, catalog)),
              AllOf(StartsWith("m.json:2:11: error: "), HasSubstr(" 1073741824 bytes")));
}

TEST(LargePlans, AnAxisTooManyIsAProblemNotAnEndlessRun) {
  Catalog catalog = SmallCatalog();
  std::string axes;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "p" + std::to_string(i);
    catalog.plugins.back().checks[0].params.push_back(Param(name, ParamType::kI64, "0"));
    axes += (i == 0 ? "\"" : ",\"") + name + "\":[" + Numbers(10) + "]";
  }
  EXPECT_THAT(GoldenMessages("plan_cases.txt")
                  .Row("12 axes of ten values",
                       PlanProblems(R"("checks":[{"check":"host.disk","axes":{)" + axes + "}}]", catalog)),
              AllOf(StartsWith("m.json:2:"), HasSubstr(" 1000000 cases")));
}

}  // namespace
}  // namespace cudnn_ci
