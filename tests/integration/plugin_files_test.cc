// Plugin files that cannot be loaded: each is a red case with the loader's own words, and nobody else's
// matter.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>

#include "gate_run.h"
#include "golden_messages.h"

namespace cudnn_ci {
namespace {

using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
namespace fs = std::filesystem;

// Runs one healthy case beside the plugin; expects its load case to be red with those words, and no other.
// Returns the detail.
std::string ExpectBroken(GateRun* run, const std::string& stem, const std::string& words,
                         const std::vector<std::string>& arguments = {}) {
  run->Matrix(Entry("fixture.pass"));
  const GateResult result = run->Run(arguments);
  const std::string id = "plugin.load[file=" + stem + "]";
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_EQ(result.Outcome("fixture.pass[i=0]"), "passed");
  EXPECT_EQ(result.Outcome(id), "errored");
  EXPECT_EQ(result.Errors(id), "harness.plugin-load");
  EXPECT_THAT(run->LeftAfter(1), IsEmpty());
  const json c = result.Case(id);
  std::string detail = c.is_null() ? "" : c["findings"][0]["detail"].get<std::string>();
  EXPECT_THAT(detail, ContainsRegex(words));
  return detail;
}

struct Built {
  std::string folder, argument;
  bool is_ours = true;  // the whole detail is the harness's, so a golden holds it
};
class BuiltPlugins : public testing::TestWithParam<Built> {};

TEST_P(BuiltPlugins, AreARedLoadCase) {
  const Built& built = GetParam();
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/" + built.folder);
  const std::string detail = ExpectBroken(&run, built.folder, built.argument, {"--load-timeout", "1"});
  if (!built.is_ours) return;
  GoldenMessages golden("plugin_files.txt", {{CUDNN_CI_FIXTURES, "FIXTURES"}});
  golden.Row(built.folder, detail);
}

const Built kBuilt[] = {
    {"init_segv", "SIGSEGV", false},
    {"init_exit", "status 0"},
    {"init_hang", "1\\.000 s"},
    {"other_abi", "ABI 2\\.[0-9]+.* 1\\.[0-9]+", false},
    {"no_symbol", "cudnn_ci_plugin_v1"},
    {"wrong_name", "'another_name'.*wrong_name.cci.so"},
    {"two_lines", "two-lines"},
    {"returns_null", "cudnn_ci_plugin_v1 .*NULL"},
    {"unresolved", "cudnn_ci_fixture_that_nobody_defines", false},
};
INSTANTIATE_TEST_SUITE_P(All, BuiltPlugins, testing::ValuesIn(kBuilt),
                         [](const auto& plugin) { return plugin.param.folder; });

// A folder with one file that is not as it should be.
class PluginFile : public testing::Test {
 protected:
  PluginFile() {
    fs::create_directory(run_.Path("plugins"));
    run_.AddPlugins(run_.Path("plugins"));
  }
  std::string Healthy() const {
    std::string content = run_.Read("plugins/../" + fs::relative(kPlugin, run_.folder()).string());
    return content;
  }
  static constexpr const char* kPlugin = CUDNN_CI_FIXTURES "/broken/duplicate/fixture.cci.so";
  GateRun run_;
};

TEST_F(PluginFile, OfAHostileNameSteersNoTerminal) {
  run_.Write("plugins/a\x1b[2Jb.cci.so", "no plugin");
  const GateResult result = run_.Command({"plugins"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.out, HasSubstr("/ab.cci.so\n"));
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
}

TEST_F(PluginFile, OfTextIsRefusedByTheLoader) {
  run_.Write("plugins/garbage.cci.so", std::string(5000, 'g'));
  ExpectBroken(&run_, "garbage", "invalid ELF header");
}

TEST_F(PluginFile, ThatIsEmptyIsRefusedByTheLoader) {
  run_.Write("plugins/empty.cci.so", "");
  ExpectBroken(&run_, "empty", "too short");
}

TEST_F(PluginFile, ThatIsTruncatedIsARedLoadCase) {
  run_.Write("plugins/truncated.cci.so", Healthy().substr(0, 6000));
  ExpectBroken(&run_, "truncated", "too short|SIGBUS|cannot|ELF");
}

TEST_F(PluginFile, OfAnotherArchitectureIsRefusedByTheLoader) {
  std::string content = Healthy();
  content[18] = '\xb7';  // e_machine: AArch64
  content[19] = '\0';
  run_.Write("plugins/foreign.cci.so", content);
  ExpectBroken(&run_, "foreign", "cannot open|wrong ELF|invalid ELF|machine");
}

TEST_F(PluginFile, ThatIsADirectoryIsARedLoadCase) {
  fs::create_directory(run_.Path("plugins/folder.cci.so"));
  ExpectBroken(&run_, "folder", "regular file");
}

TEST_F(PluginFile, ThatLeadsNowhereIsARedLoadCase) {
  fs::create_symlink("/nowhere/at/all", run_.Path("plugins/gone.cci.so"));
  ExpectBroken(&run_, "gone", std::strerror(ENOENT));
}

TEST_F(PluginFile, ThatMayNotBeReadIsARedLoadCase) {
  if (geteuid() == 0) {
    if (const std::string why = WhyNoOtherUser(); !why.empty()) GTEST_SKIP() << why;
    run_.Before({"setpriv", "--reuid", "65534", "--clear-groups"});
  }
  run_.Write("plugins/secret.cci.so", Healthy());
  chmod(run_.Path("plugins/secret.cci.so").c_str(), 0);
  chmod(run_.folder().c_str(), 0777);
  ExpectBroken(&run_, "secret", "Permission denied");
}

TEST_F(PluginFile, OfAnotherUserThatOthersMayWriteIsRefused) {
  if (const std::string why = WhyNoOtherUser(); !why.empty()) GTEST_SKIP() << why;
  run_.Before({"setpriv", "--reuid", "65534", "--clear-groups"});
  run_.Write("plugins/open.cci.so", Healthy());
  chmod(run_.Path("plugins/open.cci.so").c_str(), 0777);
  chmod(run_.folder().c_str(), 0777);
  ExpectBroken(&run_, "open", "refused: .* user 0");
}

// The warnings of a run with the healthy plugin in the folder.
TEST_F(PluginFile, ThatOthersMayChangeIsAWarning) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  run_.WithoutFixture();
  run_.AddPlugins(run_.Path("plugins"));
  run_.Matrix(Entry("fixture.check"));
  run_.Write("plugins/fixture.cci.so", Healthy());
  const std::string file = run_.Path("plugins/fixture.cci.so"), folder = run_.Path("plugins");
  const auto warnings = [&] {
    const GateResult result = run_.Run();
    EXPECT_EQ(result.exit_code, 0) << result.out;
    const std::string codes = result.report["warning_codes"].dump();
    return codes + result.report["warnings"].dump();
  };
  const auto warned = [](const char* code, const std::string& path, const char* argument) {
    return testing::AllOf(testing::StartsWith("[\"" + std::string(code) + "\"]"),
                          HasSubstr("\"" + path + " "), HasSubstr(argument));
  };
  chmod(file.c_str(), 0644);
  chmod(folder.c_str(), 0755);
  EXPECT_EQ(warnings(), "[][]");
  chmod(file.c_str(), 0666);
  EXPECT_THAT(warnings(), warned("plugin-writable", file, ""));
  const GateResult judged = run_.Command({"plugins", "--check"});
  EXPECT_EQ(judged.exit_code, 0);
  EXPECT_THAT(judged.out, HasSubstr("warning: " + file + " "));
  chmod(file.c_str(), 0644);
  ASSERT_EQ(chown(file.c_str(), 12345, 0), 0);
  EXPECT_THAT(warnings(), warned("plugin-owner", file, " 12345,"));
  ASSERT_EQ(chown(file.c_str(), 0, 0), 0);
  chmod(folder.c_str(), 0777);
  EXPECT_THAT(warnings(), warned("plugin-writable", folder, ""));
  chmod(folder.c_str(), 0755);
  ASSERT_EQ(chown(folder.c_str(), 12345, 0), 0);
  EXPECT_THAT(warnings(), warned("plugin-owner", folder, " 12345,"));
}

TEST_F(PluginFile, OfMoreThanAPluginHoldsIsRefused) {
  run_.Write("plugins/large.cci.so", Healthy());
  ASSERT_EQ(truncate(run_.Path("plugins/large.cci.so").c_str(), (256 << 20) + 1), 0);
  ExpectBroken(&run_, "large", "larger than 256 MiB");
}

TEST_F(PluginFile, IsReadNoFurtherOnceASignalHasCome) {
  for (int i = 0; i < 40; ++i) {  // sparse, so that they cost nothing but to be hashed
    const std::string name = "plugins/p" + std::to_string(i) + ".cci.so";
    run_.Write(name, "");
    ASSERT_EQ(truncate(run_.Path(name).c_str(), 256 << 20), 0);
  }
  run_.Matrix(Entry("fixture.pass"));
  const pid_t pid = run_.Start();
  while (!run_.Exists("report/junit.xml")) usleep(10'000);
  const auto begin = std::chrono::steady_clock::now();
  kill(pid, SIGTERM);
  EXPECT_EQ(run_.Wait(pid).exit_code, 143);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(PluginFile, InAFolderThatCannotBeReadIsARedLoadCase) {
  if (geteuid() == 0) {
    if (const std::string why = WhyNoOtherUser(); !why.empty()) GTEST_SKIP() << why;
    run_.Before({"setpriv", "--reuid", "65534", "--clear-groups"});
  }
  chmod(run_.folder().c_str(), 0777);
  chmod(run_.Path("plugins").c_str(), 0);
  ExpectBroken(&run_, "plugins", "folder .*Permission denied");
}

TEST(PluginFilesTest, FactsThatCrashAreARedCaseOfEveryRun) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/facts_crash");
  run.Matrix(Entry("fixture.pass"));
  for (const std::vector<std::string>& selection :
       {std::vector<std::string>{}, {"--filter", "fixture.*"}, {"--shard", "2/2"}}) {
    const GateResult result = run.Run(selection);
    const std::string id = "plugin.facts[plugin=facts_crash,subject=system]";
    EXPECT_EQ(result.exit_code, 5) << result.out;
    EXPECT_EQ(result.Outcome(id), "errored");
    EXPECT_EQ(result.Errors(id), "harness.crashed");
  }
}

TEST(PluginFilesTest, FactsThatContradictEachOtherAreARedCase) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/facts_one");
  run.Matrix(Entry("fixture.pass"));
  EXPECT_EQ(run.Run().exit_code, 0);
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/facts_two");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5) << result.out;
  EXPECT_EQ(result.Errors("plugin.facts[plugin=facts_two,subject=system]"), "harness.plugin-invalid");
  EXPECT_THAT(result.junit, testing::ContainsRegex("broken.name [a-z ]*facts_one"));
}

// However near the answer and the end of its time are: a description is there, or its plugin is to blame.
TEST(PluginFilesTest, ADescriptionInTheMomentItsTimeIsUpIsThePluginsFault) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  for (const char* limit : {"0.001", "0.003", "0.005", "0.007", "0.01", "0.015", "0.02"}) {
    const GateResult result = run.Run({"--load-timeout", limit});
    EXPECT_THAT(result.exit_code, AnyOf(0, 5)) << limit << result.out;
    EXPECT_EQ(result.Errors("plugin.load[file=fixture]"), result.exit_code == 5 ? "harness.plugin-load" : "");
  }
}

// Devices must not come from facts that cannot be: neither invented nor cut to what fits.
TEST(PluginFilesTest, FactsOfGpusThatCannotBeAreARedCase) {
  struct {
    const char *facts, *words;
  } const told_facts[] = {
      {"gpu.count=3", "gpu.0.uuid is missing"},
      {"gpu.count=100000", "gpu.count is \"100000\""},
      {"gpu.count=-4", "gpu.count is \"-4\""},
      {"gpu.count=two", "gpu.count is \"two\""},
  };
  for (const auto& told : told_facts) {
    GateRun run;
    run.AddPlugins(CUDNN_CI_FIXTURES "/broken/facts_told");
    run.Matrix(Entry("fixture.pass"));
    run.Set("FIXTURE_FACTS", told.facts);
    const GateResult result = run.Run({"--device", "all"});
    EXPECT_EQ(result.exit_code, 5) << result.out;
    EXPECT_EQ(result.Errors("plugin.facts[plugin=facts_told,subject=system]"), "harness.plugin-invalid");
    EXPECT_THAT(result.out, HasSubstr(told.words));
    EXPECT_TRUE(result.Events("RunStarted").at(0)["devices"].empty()) << told.facts;
  }
}

TEST(PluginFilesTest, GpusThatAreHonestlyUnknownAreNoFault) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/facts_told");
  run.Matrix(Entry("fixture.pass"));
  for (const char* told : {"", "gpu.error=unknown", "gpu.count=0", "gpu.count=1 gpu.0.uuid=GPU-1"}) {
    run.Set("FIXTURE_FACTS", told);
    EXPECT_EQ(run.Run().exit_code, 0) << told;
  }
}

