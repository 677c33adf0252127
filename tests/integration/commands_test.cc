// The commands beside run, the selection of cases, and the places the installed tree may be run from.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "gate_run.h"
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

TEST(Commands, VersionAndHelpGoToStandardOutput) {
  GateRun run;
  EXPECT_THAT(run.Command({"--version"}).out, HasSubstr("cudnn-ci 0"));
  const GateResult help = run.Command({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("--matrix"));
}

TEST(Commands, ListNamesEveryCaseAndRunsNone) {
  GateRun run;
  run.Matrix(Entry("fixture.pass", R"("axes": {"i": [1, 2]})") + ", " +
             Entry("fixture.crash", R"("params": {"how": "segv"})"));
  const GateResult list = run.Command({"list", "--matrix", "matrix.json"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_EQ(list.out, "fixture.pass[i=1]\nfixture.pass[i=2]\nfixture.crash[how=segv]\n");
  const json j = json::parse(run.Command({"list", "--matrix", "matrix.json", "--json"}).out);
  EXPECT_EQ(j["cases"].size(), 3u);
}

TEST(Commands, DryRunListsAndLeavesNothing) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  const GateResult result = run.Run({"--dry-run"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("fixture.pass[i=0]"));
  EXPECT_FALSE(run.Exists("report/junit.xml"));
}

// cudnn_ci_add_test gives --gating: a 0 is to be a verdict, however what gates nothing is spelt.
TEST(Commands, GatingRefusesWhatIsNoVerdict) {
  GateRun run;
  run.Matrix(Entry("fixture.fail"));
  for (const char* word :
       {"--dry-run", "--dry-run=true", "--dry-run=1", "--dry-run=yes", "--report-only", "--report-only=on",
        "--help", "-h", "--version", "--version=true", "plugins", "list"}) {
    const GateResult r = run.Command({"--gating", "--matrix", "matrix.json", word});
    EXPECT_EQ(r.exit_code, 2) << word << r.out << r.err;
  }
  EXPECT_EQ(run.Run({"--gating"}).exit_code, 1);
  EXPECT_EQ(run.Run({"--gating", "--dry-run=false"}).exit_code, 1);
}

TEST(Commands, DryRunLeavesTheReportsOfAnEarlierRun) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  EXPECT_EQ(run.Run().exit_code, 0);
  const std::string report = run.Read("report/report.json"), journal = run.Read("report/journal.jsonl");
  ASSERT_NE(report, "");
  EXPECT_EQ(run.Run({"--dry-run"}).exit_code, 0);
  EXPECT_EQ(run.Read("report/report.json"), report);
  EXPECT_EQ(run.Read("report/journal.jsonl"), journal);
}

TEST(Commands, PluginsNamesChecksAndIsRedForABrokenOne) {
  GateRun run;
  // Summaries stand below each other, but behind a name that is too long for that.
  EXPECT_THAT(run.Command({"plugins"}).out,
              testing::AllOf(HasSubstr("fixture 1.0.0"),
                             HasSubstr("\n  fixture.numbers" + std::string(7, ' ') + "judges "),
                             HasSubstr("\n  fixture.numbers_as_they_are uses ")));
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/init_exit");
  const GateResult result = run.Command({"plugins", "--json"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(json::parse(result.out)["broken"][0]["stem"], "init_exit");
  EXPECT_THAT(result.out, HasSubstr("\"summary\": \"crashes ")) << "a parameter's, too";
}

TEST(Commands, FactsAreCollectedFromTheMachine) {
  GateRun run;
  run.UseFakeGpus(2);
  const json facts = json::parse(run.Command({"facts", "--json"}).out);
  EXPECT_EQ(facts["subjects"]["system"]["gpu.count"], "2");
}

TEST(Commands, ExplainKnowsTheHarnessAndEveryPlugin) {
  GateRun run;
  EXPECT_THAT(run.Command({"explain", "crashed"}).out, HasSubstr("  blame:    undetermined"));
  const GateResult result = run.Command({"explain", "fixture-undetermined"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("https://example.com/fixture-undetermined"));
  EXPECT_THAT(result.out, testing::ContainsRegex("declared: .*fixture\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("command:")));
  EXPECT_THAT(run.Command({"explain", "fixture-command"}).out,
              HasSubstr("command:  ENV A=b   (Dockerfile)\n"));
  EXPECT_EQ(run.Command({"explain", "fixture-imagee"}).exit_code, 2);
}

TEST(Commands, ExplainAllListsEveryFindingByName) {
  GateRun run;
  const GateResult text = run.Command({"explain", "--all"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\nfixture-undetermined\n  what: "));
  const json all = json::parse(run.Command({"explain", "--all", "--json"}).out);
  EXPECT_EQ(all["schema"], "cudnn-ci/findings/1");
  std::vector<std::string> slugs;
  for (const json& f : all["findings"]) slugs.push_back(f["slug"]);
  EXPECT_TRUE(std::is_sorted(slugs.begin(), slugs.end()));
  for (const char* slug : {"abandoned", "crashed", "fixture-image", "worker-exit"})
    EXPECT_THAT(slugs, testing::Contains(slug));
  EXPECT_EQ(all["findings"][0], json::parse(run.Command({"explain", slugs[0], "--json"}).out));
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/init_exit");
  const GateResult broken = run.Command({"explain", "--all"});
  EXPECT_EQ(broken.exit_code, 5);
  EXPECT_THAT(broken.err, HasSubstr(": init_exit"));
}

// Each command that takes --knowledge reads it, and says what it has replaced.
TEST(Commands, KnowledgeIsReadByEachCommandThatTakesIt) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Write("team.json", R"({"schema": "cudnn-ci/packages/1", "as_of": ")" + Today() +
                             R"(", "sources": {"s": "https://example.com"},
    "packages": [{"manager": "python", "name": "torch", "framework": "Ours", "source": "s", "confidence": "sure"}]})");
  const std::string team = run.Path("team.json"), matrix = run.Path("matrix.json");
  const std::vector<std::vector<std::string>> commands = {
      {"plugins"},  {"facts"}, {"list", "--matrix", matrix}, {"explain", "crashed"}, {"knowledge", "--json"},
      {"knowledge"}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--knowledge", team});
    const GateResult told = run.Command(command);
    EXPECT_EQ(told.exit_code, 0) << command[0] << told.err;
    EXPECT_THAT(told.err, HasSubstr(team)) << command[0];
    command.back() = run.Path("none.json");
    EXPECT_EQ(run.Command(command).exit_code, 2) << command[0];
  }
}

// By which messages people meet it, also where another finding has the row; a third party's has none.
TEST(Explain, TellsHowAFindingIsMet) {
  GateRun run;
  for (const char* slug : {"out-of-memory", "killed-from-outside"}) {
    const json finding = json::parse(run.Command({"explain", slug, "--json"}).out);
    ASSERT_EQ(finding["messages"].size(), 1u) << finding;
    EXPECT_EQ(finding["messages"][0]["text"], "Killed, exit 137");
  }
  const json crashed = json::parse(run.Command({"explain", "crashed", "--json"}).out);
  EXPECT_EQ(crashed["failure_modes"][0]["name"], "crash in a library");
  const json foreign = json::parse(run.Command({"explain", "fixture-image", "--json"}).out);
  EXPECT_TRUE(foreign["messages"].empty() && foreign["failure_modes"].empty()) << foreign;
}

// Texts as people have them in front of them: the first message has the finding, and says the cure.
TEST(Explain, TheTextOfAnErrorLeadsToItsCure) {
  GateRun run;
  const json texts = json::parse(std::ifstream(CUDNN_CI_SOURCE_DIR "/tests/fixtures/error_texts.json"));
  ASSERT_GE(texts.size(), 16u);
  for (const json& row : texts) {
    const json found = json::parse(run.Command({"explain", row["text"], "--json"}).out);
    ASSERT_EQ(found["schema"], "cudnn-ci/messages/1") << row;
    EXPECT_EQ(found["messages"][0]["findings"][0], row["finding"]) << row;
    EXPECT_THAT(found["messages"][0]["fix"], HasSubstr(row["says"])) << row;
  }
  // An id with blanks for hyphens, which no program prints, and ids in lines of reports.
  const std::pair<const char*, const char*> ids[] = {
      {"no engine", "no-engine"},
      {"No Engine", "no-engine"},
      {"runner.killed-from-outside: signal 9 of libcuda.so.1: cannot open shared object file",
       "killed-from-outside"},
      {"warning: subject-missing: no kernel image is available", "subject-missing"},
      {"root cause  image.crashed: Segmentation fault (core dumped)", "crashed"},
      {"root cause  image.fixture-image: seen", "fixture-image"}};
  for (const auto& [text, id] : ids)
    EXPECT_EQ(json::parse(run.Command({"explain", text, "--json"}).out)["slug"], id) << text;
  // Unquoted, in other letters; and what no message has.
  EXPECT_EQ(run.Command({"explain", "failed", "to", "find", "c", "compiler"}).out,
            run.Command({"explain", "Failed to find C compiler"}).out);
  EXPECT_EQ(run.Command({"explain", "The sky is blue"}).exit_code, 2);
  EXPECT_EQ(run.Command({"explain", " "}).exit_code, 2);
}

TEST(Commands, ExplainTakesOneNameOrAll) {
  GateRun run;
  const GateResult none = run.Command({"explain"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--all"));
  const GateResult both = run.Command({"explain", "crashed", "--all"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("--all"));
}

TEST(Commands, AnAnswerThatNobodyCanReadIsNoSuccess) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  GateMessages golden(run);
  for (const char* closed : {"exec \"$@\" >&-", "exec \"$@\" > /dev/full"}) {
    run.Before({"sh", "-c", closed, "sh"});
    for (const std::vector<std::string>& words : {std::vector<std::string>{"list", "--matrix", "matrix.json"},
                                                  {"list", "--json", "--matrix", "matrix.json"},
                                                  {"explain", "crashed"},
                                                  {"--version"},
                                                  {"list", "--help"},
                                                  {"--dry-run", "--matrix", "matrix.json"}}) {
      const GateResult result = run.Command(words);
      EXPECT_EQ(result.exit_code, 5) << closed << " " << words[0];
      EXPECT_THAT(golden.Row(words[0], result.err), HasSubstr("cudnn-ci: "));
    }
  }
}

// A matrix that is printed is read again.
TEST(Commands, APrintedMatrixHasNoCommandsToAPipelineAndMeansTheSame) {
  GateRun run;
  run.Matrix(Entry("fixture.fail"));
  ASSERT_EQ(run.Run().exit_code, 1);
  const GateResult waived =
      run.Command({"waive", "report/journal.jsonl", "--owner", "##vso[o]", "--days", "3"});
  EXPECT_EQ(waived.exit_code, 0) << waived.err;
  EXPECT_THAT(waived.out, Not(HasSubstr("##vso[")));
  EXPECT_THAT(waived.out, HasSubstr("\"#\\u0023vso[o]\""));
  const GateResult first = run.Command({"init", "-", "--name", "##vso[n]"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("\"#\\u0023vso[n]\""));
}

TEST(Commands, NumbersAreWholeAndPatternsAreNotEmpty) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  for (const char* jobs : {"2.5", "0", "4097", "010", "x", ""}) {
    const GateResult result = run.Command({"--matrix", "matrix.json", "--jobs", jobs});
    EXPECT_EQ(result.exit_code, 2) << jobs;
    EXPECT_THAT(result.err, HasSubstr("from 1 to 4096")) << jobs;
  }
  for (const char* option : {"--filter", "--case"}) {
    const GateResult result = run.Command({"--matrix", "matrix.json", option, ""});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(option));
  }
}

TEST(Commands, EachRunHasANumberThatIsNotOfTheClock) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  std::set<std::string> numbers;
  for (int i = 0; i < 6; ++i) {
    const std::string id = run.Run().Events("RunStarted").at(0)["run_id"];
    numbers.insert(id.substr(id.rfind('-') + 1));
  }
  EXPECT_EQ(numbers.size(), 6u);
}

TEST(Selection, ByFilterAndByCasePullsInWhatIsNeeded) {
  GateRun run;
  run.Matrix(Entry("fixture.convolution", R"("axes": {"i": [1, 2]})") + ", " + Entry("fixture.pass"));
  const GateResult filtered = run.Run({"--filter", "*convolution*-*i=2*"});
  EXPECT_EQ(filtered.exit_code, 0) << filtered.out;
  EXPECT_EQ(filtered.Outcome("fixture.driver"), "passed");
  EXPECT_EQ(filtered.Outcome("fixture.convolution[i=1]"), "passed");
  EXPECT_EQ(filtered.Outcome("fixture.convolution[i=2]"), "");
  EXPECT_EQ(filtered.Outcome("fixture.pass[i=0]"), "");
  EXPECT_THAT(filtered.report["partial"].get<std::string>(), HasSubstr("filter"));
  const GateResult one = run.Run({"--case", "fixture.pass[i=0]"});
  EXPECT_EQ(one.report["cases"].size(), 1u);
}

TEST(Selection, ShardsTogetherRunEveryCaseOnce) {
  GateRun run;
  run.Matrix(Entry("fixture.noop", R"("axes": {"i": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]})"));
  size_t cases = 0;
  for (const char* shard : {"1/3", "2/3", "3/3"}) cases += run.Run({"--shard", shard}).report["cases"].size();
  EXPECT_EQ(cases, 12u);
}

TEST(Selection, ShardAutoReadsTheVariablesOfThreeSystems) {
  GateRun run;
  run.Matrix(Entry("fixture.noop", R"("axes": {"i": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]})"));
  const auto list = [&](const std::string& shard) {
    return run.Command({"list", "--matrix", "matrix.json", "--shard", shard});
  };
  const std::vector<std::vector<std::pair<std::string, std::string>>> first_of_three = {
      {{"CI_NODE_INDEX", "1"}, {"CI_NODE_TOTAL", "3"}},
      {{"GTEST_SHARD_INDEX", "0"}, {"GTEST_TOTAL_SHARDS", "3"}},
      {{"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_ARRAY_TASK_COUNT", "3"}, {"SLURM_ARRAY_TASK_MIN", "5"}},
      {{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_COUNT", "3"}}};
  EXPECT_EQ(list("auto").exit_code, 2) << "none of them is set";
  for (const auto& variables : first_of_three) {
    const int first = std::stoi(variables[0].second);
    for (const auto& [name, value] : variables) run.Set(name, value);
    for (int shard = 1; shard <= 3; ++shard) {
      run.Set(variables[0].first, std::to_string(first + shard - 1));
      const GateResult result = list("auto");
      EXPECT_EQ(result.exit_code, 0) << variables[0].first << result.err;
      EXPECT_EQ(result.out, list(std::to_string(shard) + "/3").out) << variables[0].first;
    }
    run.Set(variables[0].first, std::to_string(first + 3));
    EXPECT_EQ(list("auto").exit_code, 2) << variables[0].first;
    EXPECT_EQ(list("auto").err, "cudnn-ci: --shard auto: the variables give part 4 of 3\n");
    for (const auto& [name, value] : variables) run.Set(name, "");
  }
}

TEST(Selection, ShardAutoOfANumberReadsAlsoTheIndexOfAKubernetesJob) {
  GateRun run;
  run.Matrix(Entry("fixture.noop", R"("axes": {"i": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]})"));
  const auto list = [&](const std::string& shard) {
    return run.Command({"list", "--matrix", "matrix.json", "--shard", shard});
  };
  EXPECT_EQ(list("auto/3").exit_code, 2) << "no variable is set";
  for (const char* wrong : {"auto/", "auto/0", "auto/x", "auto/3/4", "auto/10001", "auto/+3", "/3", "2/",
                            "1/10001", "+1/2", " 1/2", "-1/2", ""})
    EXPECT_EQ(list(wrong).exit_code, 2) << wrong;
  EXPECT_EQ(list("1/10000").exit_code, 0);
  EXPECT_THAT(list("1/10001").err, HasSubstr("1 <= I <= N <= 10000"));
  for (int i = 0; i < 3; ++i) {
    run.Set("JOB_COMPLETION_INDEX", std::to_string(i));
    EXPECT_EQ(list("auto/3").out, list(std::to_string(i + 1) + "/3").out);
  }
  EXPECT_EQ(list("auto").exit_code, 2) << "it tells no number of parts";
  run.Set("JOB_COMPLETION_INDEX", "3");
  EXPECT_EQ(list("auto/3").exit_code, 2);
  run.Set("JOB_COMPLETION_INDEX", "");
  run.Set("CI_NODE_INDEX", "2");
  run.Set("CI_NODE_TOTAL", "3");
  EXPECT_EQ(list("auto/3").out, list("2/3").out);
  EXPECT_EQ(list("auto/4").exit_code, 2) << "GitLab says there are three";
}

// Each node runs all cases, and is a part all the same.
TEST(Selection, NodesAutoReadsTheVariablesOfLaunchers) {
  GateRun run;
  run.Matrix(Entry("fixture.noop", R"("axes": {"i": [1, 2]})"));
  const auto run_as = [&](const std::string& nodes) { return run.Run({"--nodes", nodes}); };
  EXPECT_EQ(run_as("auto").exit_code, 2) << "no variable is set";
  for (const char* wrong : {"auto/2", "0/2", "3/2", "1/129", "2", ""})
    EXPECT_EQ(run_as(wrong).exit_code, 2) << wrong;
  run.Set("SLURM_PROCID", "1");
  run.Set("SLURM_NTASKS", "2");
  const GateResult second = run_as("auto");
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(second.report["cases"].size(), 2u);
  EXPECT_THAT(second.out, HasSubstr("partial: node 2/2"));
  EXPECT_EQ(run.Run({"--nodes", "auto", "--shard", "1/2"}).exit_code, 2);
  run.Set("SLURM_NTASKS", "1");
  EXPECT_EQ(run_as("auto").exit_code, 2) << "task 1 of one";
}

TEST(Selection, TheStaticStageNeedsNoDeviceAndIsPartial) {
  GateRun run;
  run.UseFakeGpus(1);
  run.Matrix(Entry("fixture.pass") + ", " + Entry("fixture.gpu_shared"));
  const GateResult all = run.Run({"--stage", "all"});
  EXPECT_EQ(all.report["cases"].size(), 2u);
  EXPECT_TRUE(all.report["partial"].is_null());
  const GateResult stage = run.Run({"--stage", "static"});
  EXPECT_EQ(stage.exit_code, 0) << stage.err;
  ASSERT_EQ(stage.report["cases"].size(), 1u);
  EXPECT_EQ(stage.report["cases"][0]["id"], "fixture.pass[i=0]");
  EXPECT_THAT(stage.report["partial"].get<std::string>(), HasSubstr("static stage"));
}

TEST(Places, ACopyOfTheTreeUnderAnotherPathGivesTheSameVerdict) {
  GateRun run;
  run.Matrix(Entry("fixture.pass") + ", " + Entry("fixture.fail"));
  fs::copy(CUDNN_CI_TREE, run.Path("a tree & more"), fs::copy_options::recursive);
  run.UseExecutable(run.Path("a tree & more/bin/cudnn-ci"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.Outcome("fixture.pass[i=0]"), "passed");
}

TEST(Places, AnotherUserGetsTheSameVerdict) {
  if (const std::string why = WhyNoOtherUser(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  run.Matrix(Entry("fixture.pass") + ", " + Entry("fixture.fail"));
  chmod(run.folder().c_str(), 0777);
  run.Before({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"});
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(result.Outcome("fixture.pass[i=0]"), "passed");
}

TEST(Places, ABrokenStandardLibraryOfTheImageDoesNotMatter) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's own library needs libstdc++";
  GateRun run;
  run.Matrix(Entry("fixture.pass") + ", " + Entry("fixture.throws"));
  fs::create_directory(run.Path("lib"));
  for (const char* name : {"lib/libstdc++.so.6", "lib/libgcc_s.so.1", "lib/libtinyxml2.so.9"})
    run.Write(name, "garbage");
  run.Set("LD_LIBRARY_PATH", run.Path("lib"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_EQ(result.Outcome("fixture.pass[i=0]"), "passed");
  EXPECT_EQ(result.Errors("fixture.throws[what=exception]"), "harness.uncaught-exception");
}

TEST(Places, AnIncompleteInstallationSaysWhatIsMissing) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  fs::copy(CUDNN_CI_TREE, run.Path("tree"), fs::copy_options::recursive);
  fs::remove(run.Path("tree/libexec/cudnn-ci-worker"));
  run.UseExecutable(run.Path("tree/bin/cudnn-ci"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(GateMessages(run).Row("no worker", result.err), HasSubstr("libexec/cudnn-ci-worker "));
}

}  // namespace
}  // namespace cudnn_ci
