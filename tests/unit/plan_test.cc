// MakePlan: how entries become cases, how cases are named and what is wrong with them.
#include "model/plan/plan.h"

#include <gmock/gmock.h>

#include "golden_file.h"
#include "planning.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using Strings = std::vector<std::string>;

constexpr const char* kShapes = R"("shapes":{"stem":{"x":[1,3]},"body":{"x":5,"pad":[1,2]}},)";

TEST(Plan, NamesCasesByEveryBoundParameter) {
  const Plan plan =
      PlanOf(std::string(kShapes) +
             R"("checks":[{"check":"conv.forward","params":{"shape":"body","count":7},"name":"n"}])");
  const Case& c = plan.cases.back();
  EXPECT_EQ(c.planned.ref.id, "conv.forward[count=7,dtype=float32,name=n,shape=body,subject=system]");
  EXPECT_EQ(c.planned.ref.device, "gpu0");
  EXPECT_EQ(c.planned.params, (Params{{"count", int64_t{7}},
                                      {"dtype", std::string("float32")},
                                      {"shape", std::string("body")},
                                      {"shape.x", std::vector<int64_t>{5}},
                                      {"shape.pad", std::vector<int64_t>{1, 2}}}));
  EXPECT_EQ(CaseId("conv.forward", c.planned.params, "system", "n"), c.planned.ref.id);
}

TEST(Plan, ACheckWithoutParametersHasNoBrackets) {
  EXPECT_EQ(Ids(PlanOf(R"("checks":[{"check":"driver.load"}])")), Strings{"driver.load"});
}

TEST(CaseIds, WriteNegativeNumbersAndLists) {
  EXPECT_EQ(CaseId("a.b",
                   {{"n", int64_t{-1}},
                    {"l", std::vector<int64_t>{1, -2}},
                    {"f", 1e-5},
                    {"b", true},
                    {"s", Strings{"u", "v"}},
                    {"unfit", std::string("a b")},
                    {"p.x", int64_t{3}}},
                   "", ""),
            "a.b[b=true,f=1em05,l=1xm2,n=m1,s=uxv]");
}

TEST(Plan, TheFirstAxisIsTheSlowestAndExclusionsApply) {
  const Plan plan = PlanOf(std::string(kShapes) + R"("checks":[{"check":"conv.forward",
    "axes":{"shape":["stem","body"],"dtype":["float32","float16","bfloat16"]},
    "exclude":[{"shape":"stem","dtype":"float16"},{"dtype":"bfloat16"}]}])");
  const std::string rest = ",subject=system]";
  EXPECT_THAT(Ids(plan), ElementsAre("driver.load", "cudnn.init[subject=system]",
                                     "conv.forward[count=1,dtype=float32,shape=stem" + rest,
                                     "conv.forward[count=1,dtype=float32,shape=body" + rest,
                                     "conv.forward[count=1,dtype=float16,shape=body" + rest));
}

TEST(Plan, MakesCasesForEverySubjectAndDevice) {
  const Plan plan = PlanOf(R"("subjects":{"system":"loader","other":"path:/opt"},
    "checks":[{"check":"cudnn.init"},{"check":"driver.load"}])",
                           SmallCatalog(), TwoDevices());
  EXPECT_THAT(Ids(plan),
              ElementsAre("driver.load", "cudnn.init[subject=system]", "cudnn.init[subject=system]@gpu1",
                          "cudnn.init[subject=other]", "cudnn.init[subject=other]@gpu1"));
  const Plan one = PlanOf(R"("subjects":{"system":"loader","other":"path:/opt"},
    "checks":[{"check":"cudnn.init","subjects":["other"]}])");
  EXPECT_THAT(Ids(one), ElementsAre("driver.load", "cudnn.init[subject=other]"));
}

