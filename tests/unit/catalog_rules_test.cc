// What must hold of all plugins together: every rule broken once, and nothing said of plugins that keep them.
#include "model/plan/catalog_rules.h"

#include <gmock/gmock.h>

#include "planning.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PluginInfo Good(const std::string& name) {
  PluginInfo plugin = Plugin(name, {Check(name + ".x", Layer::kOther, Devices::kNone)});
  plugin.path = "/plugins/" + name + ".cci.so";
  plugin.version = "1.2.3";
  plugin.findings = {{name + "-wrong", Severity::kError, Blame::kImage, "s", "r", "", name}};
  return plugin;
}

std::vector<std::string> Problems(const Catalog& catalog) {
  std::vector<std::string> out;
  for (const Problem& p : CatalogProblems(catalog)) out.push_back(ToString(p));
  return out;
}
std::vector<std::string> Problems(const PluginInfo& plugin) { return Problems(Catalog{{plugin}, {}}); }

// A good plugin with one thing changed, and what is said about it.
std::vector<std::string> Changed(const std::function<void(PluginInfo*)>& change) {
  PluginInfo plugin = Good("a");
  change(&plugin);
  return Problems(plugin);
}
std::vector<std::string> WithParam(const ParamInfo& param) {
  return Changed([&](PluginInfo* p) { p->checks[0].params = {param}; });
}

TEST(CatalogRules, SayNothingOfPluginsThatKeepThem) {
  PluginInfo a = Good("a");
  a.checks[0].params = {Param("n", ParamType::kI64, "3"), Param("must", ParamType::kString),
                        Param("on", ParamType::kBool, "true"), Param("ratio", ParamType::kF64, "1"),
                        Param("words", ParamType::kStringList, R"(["u","v"])")};
  PluginInfo b = Good("b");
  b.checks[0].prerequisites = {"a.x", "gone.y"};
  EXPECT_THAT(Problems(Catalog{{a, b}, {{"gone", "/plugins/gone.cci.so", "SIGSEGV"}}}), IsEmpty());
  EXPECT_THAT(Problems(Catalog{}), IsEmpty());
}

TEST(CatalogRules, ASecondPluginOfANameNamesBothFiles) {
  PluginInfo again = Good("a");
  again.path = "/more/a.cci.so";
  EXPECT_THAT(Problems(Catalog{{Good("a"), again}, {}}),
              ElementsAre("/more/a.cci.so: error: a second plugin named \"a\"; the first is "
                          "/plugins/a.cci.so; remove one of them"));
}

TEST(CatalogRules, APluginBearsItsFilesName) {
  EXPECT_THAT(Changed([](PluginInfo* p) { p->path = "/plugins/b.cci.so"; }),
              ElementsAre(testing::ContainsRegex("^/plugins/b.cci.so: error: .*\"a\"")));
}

TEST(CatalogRules, ACheckOfAnotherPluginsNameIsRefused) {
  EXPECT_THAT(Changed([](PluginInfo* p) { p->checks[0].name = "b.x"; }),
              ElementsAre(HasSubstr("the check \"b.x\" is not named a.[a-z][a-z0-9_]*")));
  EXPECT_THAT(Changed([](PluginInfo* p) { p->checks[0].plugin = "b"; }),
              ElementsAre(HasSubstr("the check \"a.x\" is not named a.[a-z][a-z0-9_]*")));
  EXPECT_THAT(Changed([](PluginInfo* p) { p->checks[0].name = "a.X=1]"; }),
              ElementsAre(HasSubstr("the check \"a.X=1]\" is not named")));
}

TEST(CatalogRules, TwoChecksOfANameAreRefused) {
  EXPECT_THAT(Changed([](PluginInfo* p) { p->checks.push_back(p->checks[0]); }),
              ElementsAre(HasSubstr("a second check \"a.x\"; the first is in the same file")));
}

TEST(CatalogRules, TwoFindingsOfASlugAreRefusedInOneFileAndInTwo) {
  EXPECT_THAT(Changed([](PluginInfo* p) { p->findings.push_back(p->findings[0]); }),
              ElementsAre(HasSubstr("a second finding \"a-wrong\"; the first is in the same file")));
  PluginInfo b = Good("b");
  b.findings[0].slug = "a-wrong";
  EXPECT_THAT(Problems(Catalog{{Good("a"), b}, {}}),
              ElementsAre("/plugins/b.cci.so: error: a second finding \"a-wrong\"; the first is in "
                          "/plugins/a.cci.so; rename one of them"));
}

