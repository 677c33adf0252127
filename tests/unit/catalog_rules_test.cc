// What must hold of all plugins together: every rule broken once, and nothing said of plugins that keep them.
#include "model/plan/catalog_rules.h"

#include <gmock/gmock.h>

#include "golden_messages.h"
#include "planning.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

PluginInfo Good(const std::string& name) {
  PluginInfo plugin = Plugin(name, {Check(name + ".x", Layer::kOther, Devices::kNone)});
  plugin.path = "/plugins/" + name + ".cci.so";
  plugin.version = "1.2.3";
  plugin.findings = {{name + "-wrong", Severity::kError, Blame::kImage, "s", "r", "", name}};
  return plugin;
}

// What is said of the plugins, a line each.
std::string Problems(const Catalog& catalog) {
  std::string out;
  for (const Problem& p : CatalogProblems(catalog)) out += (out.empty() ? "" : "\n") + ToString(p);
  return out;
}

using Change = std::function<void(PluginInfo*)>;
Change WithParam(const ParamInfo& param) {
  return [=](PluginInfo* p) { p->checks[0].params = {param}; };
}

// One problem, of the file at this path, that names all of these.
template <typename... Names>
auto OneProblem(const std::string& path, const Names&... names) {
  return AllOf(StartsWith(path + ":"), HasSubstr(" error: "), HasSubstr(std::string(names))...,
               Not(HasSubstr("\n")));
}

// The rules broken by a good plugin `a` with one thing changed: each problem as the golden file has it, and
// with the names that it is about.
class CatalogRules : public testing::Test {
 protected:
  template <typename... Names>
  void Expect(const std::string& given, const Change& change, const Names&... names) {
    PluginInfo plugin = Good("a");
    change(&plugin);
    EXPECT_THAT(golden_.Row(given, Problems(Catalog{{plugin}, {}})), OneProblem(plugin.path, names...))
        << given;
  }

  GoldenMessages golden_{"catalog.txt"};
};

TEST(CatalogOfGoodPlugins, BreaksNoRule) {
  PluginInfo a = Good("a");
  a.checks[0].params = {Param("n", ParamType::kI64, "3"), Param("must", ParamType::kString),
                        Param("on", ParamType::kBool, "true"), Param("ratio", ParamType::kF64, "1"),
                        Param("words", ParamType::kStringList, R"(["u","v"])")};
  PluginInfo b = Good("b");
  b.checks[0].prerequisites = {"a.x", "gone.y"};
  EXPECT_EQ(Problems(Catalog{{a, b}, {{"gone", "/plugins/gone.cci.so", "SIGSEGV"}}}), "");
  EXPECT_EQ(Problems(Catalog{}), "");
}

TEST_F(CatalogRules, ASecondPluginOfANameNamesBothFiles) {
  PluginInfo again = Good("a");
  again.path = "/more/a.cci.so";
  EXPECT_THAT(golden_.Row("two files", Problems(Catalog{{Good("a"), again}, {}})),
              OneProblem("/more/a.cci.so", "\"a\"", "/plugins/a.cci.so"));
}

TEST_F(CatalogRules, APluginBearsItsFilesName) {
  Expect(
      "a in b.cci.so", [](PluginInfo* p) { p->path = "/plugins/b.cci.so"; }, "\"a\"");
}

TEST_F(CatalogRules, ACheckOfAnotherPluginsNameIsRefused) {
  Expect(
      "the check b.x", [](PluginInfo* p) { p->checks[0].name = "b.x"; }, "\"b.x\"", "a.[a-z][a-z0-9_]*");
  Expect(
      "the plugin b of a check", [](PluginInfo* p) { p->checks[0].plugin = "b"; }, "\"a.x\"");
  Expect(
      "the check a.X=1]", [](PluginInfo* p) { p->checks[0].name = "a.X=1]"; }, "\"a.X=1]\"");
}

TEST_F(CatalogRules, TwoChecksOfANameAreRefused) {
  Expect(
      "a.x twice", [](PluginInfo* p) { p->checks.push_back(p->checks[0]); }, "\"a.x\"");
}