TEST(Plan, AnythingPooledButTheDriversOwnIsPreparedOnTheFirstDevice) {
  Catalog catalog = SmallCatalog();
  for (PluginInfo& plugin : catalog.plugins) {
    if (plugin.name == "driver")
      plugin.checks.push_back(Check("driver.canary", Layer::kDriver, Devices::kOne));
    for (CheckInfo& check : plugin.checks) check.pooled = check.devices == Devices::kOne;
  }
  const Plan plan =
      PlanOf(R"("checks":[{"check":"driver.canary"},{"check":"cudnn.init"}])", catalog, TwoDevices());
  EXPECT_FALSE(CaseOf(plan, "driver.canary").prepared);
  EXPECT_TRUE(CaseOf(plan, "driver.canary").leading);
  EXPECT_FALSE(CaseOf(plan, "driver.canary@gpu1").leading);
  EXPECT_FALSE(CaseOf(plan, "cudnn.init[subject=system]").leading) << "it opens libraries";
  EXPECT_TRUE(CaseOf(plan, "cudnn.init[subject=system]").prepared);
  EXPECT_FALSE(CaseOf(plan, "cudnn.init[subject=system]@gpu1").prepared);
  EXPECT_TRUE(CaseOf(plan, "cudnn.init[subject=system]@gpu1").pooled);
  EXPECT_FALSE(CaseOf(PlanOf(R"("checks":[{"check":"cudnn.init"}])"), "cudnn.init[subject=system]").prepared);
}

TEST(Plan, OnlyChecksOfOneDeviceThatSaySoAreConcurrent) {
  const auto is_concurrent = [](bool concurrent, bool shareable, Devices devices, bool pooled = false) {
    Catalog catalog = SmallCatalog();
    for (PluginInfo& plugin : catalog.plugins) {
      for (CheckInfo& check : plugin.checks) {
        if (check.name != "cudnn.init") continue;
        check.concurrent = concurrent;
        check.shareable = shareable;
        check.devices = devices;
        check.pooled = pooled;
      }
    }
    const Plan plan = PlanOf(R"("checks":[{"check":"cudnn.init"}])", catalog);
    return plan.cases.back().concurrent;
  };
  EXPECT_TRUE(is_concurrent(true, true, Devices::kOne));
  EXPECT_FALSE(is_concurrent(false, true, Devices::kOne));
  EXPECT_TRUE(is_concurrent(true, false, Devices::kOne));
  EXPECT_FALSE(is_concurrent(true, true, Devices::kAll));
  EXPECT_FALSE(is_concurrent(true, false, Devices::kOne, true)) << "it shares its process with other checks";
  EXPECT_TRUE(is_concurrent(true, true, Devices::kOne, true));
}

TEST(Plan, PullsPrerequisitesInForTheSameSubjectAndDevice) {
  const Plan plan =
      PlanOf(std::string(kShapes) +
                 R"("checks":[{"check":"conv.forward","params":{"shape":"stem"},"required":false}])",
             SmallCatalog(), TwoDevices());
  const std::string forward = "conv.forward[count=1,dtype=float32,shape=stem,subject=system]";
  EXPECT_THAT(Ids(plan), ElementsAre("driver.load", "cudnn.init[subject=system]",
                                     "cudnn.init[subject=system]@gpu1", forward, forward + "@gpu1"));
  EXPECT_THAT(Needs(plan, forward), ElementsAre("cudnn.init[subject=system]"));
  EXPECT_THAT(Needs(plan, forward + "@gpu1"), ElementsAre("cudnn.init[subject=system]@gpu1"));
  EXPECT_THAT(Needs(plan, "cudnn.init[subject=system]@gpu1"), ElementsAre("driver.load"));
  const CasePlanned& pulled = CaseOf(plan, "driver.load").planned;
  EXPECT_TRUE(pulled.prerequisite && pulled.required);
  EXPECT_EQ(pulled.entry, -1);
  EXPECT_FALSE(CaseOf(plan, forward).planned.required);
  EXPECT_FALSE(CaseOf(plan, forward).planned.prerequisite);
}

TEST(Plan, ListedPrerequisitesComeFirstWhereverTheyStand) {
  const Plan plan =
      PlanOf(R"("checks":[{"check":"host.disk"},{"check":"cudnn.init"},{"check":"driver.load"}])");
  EXPECT_THAT(Ids(plan), ElementsAre("driver.load", "cudnn.init[subject=system]", "host.disk"));
  EXPECT_FALSE(CaseOf(plan, "driver.load").planned.prerequisite);
}

