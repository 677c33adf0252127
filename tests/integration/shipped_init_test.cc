// The command init: the matrix that it writes is one that can be run, and passes where it was written.
#include <filesystem>

#include "environments_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class InitTest : public EnvironmentsTest {
 protected:
  InitTest() : file_(gate().Path("first.json")) {
    gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // with matrices beside it
  }
  GateResult Write(const std::vector<std::string>& more = {}) {
    Compose();
    std::vector<std::string> line = {"init", file_};
    line.insert(line.end(), more.begin(), more.end());
    return gate().Command(line);
  }
  // All but what the fakes compute, for which they need half a minute, and what reads their files: they
  // resolve nothing that a machine's own CUDA asks of them.
  GateResult RunIt(const std::vector<std::string>& more = {}) {
    std::vector<std::string> line = {"--matrix",     file_,
                                     "--filter",     "*-conv.*:attention.*:gemm.*:image.*:framework.*",
                                     "--output-dir", gate().Path("out")};
    line.insert(line.end(), more.begin(), more.end());
    return gate().Command(line);
  }
  const std::string file_;
};

TEST_F(InitTest, PromisesWhatIsFoundAndPassesThere) {
  const GateResult r = Write({"--name", "team \"a\""});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("found CUDA toolkit 13.0, cuDNN 9.19.0, driver "),
                           HasSubstr("wrote " + file_), HasSubstr("cudnn-ci --matrix ")));
  const std::string text = gate().Read("first.json");
  for (const char* part : {"\"name\": \"team \\\"a\\\"\"", "\"extends\": \"builtin:cu13\"",
                           "\"toolkit\": \">=13.0 <13.1\"", "\"cudnn\": \">=9.19 <9.20\"",
                           "// 9.19.0 was found", "\"compute_capability\": \">=9.0\"", "\"gpus\": \">=1\""})
    EXPECT_THAT(text, HasSubstr(part));
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, WithoutToolkitAndCudnnItPromisesThatThereIsNone) {
  UseFakes({"libcuda", "nvml"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  ASSERT_EQ(Write().exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"),
              AllOf(HasSubstr("\"toolkit\": \"absent\""), HasSubstr("\"cudnn\": \"absent\""),
                    Not(HasSubstr("extends"))));
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, WithoutCudnnAToolkitIsHeldToLessThanAnImageWithBoth) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  ASSERT_EQ(Write().exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"),
              AllOf(HasSubstr("\"toolkit\": \">=13.0 <13.1\""), HasSubstr("\"cudnn\": \"absent\"")));
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, WithoutADriverItsPromisesAreLeftToTheReader) {
  UseFakes({"cudart13", "nvrtc", "cudnn"});
  if (!Alone()) GTEST_SKIP() << "this machine's own driver cannot be hidden";
  ASSERT_EQ(Write().exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"),
              AllOf(HasSubstr("// no driver "), HasSubstr("// no GPU "), HasSubstr("\"runner\": {\n    //")));
  // The static part of it needs neither.
  const GateResult run = RunIt({"--stage", "static"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, AnImageWhoseCudnnIsInAnEnvironmentPromisesThat) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironment("venv", {"nvidia_cudnn_cu13-9.19.0.56"});
  Set("VIRTUAL_ENV", gate().Path("venv"));
  const GateResult r = Write();
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, Mentions("no cuDNN, ", "cuDNN 9.19.0 in", gate().Path("venv")));
  EXPECT_THAT(gate().Read("first.json"),
              AllOf(HasSubstr("\"" + NameOf("venv") + "\": \"" + Python("venv") + "\""),
                    HasSubstr("\"cudnn\": \">=9.19 <9.20\""), HasSubstr("\"extends\": \"builtin:cu13\"")));
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(gate().Read("out/report.json"), HasSubstr("\"" + Python("venv") + "\""));
}

// What CUDA's wheels bring is not promised to be absent, and the matrix is not red where it was written.
TEST_F(InitTest, AnEnvironmentWithoutARuntimeIsPromisedNone) {
  UseFakes({"libcuda", "nvml"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironmentWithoutCudnn("venv", false);
  Set("VIRTUAL_ENV", gate().Path("venv"));
  ASSERT_EQ(Write().exit_code, 0);
  const std::string text = gate().Read("first.json");
  EXPECT_THAT(
      text, AllOf(HasSubstr(Python("venv")), HasSubstr("// \"toolkit\" "), HasSubstr("\"cudnn\": \"absent\""),
                  HasSubstr("image.symbols"), Not(HasSubstr("extends"))));
  for (const char* check :
       {"image.device_code", "image.jit_tools", "image.known_faults", "framework.versions"})
    EXPECT_THAT(text, HasSubstr(check)) << "static.json looks at it";
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

// NVRTC alone tells a version, and is no promise of a runtime.
TEST_F(InitTest, AnNvrtcAloneIsNoToolkit) {
  UseFakes({"libcuda", "nvml"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironment("venv", {"nvidia_cudnn_cu13-9.19.0.56"});
  fs::copy_file(FakeFile("nvrtc", "libnvrtc.so.13"), Cudnn("venv") + "/libnvrtc.so.13");
  fs::copy_file(FakeFile("cudart13", "libcublasLt.so.13"), Cudnn("venv") + "/libcublasLt.so.13");
  Set("VIRTUAL_ENV", gate().Path("venv"));
  ASSERT_EQ(Write().exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"),
              AllOf(HasSubstr("// \"toolkit\" "), HasSubstr("\"cudnn\": \">=9.19 <9.20\"")));
  const GateResult run = RunIt({"--stage", "static"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, TwoEnvironmentsForTwoMajorsAreWrittenOneByOne) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironment("old", {"nvidia_cudnn_cu12-9.19.0.56"});
  MakeEnvironment("new", {"nvidia_cudnn_cu13-9.19.0.56"});
  Set("VIRTUAL_ENV", gate().Path("old"));
  Set("CONDA_PREFIX", gate().Path("new"));
  const GateResult both = Write();
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, AllOf(HasSubstr(NameOf("old") + " (" + Interpreter("old") + ") for CUDA 12"),
                              HasSubstr("--subject " + NameOf("old"))));
  EXPECT_FALSE(gate().Exists("first.json"));
  ASSERT_EQ(Write({"--subject", NameOf("new")}).exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"), AllOf(HasSubstr(Python("new")), Not(HasSubstr(Python("old")))));
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, ASubjectMayBeSaidAsAMatrixSaysIt) {
  MakeEnvironment("venv");
  ASSERT_EQ(Write({"--subject", Python("venv")}).exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"), HasSubstr("\"" + NameOf("venv") + "\": \"" + Python("venv") + "\""));
  const auto refused = [&](const std::string& subject) {
    fs::remove(file_);
    const GateResult r = Write({"--subject", subject});
    EXPECT_EQ(r.exit_code, 2) << subject;
    EXPECT_FALSE(gate().Exists("first.json"));
    return r.err;
  };
  EXPECT_THAT(refused("python:venv/bin/python"), Mentions("venv/bin/python", "absolute"));
  EXPECT_THAT(refused("python:/nowhere/bin/python"), HasSubstr("/nowhere/bin/python: "));
  Set("VIRTUAL_ENV", gate().Path("venv"));
  EXPECT_THAT(refused(NameOf("venv") + "x"), HasSubstr(" '" + NameOf("venv") + "'?"));
  EXPECT_THAT(refused(""), HasSubstr("--subject"));
  ASSERT_EQ(Write({"--subject", "system"}).exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"), Not(HasSubstr("\"subjects\"")));
}

TEST_F(InitTest, WhatOneSubjectLacksIsNotPromisedForAll) {
  UseFakes({"libcuda", "nvml"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  for (const char* name : {"old", "new"}) MakeEnvironment(name, {"nvidia_cudnn_cu13-9.19.0.56"});
  fs::copy_file(FakeFile("cudart13", "libcudart.so.13"), Cudnn("new") + "/libcudart.so.13");
  fs::remove(Cudnn("old") + "/libcudnn_graph.so.9");
  fs::copy_file(FakeFile("cudnn_graph_old", "libcudnn_graph.so.9"), Cudnn("old") + "/libcudnn_graph.so.9");
  Set("VIRTUAL_ENV", gate().Path("old"));
  Set("CONDA_PREFIX", gate().Path("new"));
  ASSERT_EQ(Write().exit_code, 0);
  const std::string text = gate().Read("first.json");
  EXPECT_THAT(text, AllOf(HasSubstr("\"cudnn\": \">=9.14 <9.20\""), Mentions("9.14.0 and 9.19.0"),
                          ContainsRegex("// \"toolkit\" .*13\\.0 .*" + NameOf("new") + " and none .*" +
                                        NameOf("old")),
                          Not(HasSubstr("extends"))));
}

TEST_F(InitTest, ACudnnOfUnknownVersionIsNotAbsent) {
  TakeCudnn();
  for (const char* part : {"graph", "ops", "cnn", "adv"}) Halve("libcudnn_" + std::string(part) + ".so.9");
  ASSERT_EQ(Write().exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"), ContainsRegex("// \"cudnn\" .*unknown version.* system"));
}

TEST_F(InitTest, WithoutTheMatricesOfItsInstallationItListsTheChecks) {
  gate().UseExecutable(CUDNN_CI_TREE "/bin/cudnn-ci");
  ASSERT_EQ(Write().exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"),
              AllOf(HasSubstr("{ \"check\": \"cudnn.init\" }"), Not(HasSubstr("extends"))));
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, ReplacesNoFileAndWritesToStdout) {
  gate().Write("first.json", "mine");
  const GateResult refused = Write();
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("cudnn-ci: " + file_ + " "));
  EXPECT_EQ(gate().Read("first.json"), "mine");
  Compose();
  const GateResult shown = gate().Command({"init", "-"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("\"schema\": \"cudnn-ci/matrix/1\""), Not(HasSubstr("wrote"))));
  const GateResult nowhere = gate().Command({"init", gate().Path("no/such/folder/m.json")});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("no/such/folder"));
}

}  // namespace
}  // namespace cudnn_ci
