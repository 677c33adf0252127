// The command facts: the picture of an image on one screen, and as JSON that its schema describes.
#include <stdlib.h>

#include "environments_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class FactsTest : public EnvironmentsTest {
 protected:
  FactsTest() {
    gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // with matrices beside it
    MakeEnvironment("venv", {"nvidia_cudnn_cu13-9.19.0.56", "torch-2.11.0+cu130"});
    Set("VIRTUAL_ENV", gate().Path("venv"));
  }
  GateResult Facts(const std::vector<std::string>& more = {}) {
    Compose();
    std::vector<std::string> words = {"facts"};
    words.insert(words.end(), more.begin(), more.end());
    return gate().Command(words);
  }
  // What is said, whatever the breaks between its words.
  static std::string Words(const std::string& text) {
    std::string words;
    for (const char c : text) {
      const bool blank = c == ' ' || c == '\n';
      if (!blank || (!words.empty() && words.back() != ' ')) words += blank ? ' ' : c;
    }
    return words;
  }
  // The JSON, which its schema must take.
  json Json(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"--json"};
    words.insert(words.end(), more.begin(), more.end());
    const GateResult r = Facts(words);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    const std::string command = "python3 -B '" CUDNN_CI_SOURCE_DIR
                                "/tests/integration/reports.py' facts '" CUDNN_CI_SOURCE_DIR
                                "/harness/report/schemas' '" +
                                gate().Path("stdout") + "'";
    EXPECT_EQ(system(command.c_str()), 0) << r.out;
    return json::parse(r.out, nullptr, false);
  }
  // The element of a list whose member has this value; null: there is none.
  static json Find(const json& list, const char* member, const std::string& value) {
    for (const json& element : list)
      if (element[member] == value) return element;
    return nullptr;
  }
};

TEST_F(FactsTest, OneScreenHasDriverGpuToolkitCudnnEnvironmentsAndVariables) {
  Set("LD_PRELOAD", "/nowhere/libpreloaded.so");
  const GateResult r = Facts();
  EXPECT_EQ(r.exit_code, 0) << r.err;
  const std::string said = Words(r.out);
  EXPECT_THAT(said, AllOf(HasSubstr("cudnn-ci 0."), HasSubstr(", by NVML, "), HasSubstr("; supports CUDA "),
                          HasSubstr("gpu0: "), HasSubstr("system (loader): CUDA runtime 13.0, cuDNN 9.19.0"),
                          HasSubstr(NameOf("venv") + " (" + Python("venv") + "): CUDA runtime 13.0"),
                          HasSubstr("13.0 in " + FakeFolder("cudart13") + " (loader path): used by ")));
  EXPECT_THAT(said, Mentions("PyTorch 2.11.0+cu130", "cuDNN 9.19.0 for CUDA 13",
                             "LD_PRELOAD=/nowhere/libpreloaded.so", "cu13 (CUDA toolkit 13.0)"));
  EXPECT_THAT(said, Not(HasSubstr("gpu.count")));
}

TEST_F(FactsTest, TheJsonHasTheSameAndEveryFact) {
  const json j = Json();
  EXPECT_EQ(j["subjects"]["system"]["gpu.count"], "1");
  EXPECT_EQ(j["subjects"][NameOf("venv")]["cudnn.version"], "9.19.0");
  EXPECT_EQ(j["driver"]["source"], "NVML, which may not be the host's");
  EXPECT_EQ(j["gpus"].size(), 1u);
  const json venv = Find(j["views"], "name", NameOf("venv"));
  EXPECT_EQ(venv["judged"], false);
  EXPECT_EQ(venv["folders"], json::array({Cudnn("venv")}));
  const json copy =
      Find(j["cudnn"], "path", std::filesystem::canonical(Cudnn("venv")).string() + "/libcudnn.so.9");
  EXPECT_EQ(copy["used_by"], json::array({NameOf("venv")}));
  EXPECT_EQ(copy["cuda"], "13");
  EXPECT_EQ(copy["gated"], false);
  EXPECT_EQ(Find(j["environments"], "interpreter", Interpreter("venv"))["frameworks"][0]["title"], "PyTorch");
  EXPECT_EQ(j["auto"]["matrix"], "cu13");
  EXPECT_TRUE(j["matrix"].is_null());
}

TEST_F(FactsTest, AMatrixIsSetBesideWhatItsSubjectsHave) {
  gate().Write("team.json", R"({"schema": "cudnn-ci/matrix/1", "name": "team", "subjects": {"mine": ")" +
                                Python("venv") + R"(", "gone": "path:/nowhere/at/all"},
      "image": {"cudnn": ">=9.20", "toolkit": ">=13.0 <14"}, "runner": {"gpus": ">=1"}, "checks": []})");
  const GateResult r = Facts({"--matrix", gate().Path("team.json")});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(
      Words(r.out),
      AllOf(HasSubstr(" contract team ("), HasSubstr("not fit image.cudnn >=9.20: 9.19.0 (mine)"),
            HasSubstr("fits image.toolkit >=13.0 <14: 13.0 (mine)"), HasSubstr("fits runner.gpus >=1: 1"),
            HasSubstr("/nowhere/at/all: "), Not(HasSubstr("--auto"))));
  const json j = Json({"--matrix", gate().Path("team.json")});
  EXPECT_EQ(j["matrix"]["name"], "team");
  const json promise = Find(j["matrix"]["promises"], "promise", "image.cudnn");
  EXPECT_EQ(promise["range"], ">=9.20");
  EXPECT_EQ(promise["fits"], false);
  EXPECT_TRUE(Find(j["views"], "name", NameOf("venv")).is_null()) << "it is \"mine\"";
  EXPECT_TRUE(j["auto"].is_null());
  gate().Write("team.json", "{");
  const GateResult broken = Facts({"--matrix", gate().Path("team.json")});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, HasSubstr("team.json:1:"));
}