TEST(Plan, TimeoutsComeFromTheEntryThenTheCheckThenTheDefaults) {
  const Plan plan = PlanOf(std::string(kShapes) + R"("defaults":{"timeout_s":9},"checks":[
    {"check":"conv.forward","params":{"shape":"stem"}},
    {"check":"conv.forward","params":{"shape":"body"},"timeout_s":5},{"check":"host.disk"}])");
  EXPECT_EQ(CaseOf(plan, "conv.forward[count=1,dtype=float32,shape=stem,subject=system]").planned.timeout_s,
            30);
  EXPECT_EQ(CaseOf(plan, "conv.forward[count=1,dtype=float32,shape=body,subject=system]").planned.timeout_s,
            5);
  EXPECT_EQ(CaseOf(plan, "host.disk").planned.timeout_s, 9);
}

TEST(Plan, ANameStandsForValuesThatAnIdCannotHold) {
  const Plan plan =
      PlanOf(R"("checks":[{"check":"exec.run","name":"attn","params":{"argv":["/bin/true","-c"]}}])");
  EXPECT_EQ(Ids(plan), Strings{"exec.run[exit=0,name=attn]"});
  EXPECT_EQ(plan.cases[0].planned.params.at("argv"), Value(Strings{"/bin/true", "-c"}));
}

TEST(Plan, WhatDisturbsOthersIsSkippedUnlessAskedFor) {
  const Plan plan = PlanOf(R"("checks":[{"check":"cudnn.fill"}])");
  EXPECT_EQ(plan.cases[0].predetermined, Outcome(Skipped{SkipKind::kAbsent, "--disturb", "not given"}));
  EXPECT_FALSE(plan.cases[0].planned.required);
  PlanOptions options;
  options.disturb = true;
  const Plan disturbing = PlanOf(R"("checks":[{"check":"cudnn.fill"}])", SmallCatalog(), options);
  EXPECT_FALSE(disturbing.cases[0].predetermined);
  EXPECT_TRUE(disturbing.cases[0].planned.required);
}

// What was asked for and left out is not judged, and the verdict must say so.
TEST(Plan, ARequiredCheckThatIsLeftOutMakesItPartial) {
  const auto partial = [](const std::string& keys, bool disturb = false, const std::string& filter = "") {
    PlanOptions options;
    options.disturb = disturb;
    options.filter = filter;
    return PartialText(PlanOf(keys, SmallCatalog(), options).partial);
  };
  EXPECT_EQ(partial(R"("checks":[{"check":"cudnn.fill"}])"), "without --disturb (cudnn.fill)");
  EXPECT_EQ(partial(R"("checks":[{"check":"cudnn.fill"}])", true), "");
  EXPECT_EQ(partial(R"("checks":[{"check":"cudnn.fill","required":false}])"), "");
  EXPECT_EQ(partial(R"("defaults":{"required":false},"checks":[{"check":"cudnn.fill"}])"), "");
  EXPECT_EQ(partial(R"("checks":[{"check":"cudnn.fill"},{"check":"host.disk"}])", false, "host*"),
            "filtered");
  EXPECT_EQ(partial(R"("checks":[{"check":"cudnn.fill"},{"check":"host.disk"}])", false, "cudnn*"),
            "filtered, without --disturb (cudnn.fill)");
}

TEST(Plan, APrerequisiteThatIsLeftOutMakesItPartial) {
  Catalog catalog = SmallCatalog();
  catalog.plugins.back().checks[0].prerequisites = {"cudnn.fill"};  // host.disk
  EXPECT_EQ(PartialText(PlanOf(R"("checks":[{"check":"host.disk"}])", catalog).partial),
            "without --disturb (cudnn.fill)");
}