TEST(CatalogRules, TheHarnesssOwnSlugsAreTaken) {
  EXPECT_THAT(Changed([](PluginInfo* p) { p->findings[0].slug = "crashed"; }),
              ElementsAre(HasSubstr("a second finding \"crashed\"; the first is in cudnn-ci itself")));
  EXPECT_THAT(Changed([](PluginInfo* p) { p->findings[0].slug = "Not A Slug"; }),
              ElementsAre(HasSubstr("the slug \"Not A Slug\" is not [a-z0-9-]+")));
}

TEST(CatalogRules, AVersionHasThreeNumbers) {
  for (const char* version : {"abc", "", "1", "1.2", "1.2.3.4", "1.2.x"})
    EXPECT_THAT(Changed([&](PluginInfo* p) { p->version = version; }),
                ElementsAre(HasSubstr("is not MAJOR.MINOR.PATCH")))
        << version;
}

TEST(CatalogRules, APluginHasChecks) {
  EXPECT_THAT(Changed([](PluginInfo* p) { p->checks.clear(); }),
              ElementsAre("/plugins/a.cci.so: error: the plugin \"a\" has no checks; remove it "
                          "or register its checks"));
}

TEST(CatalogRules, PrerequisitesExist) {
  EXPECT_THAT(
      Changed([](PluginInfo* p) { p->checks[0].prerequisites = {"a.y"}; }),
      ElementsAre(testing::ContainsRegex("^/plugins/a.cci.so: error: a.x requires \"a.y\".*\"a.x\"")));
}

TEST(CatalogRules, PrerequisitesGoInNoCircle) {
  EXPECT_THAT(Changed([](PluginInfo* p) { p->checks[0].prerequisites = {"a.x"}; }),
              ElementsAre(HasSubstr("checks require one another in a circle: a.x -> a.x")));
  EXPECT_THAT(
      Changed([](PluginInfo* p) {
        p->checks.push_back(Check("a.y", Layer::kOther, Devices::kNone, {"a.x"}));
        p->checks[0].prerequisites = {"a.y"};
      }),
      ElementsAre("/plugins/a.cci.so: error: checks require one another in a circle: a.x -> a.y -> a.x; "
                  "repair the plugin"));
}

TEST(CatalogRules, DefaultsFitTheirOwnDeclaration) {
  EXPECT_THAT(WithParam(Param("n", ParamType::kI64, "three")), ElementsAre(HasSubstr("is not JSON")));
  EXPECT_THAT(WithParam(Param("n", ParamType::kI64, "\"3\"")), ElementsAre(HasSubstr("must be an integer")));
  EXPECT_THAT(WithParam(Param("n", ParamType::kBool, "1")), ElementsAre(HasSubstr("must be true or false")));
  ParamInfo bounded = Param("n", ParamType::kI64List, "[1,9]");
  bounded.min_i64 = 0;
  bounded.max_i64 = 8;
  EXPECT_THAT(WithParam(bounded), ElementsAre(HasSubstr("from 0 to 8, found the integer 9")));
  ParamInfo chosen = Param("s", ParamType::kString, "\"c\"");
  chosen.allowed = {"a", "b"};
  EXPECT_THAT(WithParam(chosen), ElementsAre(HasSubstr("cannot be \"c\"")));
  ParamInfo shape = Param("shape", ParamType::kShape);
  shape.fields = {Param("x", ParamType::kI64, "\"one\"")};
  EXPECT_THAT(WithParam(shape), ElementsAre(HasSubstr("must be an integer")));
}

TEST(CatalogRules, ParametersAreDeclaredOnceUnderNamesThatFitACaseId) {
  EXPECT_THAT(Changed([](PluginInfo* p) {
                p->checks[0].params = {Param("n", ParamType::kI64), Param("n", ParamType::kBool)};
              }),
              ElementsAre(HasSubstr("a.x has a parameter \"n\" twice")));
  ParamInfo shape = Param("shape", ParamType::kShape);
  shape.fields = {Param("x", ParamType::kI64), Param("x", ParamType::kI64)};
  EXPECT_THAT(WithParam(shape), ElementsAre(HasSubstr("a parameter \"x\" twice")));
  for (const char* name : {"subject", "name"})
    EXPECT_THAT(WithParam(Param(name, ParamType::kI64)), ElementsAre(HasSubstr("a word that case ids use")));
  EXPECT_THAT(WithParam(Param("n]", ParamType::kI64)), ElementsAre(HasSubstr("is not [a-z][a-z0-9_]*")));
  ParamInfo empty = Param("n", ParamType::kI64);
  empty.min_i64 = 2;
  empty.max_i64 = 1;
  EXPECT_THAT(WithParam(empty), ElementsAre(HasSubstr("\"n\"")));
}

}  // namespace
}  // namespace cudnn_ci
