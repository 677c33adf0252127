// Plugin files that cannot be loaded: each is a red case with the loader's own words, and nobody else's
// matter.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

// Runs one healthy case beside the plugin; expects its load case to be red with those words, and no other.
void ExpectBroken(GateRun* run, const std::string& stem, const std::string& words,
                  const std::vector<std::string>& arguments = {}) {
  run->Matrix(Entry("fixture.pass"));
  const GateResult result = run->Run(arguments);
  const std::string id = "plugin.load[file=" + stem + "]";
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_EQ(result.Outcome("fixture.pass[i=0]"), "passed");
  EXPECT_EQ(result.Outcome(id), "errored");
  EXPECT_EQ(result.Errors(id), "harness.plugin-load");
  const json c = result.Case(id);
  ASSERT_FALSE(c.is_null());
  EXPECT_THAT(c["findings"][0]["detail"].get<std::string>(), ContainsRegex(words));
  EXPECT_THAT(run->LeftAfter(1), IsEmpty());
}

struct Built {
  std::string folder, words;
};
class BuiltPlugins : public testing::TestWithParam<Built> {};

TEST_P(BuiltPlugins, AreARedLoadCase) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/" + GetParam().folder);
  ExpectBroken(&run, GetParam().folder, GetParam().words, {"--load-timeout", "1"});
}

const Built kBuilt[] = {
    {"init_segv", "SIGSEGV .Segmentation fault. while it was loaded"},
    {"init_exit", "exit status 0 while it was loaded and described: a static initialiser called exit"},
    {"init_hang", "hung while it was loaded and described: killed after 1.000 s"},
    {"other_abi", "built for plugin ABI 2\\.[0-9]+, this cudnn-ci speaks 1\\.[0-9]+"},
    {"no_symbol", "does not export cudnn_ci_plugin_v1"},
    {"wrong_name", "names itself 'another_name', but the file is wrong_name.cci.so"},
    {"returns_null", "cudnn_ci_plugin_v1 returned NULL"},
    {"unresolved", "undefined symbol: cudnn_ci_fixture_that_nobody_defines"},
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

TEST_F(PluginFile, OfTextIsRefusedByTheLoader) {
  run_.Write("plugins/garbage.cci.so", std::string(5000, 'g'));
  ExpectBroken(&run_, "garbage", "invalid ELF header");
}

TEST_F(PluginFile, ThatIsEmptyIsRefusedByTheLoader) {
  run_.Write("plugins/empty.cci.so", "");
  ExpectBroken(&run_, "empty", "file too short");
}

TEST_F(PluginFile, ThatIsTruncatedIsARedLoadCase) {
  run_.Write("plugins/truncated.cci.so", Healthy().substr(0, 6000));
  ExpectBroken(&run_, "truncated", "file too short|SIGBUS|cannot|ELF");
}

TEST_F(PluginFile, OfAnotherArchitectureIsRefusedByTheLoader) {
  std::string content = Healthy();
  content[18] = '\xb7';  // e_machine: AArch64
  content[19] = '\0';
  run_.Write("plugins/foreign.cci.so", content);
  ExpectBroken(&run_, "foreign", "cannot open shared object file|wrong ELF class|invalid ELF|machine");
}

TEST_F(PluginFile, ThatIsADirectoryIsARedLoadCase) {
  fs::create_directory(run_.Path("plugins/folder.cci.so"));
  ExpectBroken(&run_, "folder", "not a regular file");
}

TEST_F(PluginFile, ThatLeadsNowhereIsARedLoadCase) {
  fs::create_symlink("/nowhere/at/all", run_.Path("plugins/gone.cci.so"));
  ExpectBroken(&run_, "gone", "No such file");
}

TEST_F(PluginFile, ThatMayNotBeReadIsARedLoadCase) {
  if (geteuid() == 0) run_.Before({"setpriv", "--reuid", "65534", "--clear-groups"});
  run_.Write("plugins/secret.cci.so", Healthy());
  chmod(run_.Path("plugins/secret.cci.so").c_str(), 0);
  chmod(run_.folder().c_str(), 0777);
  ExpectBroken(&run_, "secret", "Permission denied");
}

TEST_F(PluginFile, OfAnotherUserThatOthersMayWriteIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  run_.Before({"setpriv", "--reuid", "65534", "--clear-groups"});
  run_.Write("plugins/open.cci.so", Healthy());
  chmod(run_.Path("plugins/open.cci.so").c_str(), 0777);
  chmod(run_.folder().c_str(), 0777);
  ExpectBroken(&run_, "open", "refused: writable by others and owned by user 0");
}

TEST(PluginFilesTest, FactsThatCrashAreARedCaseOfEveryRun) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/facts_crash");
  run.Matrix(Entry("fixture.pass"));
  for (const std::vector<std::string>& selection :
       {std::vector<std::string>{}, {"--filter", "fixture.*"}, {"--shard", "2/2"}}) {
    const GateResult result = run.Run(selection);
    const std::string id = "plugin.facts[plugin=facts_crash,subject=system]";
    EXPECT_EQ(result.exit_code, 3) << result.out;
    EXPECT_EQ(result.Outcome(id), "errored");
    EXPECT_EQ(result.Errors(id), "runner.crashed");
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
  EXPECT_THAT(result.junit, HasSubstr("it reports another broken.name than facts_one"));
}

TEST(PluginFilesTest, TheSameFileByTwoWaysIsOnePlugin) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  EXPECT_EQ(run.Run({"--plugin-dir", CUDNN_CI_FIXTURES "/broken/../fixture"}).exit_code, 0);
}

TEST(PluginFilesTest, EntriesThatNeedABrokenPluginAreBlockedByIt) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/init_segv");
  run.Matrix(Entry("fixture.pass") + ", " + Entry("init_segv.check"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.report["totals"]["blocked"], 1);
  EXPECT_THAT(result.junit, HasSubstr("blocked by plugin.load[file=init_segv]"));
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
  EXPECT_THAT(dry.err, HasSubstr("a second plugin named \"fixture\""));
}

TEST(PluginFilesTest, APluginWithoutChecksIsRed) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/no_checks");
  run.Matrix(Entry("fixture.pass"));
  ExpectInvalid(run.Run(), {"no_checks.cci.so", "has no checks"});
}

TEST(PluginFilesTest, WhatOnePluginDeclaresWronglyIsRedAndPluginsCheckSaysTheSame) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/declares");
  run.Matrix(Entry("fixture.pass"));
  const std::vector<std::string> words = {
      "the plugin's version \"abc\" is not MAJOR.MINOR.PATCH",
      "a second finding \"fixture-image\"; the first is in",
      "declares.check requires \"declares.chek\", a check no plugin has; did you mean \"declares.check\"?",
      "a second check \"declares.check\"; the first is in the same file",
      "the default of \"n\" of declares.check, \"three\", is not JSON"};
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
  EXPECT_THAT(judged.out, ContainsRegex("^1 plugins, [0-9]+ checks: a run takes them as they are"));
}

}  // namespace
}  // namespace cudnn_ci