TEST(BrokenPlugin, IsARedCaseThatBlocksWhatNeedsIt) {
  Catalog catalog = SmallCatalog();
  catalog.plugins.erase(catalog.plugins.begin() + 1);  // cudnn
  catalog.broken = {{"cudnn", "/p/cudnn.cci.so", "undefined symbol: x"}};
  const Plan plan = PlanOf(std::string(kShapes) + R"("checks":[{"check":"cudnn.init","params":{"a":[1,2]}},
    {"check":"conv.forward","params":{"shape":"stem"}},{"check":"host.disk"}])",
                           catalog);
  const Case& broken = CaseOf(plan, "plugin.load[file=cudnn]");
  EXPECT_TRUE(broken.planned.required);
  EXPECT_EQ(broken.planned.plugin, "plugin");
  EXPECT_EQ(broken.predetermined, Outcome(Errored{ErrorKind::kPluginLoad, "undefined symbol: x"}));
  ASSERT_EQ(broken.findings.size(), 1u);
  EXPECT_EQ(broken.findings[0].slug, "plugin-load");
  EXPECT_EQ(broken.findings[0].detail, "/p/cudnn.cci.so: undefined symbol: x");
  for (const char* id :
       {"cudnn.init[a=1x2]", "conv.forward[count=1,dtype=float32,shape=stem,subject=system]"}) {
    EXPECT_EQ(CaseOf(plan, id).predetermined, Outcome(Blocked{"plugin.load[file=cudnn]"})) << id;
    EXPECT_THAT(Needs(plan, id), ElementsAre("plugin.load[file=cudnn]"));
  }
  EXPECT_FALSE(CaseOf(plan, "host.disk").predetermined);
}

TEST(BrokenPlugin, IsInThePlanThoughNoEntryNeedsIt) {
  Catalog catalog = SmallCatalog();
  catalog.broken = {{"my-own", "/p/my-own.cci.so", "reason"}};
  EXPECT_THAT(Ids(PlanOf(R"("checks":[{"check":"driver.load"}])", catalog)),
              ElementsAre("driver.load", "plugin.load[file=my_own]"));
}

const char* const kMistakes[] = {
    R"("checks":[{"check":"conv.foward"}])",
    R"("checks":[{"check":"host.disk","params":{"a":1}}])",
    R"("checks":[{"check":"exec.run","params":{"arg":"x"}}])",
    R"("shapes":{"s":{"x":1}},"checks":[{"check":"conv.forward","params":{"shape":"s","dtype":"float31"}}])",
    R"("shapes":{"s":{"x":1}},"checks":[{"check":"conv.forward","params":{"shape":"s","count":-1}}])",
    R"("shapes":{"s":{"x":1}},"checks":[{"check":"conv.forward","params":{"shape":"s"},"axes":{"count":[1,"2"]}}])",
    R"("shapes":{"stem":{"x":1}},"checks":[{"check":"conv.forward","params":{"shape":"stm"}}])",
    R"("shapes":{"s":{"x":1,"pda":1}},"checks":[{"check":"conv.forward","axes":{"shape":["s"],"count":[1,2]}}])",
    R"("shapes":{"s":{"x":["a"]}},"checks":[{"check":"conv.forward","params":{"shape":"s"}}])",
    R"("shapes":{"s":{}},"checks":[{"check":"conv.forward","params":{"shape":"s"}}])",
    R"("checks":[{"check":"exec.run","params":{"argv":"a b"}}])",
    R"("checks":[{"check":"host.disk"},{"check":"host.disk"}])",
    R"("checks":[{"check":"exec.run","axes":{"argv":["a",["a"]]}}])",
    R"("checks":[{"check":"exec.run","axes":{"argv":["a"]},"exclude":[{"argv":"a"}]}])",
    R"("checks":[{"check":"host.disk","subjects":["system"]}])",
};

// Each with its place, what is wrong and what is expected.
TEST(PlanMistakes, AreAnsweredAsTheGoldenFileHasIt) {
  std::string text;
  for (const char* mistake : kMistakes) text += GoldenRow(mistake, PlanProblems(mistake));
  ExpectGolden("messages/plan.txt", text);
}

TEST(Catalogs, APrerequisiteThatNeedsAValueMustBeListed) {
  Catalog catalog = SmallCatalog();
  catalog.plugins.back().checks[0].prerequisites = {"exec.run"};  // host.disk
  EXPECT_EQ(PlanProblems(R"("checks":[{"check":"host.disk"}])", catalog),
            "m.json: error: host.disk requires exec.run, whose \"argv\" has no default; list exec.run in "
            "\"checks\" with a "
            "value for it");
}

}  // namespace
}  // namespace cudnn_ci