TEST_F(FactsTest, EnvironmentsThatAMatrixDoesNotNameAreShownAndNotJudged) {
  gate().Write(
      "team.json",
      R"({"schema": "cudnn-ci/matrix/1", "name": "team", "image": {"cudnn": ">=9.12"}, "checks": []})");
  const json j = Json({"--matrix", gate().Path("team.json")});
  EXPECT_EQ(Find(j["views"], "name", NameOf("venv"))["judged"], false);
  EXPECT_EQ(Find(j["views"], "name", "system")["judged"], true);
  const json copy =
      Find(j["cudnn"], "path", std::filesystem::canonical(Cudnn("venv")).string() + "/libcudnn.so.9");
  EXPECT_EQ(copy["gated"], false);
  EXPECT_EQ(j["matrix"]["promises"].size(), 1u);
}

TEST_F(FactsTest, WithAutomaticSubjectsOnlyWhatARunWouldJudgeIsHeldToThePromises) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  gate().Write("team.json", R"({"schema": "cudnn-ci/matrix/1", "name": "team", "subjects": "auto",
      "image": {"cudnn": ">=9.12"}, "checks": []})");
  const json j = Json({"--matrix", gate().Path("team.json")});
  EXPECT_EQ(Find(j["views"], "name", "system")["judged"], false) << "a run leaves it out";
  EXPECT_EQ(Find(j["views"], "name", NameOf("venv"))["judged"], true);
  EXPECT_TRUE(Find(j["matrix"]["promises"], "subject", "system").is_null());
  EXPECT_EQ(Find(j["matrix"]["promises"], "subject", NameOf("venv"))["fits"], true);
}

TEST_F(FactsTest, WhereTheLoaderFindsNoCudnnAutoJudgesTheEnvironment) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  const json j = Json();
  EXPECT_EQ(Find(j["views"], "name", NameOf("venv"))["judged"], true);
  EXPECT_EQ(Find(j["views"], "name", "system")["judged"], false);
  EXPECT_THAT(j["auto"]["because"].get<std::string>(), Mentions("loader", "cuDNN"));
}

TEST_F(FactsTest, AMatrixThatDoesNotExistIsNotWhatAutoWouldTake) {
  Set("FAKE_CUDART_VERSION", "14000");
  const json j = Json();
  EXPECT_TRUE(j["auto"]["matrix"].is_null());
  EXPECT_THAT(j["auto"]["problem"].get<std::string>(), HasSubstr("found CUDA 14.0"));
  EXPECT_EQ(Find(j["views"], "name", "system")["judged"], false);
}

TEST_F(FactsTest, AllListsEveryFactByItsKey) {
  const GateResult r = Facts({"--all"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("\nsubject system\n"), HasSubstr("\nsubject " + NameOf("venv") + "\n"),
                           HasSubstr("  gpu.count                       1\n")));
}

TEST_F(FactsTest, OfManyRowsTheScreenHasSomeAndAllHasEveryOne) {
  Set("FAKE_DEVICE_COUNT", "12");
  const std::string some = Facts().out, all = Facts({"--all"}).out;
  EXPECT_THAT(some, AllOf(HasSubstr(" gpu7: "), Not(HasSubstr(" gpu8: ")),
                          HasSubstr("4 more; cudnn-ci facts --all ")));
  EXPECT_THAT(all, AllOf(HasSubstr(" gpu8: "), HasSubstr(" gpu11: "), Not(HasSubstr("facts --all"))));
}

TEST_F(FactsTest, HostileNamesOfFilesDoNotSteerATerminal) {
  const std::string name = "a\x1b[2Jb\nerror\xff";
  MakeEnvironment(name, {"torch-\x1b[31m2\n"});
  Set("VIRTUAL_ENV", gate().Path(name));
  for (const auto& words : {std::vector<std::string>{}, {"--all"}, {"--json"}}) {
    const GateResult r = Facts(words);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.out.find('\x1b'), std::string::npos);
    EXPECT_EQ(r.out.find("\nerror"), std::string::npos);
    EXPECT_EQ(r.out.find('\xff'), std::string::npos);
  }
  EXPECT_TRUE(Json().is_object());
}

TEST_F(FactsTest, APluginThatCannotBeLoadedIsSaid) {
  gate().AddPlugins(CUDNN_CI_FIXTURES "/broken/init_exit");
  EXPECT_THAT(Words(Facts().out), Mentions("plugin init_exit"));
}

}  // namespace
}  // namespace cudnn_ci
