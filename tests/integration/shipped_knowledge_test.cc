// Knowledge that a team adds with --knowledge, through the real harness: a framework by data alone, a known
// fault, a remedy; and what such files cannot do.
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "environments_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Of this day, so that no file that comes with cudnn-ci is newer.
std::string Head() { return R"("as_of": ")" + Today() + R"(", "sources": {"team": "the team's wiki"})"; }
constexpr char kFrom[] = R"("source": "team", "confidence": "sure"})";

class KnowledgeRunTest : public EnvironmentsTest {
 protected:
  // An environment with the framework Acme, which nobody knows, and whose library lacks another one.
  KnowledgeRunTest() {
    std::filesystem::create_directories(gate().Path("venv/bin"));
    gate().Write("venv/pyvenv.cfg", "home = /nowhere/bin\nversion = 3.11.2\n");
    Compile("venv/bin/python3.11", "int Py_Something; void _start(void) {}",
            "-pie -fPIE -nostdlib -rdynamic");
    std::filesystem::create_symlink("python3.11", gate().Path("venv/bin/python"));
    Compile("gone/libacmecore.so.1", "int a;", "-shared -fPIC -nostdlib -Wl,-soname,libacmecore.so.1");
    Compile(InSite("acme/libacme.so"), "int b;",
            "-shared -fPIC -nostdlib " + gate().Path("gone/libacmecore.so.1"));
    gate().Write(InSite("acme/__init__.py"), "");
    std::filesystem::create_directories(Site("venv") + "/acme_infer-1.2.0.dist-info");
    gate().Write(InSite("acme_infer-1.2.0.dist-info/RECORD"), "acme/libacme.so,,\n");
    UseSubjects("{\"venv\": \"" + Python("venv") + "\"}");
    std::filesystem::create_directory(gate().Path("team"));
  }
  static std::string InSite(const std::string& path) { return "venv/lib/python3.11/site-packages/" + path; }
  void Compile(const std::string& path, const std::string& source, const std::string& options) {
    std::filesystem::create_directories(std::filesystem::path(gate().Path(path)).parent_path());
    gate().Write("source.c", source);
    const std::string command = "cc -w -o " + gate().Path(path) + " " + gate().Path("source.c") +
                                " -Wl,--no-as-needed,--allow-shlib-undefined " + options;
    ASSERT_EQ(system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c): a test's own words
  }
  // A file of knowledge in the folder "team".
  void Know(const std::string& kind, const std::string& list, const std::string& row,
            const std::string& head = Head()) {
    gate().Write("team/" + kind + ".json", "{\"schema\": \"cudnn-ci/" + kind + "/1\", " + head + ",\n\"" +
                                               list + "\": [{" + row + ", " + kFrom + "]}\n");
  }
  void KnowAcme(const std::string& need) {
    Know("packages", "packages", R"("manager": "python", "name": "acme-infer", "framework": "Acme Infer")");
    Know("imports", "imports",
         R"("import": "acme", "title": "Acme Infer", "marker": "acme/__init__.py", "packages": ["acme"], )"
         R"("main": [{"open": "libacme.so", "in": ["acme"], "need": ")" +
             need + "\"}]");
  }
  std::vector<std::string> Team() { return {"--knowledge", gate().Path("team")}; }
  // With matrices beside it.
  GateResult Command(std::vector<std::string> words) {
    gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");
    Compose();
    return gate().Command(words);
  }
};

TEST_F(KnowledgeRunTest, AFrameworkByDataAloneIsFoundAndJudged) {
  EXPECT_EQ(Check("image.symbols").Outcome(), "passed") << "nothing is known to load the library";
  KnowAcme("must");
  const CheckOutcome r = Check("image.symbols", "", Team());
  EXPECT_THAT(r.Slugs(), ElementsAre("library-missing"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("libacmecore.so.1"), HasSubstr("import acme")));
  const json& files = r.gate.report["judged"]["knowledge"];
  ASSERT_GT(files.size(), 5U);
  const size_t added = files.size() - 2;
  EXPECT_EQ(files[0]["schema"], "cudnn-ci/packages/1");
  EXPECT_EQ(files[0].count("from"), 0U);
  EXPECT_EQ(files[added]["schema"], "cudnn-ci/imports/1");
  EXPECT_EQ(files[added]["as_of"], Today());
  EXPECT_EQ(files[added]["path"], gate().Path("team") + "/imports.json");
  EXPECT_EQ(files[added]["sha256"].get<std::string>().size(), 64U);
  EXPECT_EQ(files[added]["from"], "--knowledge");
  EXPECT_THAT(r.gate.out, HasSubstr("knowledge"));
}

TEST_F(KnowledgeRunTest, FactsAndInitKnowItToo) {
  Set("VIRTUAL_ENV", gate().Path("venv"));
  EXPECT_THAT(Command({"facts"}).out, Not(HasSubstr("Acme Infer")));
  KnowAcme("must");
  EXPECT_THAT(Command({"facts", "--knowledge", gate().Path("team")}).out, HasSubstr("Acme Infer 1.2.0"));
  const GateResult init = Command({"init", gate().Path("first.json"), "--knowledge", gate().Path("team")});
  EXPECT_EQ(init.exit_code, 0) << init.err;
}