TEST(PluginFilesTest, FactsOfGpusInOneOfTwoSubjectsAreJudgedToo) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/facts_told");
  std::filesystem::create_directory(run.Path("libs"));
  run.Write("libs/libx.so", "");
  run.Matrix(Entry("fixture.pass"), 20,
             ", \"subjects\": {\"system\": \"loader\", \"own\": \"path:" + run.Path("libs") + "\"}");
  run.Set("FIXTURE_FACTS", "gpu.count=3");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5) << result.out << result.err;
  EXPECT_EQ(result.report["totals"]["errored"], 1);
}

TEST(PluginFilesTest, TheSameFileByTwoWaysIsOnePlugin) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  EXPECT_EQ(run.Run({"--plugin-dir", CUDNN_CI_FIXTURES "/broken/../fixture"}).exit_code, 0);
}

// A plugin that is not the tool's own judges with it: the reports say who brought it.
TEST(PluginFilesTest, WhereAPluginComesFromIsInEveryReport) {
  GateRun run;  // fixture comes from CUDNN_CI_PLUGIN_PATH
  run.Matrix(Entry("fixture.pass"));
  const std::string other = CUDNN_CI_FIXTURES "/broken/facts_told";
  const GateResult result = run.Run({"--plugin-dir", other, "--plugin-dir", CUDNN_CI_FIXTURES "/fixture"});
  std::map<std::string, std::string> from;
  for (const json& plugin : result.report["plugins"]) from[plugin["name"]] = plugin.value("from", "the tool");
  EXPECT_EQ(from["fixture"], "CUDNN_CI_PLUGIN_PATH");
  EXPECT_EQ(from["facts_told"], "--plugin-dir");
  const json started = result.Events("RunStarted").at(0);
  for (const json& plugin : started["plugins"])
    EXPECT_EQ(plugin.value("from", "the tool"), from[plugin["name"]]);
  const std::string page = run.Read("report/report.html");
  for (const std::string& words :
       {"from --plugin-dir: " + other + "/facts_told.cci.so",
        std::string("from CUDNN_CI_PLUGIN_PATH: " CUDNN_CI_FIXTURES "/fixture/fixture.cci.so")})
    for (const std::string& text : {page, result.junit}) EXPECT_THAT(text, HasSubstr(words));
  EXPECT_THAT(result.out, HasSubstr("from --plugin-dir: "));
}

