// MakePlan: parameters that the plugins judge, and the places of what they find.
#include <gmock/gmock.h>

#include <algorithm>

#include "planning.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using Strings = std::vector<std::string>;

Catalog ValidatingCatalog() {
  Catalog catalog = SmallCatalog();
  catalog.plugins[0].checks[0].validates = true;  // conv.forward
  return catalog;
}

// Answers every question with the same problem, and keeps the ids of what was asked.
struct Plugins {
  PlanOptions Options(PlanOptions options = {}) {
    options.validate = [this](const std::vector<const CasePlanned*>& cases) {
      Validation validation;
      for (const CasePlanned* c : cases) {
        asked.push_back(c->ref.id);
        validation.invalid.emplace_back();
        if (!answer.why.empty()) validation.invalid.back().push_back(answer);
      }
      for (BrokenPlugin& plugin : failing) validation.failed.push_back(std::move(plugin));
      failing.clear();
      return validation;
    };
    return options;
  }
  InvalidParam answer;
  std::vector<BrokenPlugin> failing;
  Strings asked;
};

constexpr const char* kKeys = R"("subjects":{"a":"loader","b":"path:/opt"},
"shapes":{"s":{"x":1,"pad":2},"t":{"x":2}},
"checks":[{"check":"conv.forward","params":{"shape":"s"},"axes":{"dtype":["float32","float16"],"count":[7]}},
{"check":"conv.forward","name":"again","params":{"shape":"s","count":7}},
{"check":"host.disk"}])";

TEST(Validation, AsksForEachCombinationOfParametersOnce) {
  Plugins plugins;
  const Plan plan = PlanOf(kKeys, ValidatingCatalog(), plugins.Options(TwoDevices()));
  EXPECT_EQ(std::count_if(plan.cases.begin(), plan.cases.end(),
                          [](const Case& c) { return c.planned.check == "conv.forward"; }),
            12);
  EXPECT_THAT(plugins.asked, ElementsAre("conv.forward[count=7,dtype=float32,shape=s,subject=a]",
                                         "conv.forward[count=7,dtype=float16,shape=s,subject=a]"));
}

// Their texts in an id are the same.
TEST(Validation, TellsListsApartThatReadAlike) {
  Catalog catalog = SmallCatalog();
  catalog.plugins[3].checks[0].validates = true;  // exec.run
  Plugins plugins;
  PlanOf(R"("checks":[{"check":"exec.run","name":"one","params":{"argv":["a","b"]}},
    {"check":"exec.run","name":"two","params":{"argv":["axb"]}}])",
         catalog, plugins.Options());
  EXPECT_EQ(plugins.asked.size(), 2u);
}

TEST(Validation, AsksOfChecksThatValidateAlone) {
  Plugins plugins;
  PlanOf(kKeys, SmallCatalog(), plugins.Options());
  EXPECT_THAT(plugins.asked, ElementsAre());
}

// A matrix is right or wrong, whatever part of it this run is about.
TEST(Validation, AsksWhateverIsSelected) {
  for (const bool stage : {true, false}) {
    Plugins plugins;
    PlanOptions options;
    options.static_stage = stage;
    options.filter = stage ? "" : "host.disk";
    options.shard_index = 1;
    options.shard_count = 1000;
    PlanOf(kKeys, ValidatingCatalog(), plugins.Options(options));
    EXPECT_EQ(plugins.asked.size(), 2u);
  }
}

std::string ProblemsFor(const InvalidParam& answer, const std::string& keys = kKeys) {
  Plugins plugins;
  plugins.answer = answer;
  return PlanProblems(keys, ValidatingCatalog(), plugins.Options());
}

TEST(Validation, NamesThePlaceOfAShapesField) {
  EXPECT_EQ(ProblemsFor({"shape.pad", "2 is too much"}),
            "m.json:3:28: error: \"pad\" of the shape \"s\" (for conv.forward): 2 is too much");
}

TEST(Validation, NamesTheShapeWhereTheFieldIsADefault) {
  EXPECT_EQ(
      ProblemsFor({"shape.pad", "0 is too little"},
                  R"("shapes":{"t":{"x":2}},"checks":[{"check":"conv.forward","axes":{"shape":["t"]}}])"),
      "m.json:2:11: error: \"pad\" of the shape \"t\" (for conv.forward): 0 is too little");
}

TEST(Validation, NamesThePlaceOfAParameterAndOfAnAxisValue) {
  EXPECT_EQ(ProblemsFor({"dtype", "no such thing"}),
            "m.json:4:75: error: \"dtype\" of conv.forward: no such thing\n"
            "m.json:4:85: error: \"dtype\" of conv.forward: no such thing");
  EXPECT_EQ(ProblemsFor({"shape", "not this one"}),
            "m.json:4:53: error: \"shape\" of conv.forward: not this one");
}

TEST(Validation, NamesTheEntryForADefaultAndForSeveralTogether) {
  const std::string keys =
      R"("shapes":{"t":{"x":2}},"checks":[{"check":"conv.forward","params":{"shape":"t"}}])";
  EXPECT_EQ(ProblemsFor({"dtype", "no"}, keys), "m.json:2:34: error: \"dtype\" of conv.forward: no");
  EXPECT_EQ(ProblemsFor({"", "they do not go together"}, keys),
            "m.json:2:34: error: the parameters of "
            "\"conv.forward[count=1,dtype=float32,shape=t,subject=system]\": they do not go together");
  EXPECT_EQ(ProblemsFor({"stranger", "no"}, keys),
            "m.json:2:34: error: the parameters of "
            "\"conv.forward[count=1,dtype=float32,shape=t,subject=system]\": \"stranger\": no");
}

TEST(Validation, BlamesThePluginForDefaultsOfWhatIsPulledIn) {
  Catalog catalog = SmallCatalog();
  CheckInfo& init = catalog.plugins[1].checks[0];  // cudnn.init
  init.validates = true;
  init.params = {Param("handles", ParamType::kI64, "1")};
  Plugins plugins;
  plugins.answer = {"handles", "too few"};
  EXPECT_EQ(PlanProblems(kKeys, catalog, plugins.Options()),
            "cudnn.cci.so: error: the default parameters of cudnn.init are invalid: \"handles\": too few; "
            "repair the plugin, or list the check in \"checks\" with other values");
}

TEST(Validation, APluginThatFailsIsABrokenOne) {
  Plugins plugins;
  plugins.failing = {{"conv", "/p/conv.cci.so", "crashed: SIGSEGV"}};
  const Plan plan = PlanOf(kKeys, ValidatingCatalog(), plugins.Options());
  const Case& broken = CaseOf(plan, "plugin.load[file=conv]");
  EXPECT_EQ(broken.predetermined, Outcome(Errored{ErrorKind::kPluginLoad, "crashed: SIGSEGV"}));
  size_t blocked = 0;
  for (const Case& c : plan.cases)
    blocked += c.predetermined == Outcome(Blocked{"plugin.load[file=conv]"}) ? 1 : 0;
  EXPECT_EQ(blocked, 3u);
  EXPECT_FALSE(CaseOf(plan, "host.disk").predetermined);
}

}  // namespace
}  // namespace cudnn_ci