TEST_F(CatalogRules, TwoFindingsOfASlugAreRefusedInOneFileAndInTwo) {
  Expect(
      "one file", [](PluginInfo* p) { p->findings.push_back(p->findings[0]); }, "\"a-wrong\"");
  PluginInfo b = Good("b");
  b.findings[0].slug = "a-wrong";
  EXPECT_THAT(golden_.Row("two files", Problems(Catalog{{Good("a"), b}, {}})),
              OneProblem("/plugins/b.cci.so", "\"a-wrong\"", "/plugins/a.cci.so"));
}

TEST_F(CatalogRules, TheHarnesssOwnSlugsAreTaken) {
  Expect(
      "crashed", [](PluginInfo* p) { p->findings[0].slug = "crashed"; }, "\"crashed\"", "cudnn-ci itself");
  Expect(
      "Not A Slug", [](PluginInfo* p) { p->findings[0].slug = "Not A Slug"; }, "\"Not A Slug\"",
      "[a-z0-9-]+");
}

TEST_F(CatalogRules, AVersionHasThreeNumbers) {
  for (const char* version : {"abc", "", "1", "1.2", "1.2.3.4", "1.2.x"})
    Expect(
        "version \"" + std::string(version) + "\"", [&](PluginInfo* p) { p->version = version; },
        "MAJOR.MINOR.PATCH");
}

TEST_F(CatalogRules, APluginHasChecks) {
  Expect(
      "none", [](PluginInfo* p) { p->checks.clear(); }, "\"a\"");
}

TEST_F(CatalogRules, PrerequisitesExist) {
  Expect(
      "a.y, which no plugin has", [](PluginInfo* p) { p->checks[0].prerequisites = {"a.y"}; }, "a.x",
      "\"a.y\"");
}

TEST_F(CatalogRules, PrerequisitesGoInNoCircle) {
  Expect(
      "a.x needs itself", [](PluginInfo* p) { p->checks[0].prerequisites = {"a.x"}; }, "a.x -> a.x;");
  Expect(
      "a.x and a.y need each other",
      [](PluginInfo* p) {
        p->checks.push_back(Check("a.y", Layer::kOther, Devices::kNone, {"a.x"}));
        p->checks[0].prerequisites = {"a.y"};
      },
      "a.x -> a.y -> a.x;");
}

TEST_F(CatalogRules, DefaultsFitTheirOwnDeclaration) {
  Expect("no JSON", WithParam(Param("n", ParamType::kI64, "three")), "\"n\"", "three");
  Expect("a text for an integer", WithParam(Param("n", ParamType::kI64, "\"3\"")), "\"n\"", "\"3\"");
  Expect("an integer for a bool", WithParam(Param("n", ParamType::kBool, "1")), "\"n\"", "true");
  ParamInfo bounded = Param("n", ParamType::kI64List, "[1,9]");
  bounded.min_i64 = 0;
  bounded.max_i64 = 8;
  Expect("9 of at most 8", WithParam(bounded), "\"n\"", "0 to 8", " 9");
  ParamInfo chosen = Param("s", ParamType::kString, "\"c\"");
  chosen.allowed = {"a", "b"};
  Expect("c of a and b", WithParam(chosen), "\"s\"", "\"c\"");
  ParamInfo shape = Param("shape", ParamType::kShape);
  shape.fields = {Param("x", ParamType::kI64, "\"one\"")};
  Expect("a text for an integer of a shape", WithParam(shape), "\"x\"", "\"one\"");
}

TEST_F(CatalogRules, ParametersAreDeclaredOnceUnderNamesThatFitACaseId) {
  Expect(
      "n twice",
      [](PluginInfo* p) {
        p->checks[0].params = {Param("n", ParamType::kI64), Param("n", ParamType::kBool)};
      },
      "a.x", "\"n\" twice");
  ParamInfo shape = Param("shape", ParamType::kShape);
  shape.fields = {Param("x", ParamType::kI64), Param("x", ParamType::kI64)};
  Expect("x twice in a shape", WithParam(shape), "\"x\" twice");
  for (const std::string name : {"subject", "name"})
    Expect(name, WithParam(Param(name, ParamType::kI64)), '"' + name + '"', "case ids");
  Expect("n]", WithParam(Param("n]", ParamType::kI64)), "\"n]\"", "[a-z][a-z0-9_]*");
  ParamInfo empty = Param("n", ParamType::kI64);
  empty.min_i64 = 2;
  empty.max_i64 = 1;
  Expect("from 2 to 1", WithParam(empty), "\"n\"");
}

}  // namespace
}  // namespace cudnn_ci