// Of the tool's own folder, however it is named a second time.
TEST(PluginFilesTest, ThePluginsOfTheToolAreNotCalledForeign) {
  GateRun run;
  for (const char* folder : {"tool/bin", "tool/libexec", "tool/plugins"})
    fs::create_directories(run.Path(folder));
  for (const char* file : {"bin/cudnn-ci", "libexec/cudnn-ci-worker"})
    fs::copy_file(std::string(CUDNN_CI_TREE "/") + file, run.Path(std::string("tool/") + file));
  fs::copy_file(CUDNN_CI_FIXTURES "/fixture/fixture.cci.so", run.Path("tool/plugins/fixture.cci.so"));
  fs::create_directory_symlink(CUDNN_CI_TREE "/knowledge", run.Path("tool/knowledge"));
  fs::create_symlink(run.Path("tool/plugins"), run.Path("again"));
  run.WithoutFixture();
  run.UseExecutable(run.Path("tool/bin/cudnn-ci"));
  run.Matrix(Entry("fixture.pass"));
  const GateResult result = run.Run({"--plugin-dir", run.Path("again")});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  ASSERT_EQ(result.report["plugins"].size(), 1u);
  EXPECT_FALSE(result.report["plugins"][0].contains("from"));
  EXPECT_THAT(result.out, Not(HasSubstr("from --plugin-dir")));
}