// A rule that only tries what is broken is no way to hide it.
TEST_F(KnowledgeRunTest, AnAddedRuleHidesNoExtensionThatIsBroken) {
  Compile(InSite("acme/_ext.so"), "void *PyInit__ext(void) { return 0; }",
          "-shared -fPIC -nostdlib " + gate().Path("gone/libacmecore.so.1"));
  gate().Write(InSite("acme/__init__.py"), "from . import _ext\n");
  const std::vector<std::string> slugs = Check("image.symbols").Slugs();
  EXPECT_THAT(slugs, ElementsAre("library-missing"));
  Know("imports", "imports",
       R"("import": "acme", "title": "Acme Infer", "marker": "acme/__init__.py", "packages": ["acme"], )"
       R"("main": [{"open": "_ext.so", "in": ["acme"], "need": "tried"}])");
  EXPECT_EQ(Check("image.symbols", "", Team()).Slugs(), slugs);
}

TEST_F(KnowledgeRunTest, AKnownFaultOfATeamIsJudged) {
  std::filesystem::create_directories(Site("venv") + "/torch-2.11.0.dist-info");
  gate().Write(InSite("torch-2.11.0.dist-info/RECORD"), "");
  Know(
      "compatibility", "known_regressions",
      R"("id": "team_torch", "library": "torch", "what": "all of it", "effect": "crash", "first": "2.11.0", )"
      R"("last": null, "fixed": "2.12.0", "hits": {})");
  const CheckOutcome r = Check("image.known_faults", R"("params": {"fail_on": ["crash"]})", Team());
  EXPECT_THAT(r.Slugs(), ElementsAre("known-fault-promised"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("team_torch"), HasSubstr("team's wiki")));
}

TEST_F(KnowledgeRunTest, ARemedyChangesWhatToDoAndNothingElse) {
  KnowAcme("must");
  const CheckOutcome before = Check("image.symbols", "", Team());
  Know(
      "remedies", "remedies",
      R"("finding": "library-missing", "remedy": "Ask the team of Acme.", "link": "https://example.org/acme", )"
      R"("command": "acme-fix --all", "where": "image")");
  const CheckOutcome after = Check("image.symbols", "", Team());
  const json &a = before.record["findings"][0], &b = after.record["findings"][0];
  EXPECT_EQ(b["remedy"], "Ask the team of Acme.");
  EXPECT_EQ(b["link"], "https://example.org/acme");
  for (const char* key : {"slug", "severity", "blame", "summary", "detail"}) EXPECT_EQ(a[key], b[key]) << key;
  EXPECT_EQ(before.gate.exit_code, after.gate.exit_code);
  const GateResult explained = Command({"explain", "library-missing", "--knowledge", gate().Path("team")});
  EXPECT_THAT(explained.out, AllOf(HasSubstr(b["remedy"].get<std::string>()), HasSubstr("acme-fix --all")));
}

TEST_F(KnowledgeRunTest, WhatIsReplacedIsInTheReport) {
  Know(
      "imports", "imports",
      R"("import": "torch", "title": "PyTorch", "marker": "torch/lib/libtorch_global_deps.so", "packages": ["torch"], )"
      R"("main": [{"open": "libtorch_global_deps.so", "in": ["torch/lib"], "need": "tried"}])");
  const CheckOutcome r = Check("image.symbols", "", Team());
  ASSERT_EQ(r.gate.report["warning_notices"].size(), 1U);
  EXPECT_EQ(r.gate.report["warning_notices"][0]["code"], "knowledge-replaced");
  EXPECT_EQ(r.gate.report["warning_notices"][0]["args"]["rows"], "imports torch/lib/libtorch_global_deps.so");
}

TEST_F(KnowledgeRunTest, ABrokenFileIsRefusedWithItsPlace) {
  KnowAcme("perhaps");
  for (const GateResult& r :
       {Check("image.symbols", "", Team()).gate, Command({"facts", "--knowledge", gate().Path("team")}),
        Command({"knowledge", "--knowledge", gate().Path("team")})}) {
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.err, AllOf(HasSubstr(gate().Path("team") + "/imports.json:2:"), HasSubstr("\"need\"")));
  }
}

// Whoever lists, judges or explains says the same of it.
TEST_F(KnowledgeRunTest, ARemedyOfAnUnknownFindingIsRefusedWithItsPlace) {
  Know("remedies", "remedies", R"("finding": "library-mising", "remedy": "Ask the team.")");
  const std::string problem = gate().Path("team") +
                              "/remedies.json:2:14: error: no plugin declares the finding "
                              "\"library-mising\"; did you mean \"library-missing\"?";
  for (const GateResult& r : {Check("image.symbols", "", Team()).gate,
                              Command({"explain", "library-missing", "--knowledge", gate().Path("team")}),
                              Command({"explain", "--all", "--knowledge", gate().Path("team")}),
                              Command({"plugins", "--knowledge", gate().Path("team")}),
                              Command({"knowledge", "--knowledge", gate().Path("team")})}) {
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.err, HasSubstr(problem));
  }
}