TEST(PluginFilesTest, EntriesThatNeedABrokenPluginAreBlockedByIt) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/init_segv");
  run.Matrix(Entry("fixture.pass") + ", " + Entry("init_segv.check"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.report["totals"]["blocked"], 1);
  EXPECT_EQ(result.Case("init_segv.check")["blocked_by"], "plugin.load[file=init_segv]");
}

// Plugins whose declarations are wrong: nothing runs, the reports are red and say which file.
void ExpectInvalid(const GateResult& result, const std::vector<std::string>& words) {
  EXPECT_EQ(result.exit_code, 5) << result.out << result.err;
  EXPECT_TRUE(result.Events("AttemptStarted").empty());
  std::string details;
  for (const json& e : result.Events("Finding"))
    if (e["finding"]["slug"] == "plugin-invalid") details += e["finding"]["detail"].get<std::string>() + "\n";
  for (const std::string& w : words) {
    EXPECT_THAT(details, HasSubstr(w));
    EXPECT_THAT(result.out, HasSubstr("plugin-invalid"));
  }
  EXPECT_THAT(result.junit, ContainsRegex("<(error|failure)"));
}

TEST(PluginFilesTest, TwoPluginsOfOneNameAreRedAndNamedBoth) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/duplicate");
  run.Matrix(Entry("fixture.pass"));
  ExpectInvalid(run.Run(), {CUDNN_CI_FIXTURES "/broken/duplicate/fixture.cci.so",
                            CUDNN_CI_FIXTURES "/fixture/fixture.cci.so"});
  EXPECT_EQ(run.Command({"list", "--matrix", "matrix.json"}).exit_code, 5);
  const GateResult dry = run.Command({"--matrix", "matrix.json", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 5);
  EXPECT_THAT(dry.err, HasSubstr("\"fixture\"; the first "));
}

TEST(PluginFilesTest, APluginWithoutChecksIsRed) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/no_checks");
  run.Matrix(Entry("fixture.pass"));
  ExpectInvalid(run.Run(), {"no_checks.cci.so"});
}

TEST(PluginFilesTest, WhatOnePluginDeclaresWronglyIsRedAndPluginsCheckSaysTheSame) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/declares");
  run.Matrix(Entry("fixture.pass"));
  const std::vector<std::string> words = {"version \"abc\"", "finding \"fixture-image\"", "\"declares.chek\"",
                                          "check \"declares.check\"; ", "\"three\""};
  ExpectInvalid(run.Run(), words);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"plugins", "--check"}, {"plugins"}}) {
    const GateResult judged = run.Command(command);
    EXPECT_EQ(judged.exit_code, 5);
    for (const std::string& w : words) EXPECT_THAT(judged.out, HasSubstr(w));
  }
  const GateResult as_json = run.Command({"plugins", "--json"});
  EXPECT_EQ(as_json.exit_code, 5);
  EXPECT_EQ(json::parse(as_json.out)["problems"].size(), words.size());
}

TEST(PluginFilesTest, PluginsCheckHasNothingAgainstAGoodOne) {
  GateRun run;
  const GateResult judged = run.Command({"plugins", "--check"});
  EXPECT_EQ(judged.exit_code, 0) << judged.out;
  EXPECT_THAT(judged.out, ContainsRegex("^1 plugins, [0-9]+ checks: "));
}

}  // namespace
}  // namespace cudnn_ci