TEST_F(KnowledgeRunTest, AnEmptyPathOfTheVariableIsRefused) {
  KnowAcme("must");
  Set("CUDNN_CI_KNOWLEDGE", gate().Path("team") + ":");
  const GateResult r = Command({"knowledge"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, Mentions("CUDNN_CI_KNOWLEDGE: error: ", "empty"));
  Set("CUDNN_CI_KNOWLEDGE", "");
  EXPECT_EQ(Command({"knowledge"}).exit_code, 0);
}

TEST_F(KnowledgeRunTest, AddedFactsAreCountedAndHaveTheirFile) {
  Know(
      "compatibility", "known_regressions",
      R"("id": "team_torch", "library": "torch", "what": "all of it", "effect": "crash", "first": "2.11.0", )"
      R"("last": null, "fixed": "2.12.0", "hits": {})");
  const std::string path = gate().Path("team") + "/compatibility.json";
  EXPECT_THAT(Command({"knowledge", "--knowledge", gate().Path("team")}).out,
              HasSubstr("cudnn-ci/compatibility/1  " + Today() + "  1 rows  " + path));
  EXPECT_THAT(Command({"knowledge", "team_torch", "--knowledge", gate().Path("team")}).out,
              HasSubstr("  file: " + path + "\n"));
}

// Each block of JSON of the page is a file.
TEST_F(KnowledgeRunTest, TheExamplesOfThePageAreTakenAsPrinted) {
  std::ifstream page(CUDNN_CI_SOURCE_DIR "/harness/docs/knowledge.md");
  std::string line, text;
  int blocks = 0;
  for (bool in_block = false; std::getline(page, line);) {
    if (line.compare(0, 3, "```") == 0) {
      if (in_block && text.compare(0, 1, "{") != 0)
        gate().Write("team/acme.py", text);
      else if (in_block)
        gate().Write("team/" + std::to_string(blocks++) + ".json", text);
      in_block = line == "```json" || line == "```python";
      text.clear();
    } else if (in_block) {
      text += line + "\n";
    }
  }
  EXPECT_EQ(blocks, 4);
  const GateResult r =
      Command({"knowledge", "acme_nccl_alltoall", "--knowledge", gate().Path("team"), "--allow-adapters"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_THAT(r.out, HasSubstr("known_regressions acme_nccl_alltoall"));
}

TEST_F(KnowledgeRunTest, TheCodeOfSeveralAdaptersIsNamedOnce) {
  const std::string folder = CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/adapters";
  const GateResult r = Run(Entry("driver.load"), {"--knowledge", folder, "--allow-adapters"});
  int named = 0;
  for (const json& file : r.report["judged"]["knowledge"]) named += file["path"] == folder + "/acme.py";
  EXPECT_EQ(named, 1);
}

TEST_F(KnowledgeRunTest, TheVariableNamesItAsWell) {
  KnowAcme("must");
  Set("CUDNN_CI_KNOWLEDGE", gate().Path("team"));
  const CheckOutcome r = Check("image.symbols");
  EXPECT_THAT(r.Slugs(), ElementsAre("library-missing"));
  EXPECT_EQ(r.gate.report["judged"]["knowledge"].back()["from"], "CUDNN_CI_KNOWLEDGE");
}

TEST_F(KnowledgeRunTest, TheCommandListsFilesAndRows) {
  KnowAcme("must");
  const GateResult files = Command({"knowledge", "--knowledge", gate().Path("team")});
  EXPECT_EQ(files.exit_code, 0) << files.err;
  EXPECT_THAT(files.out,
              AllOf(HasSubstr("cudnn-ci/compatibility/1  "), HasSubstr("cudnn-ci/compilers/1  "),
                    HasSubstr("cudnn-ci/packages/1  " + Today() + "  1 rows  " + gate().Path("team"))));
  const GateResult rows = Command({"knowledge", "acme-infer", "--knowledge", gate().Path("team")});
  EXPECT_EQ(rows.out,
            "packages python acme-infer\n  framework: Acme Infer\n  manager: python\n  name: acme-infer\n"
            "  source: the team's wiki (sure)\n  file: " +
                gate().Path("team") + "/packages.json\n");
  const json all = json::parse(Command({"knowledge", "--json"}).out, nullptr, false);
  EXPECT_EQ(all["schema"], "cudnn-ci/knowledge/1");
  EXPECT_GE(all["files"].size(), 4U);
  EXPECT_GT(all["rows"].size(), 150U);
  EXPECT_EQ(Command({"knowledge", "no-such-thing"}).exit_code, 2);
}

}  // namespace
}  // namespace cudnn_ci
