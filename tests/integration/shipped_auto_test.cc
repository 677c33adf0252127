// What --auto judges, and by which matrix, in the images that there are.
#include <sys/stat.h>

#include <algorithm>

#include "environments_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMost[] = "*-conv.*:attention.*:gemm.*:image.*:framework.*";

class AutoTest : public EnvironmentsTest {
 protected:
  AutoTest() {
    gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // with matrices beside it
  }
  // All but what the fakes compute, for which they need half a minute, and what reads their files: they
  // resolve nothing that a machine's own CUDA asks of them, and the interpreters are empty.
  GateResult Auto(const std::string& filter = kMost) {
    Compose();
    return gate().Command({"--auto", "--filter", filter, "--output-dir", gate().Path("report")});
  }
  // The same by a matrix that names no subjects.
  GateResult Named(const std::string& matrix) {
    Compose();
    return gate().Command({"--matrix", matrix, "--filter", kMost, "--output-dir", gate().Path("report")});
  }
  // Of report.json: the ids of run-level findings.
  static std::vector<std::string> AboutRun(const GateResult& r) {
    std::vector<std::string> slugs;
    if (r.report.is_object())
      for (const json& finding : r.report["findings"]) slugs.push_back(finding["slug"]);
    return slugs;
  }
  // Of report.json: the codes of a list of notices, "not_gated", "partial".
  static std::vector<std::string> Notices(const GateResult& r, const std::string& list) {
    std::vector<std::string> codes;
    if (r.report.is_object())
      for (const json& code : r.report[list + "_codes"]) codes.push_back(code);
    return codes;
  }
  // Of report.json: the names of the subjects that were judged.
  static std::vector<std::string> Judged(const GateResult& r) {
    std::vector<std::string> names;
    if (r.report.is_object())
      for (const json& subject : r.report["judged"]["subjects"]) names.push_back(subject["name"]);
    return names;
  }
};

TEST_F(AutoTest, AnImageWithAToolkitAndACudnnIsJudgedByWhatTheLoaderFinds) {
  // An environment beside it is none of this matrix's business; its cuDNN stands under "not gated".
  MakeEnvironment("venv", {"nvidia_cudnn_cu12-9.19.0.56"});
  Set("VIRTUAL_ENV", gate().Path("venv"));
  const GateResult r = Auto();
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.report["judged"]["matrix"]["name"], "cu13");
  EXPECT_EQ(Judged(r), std::vector<std::string>{"system"});
  EXPECT_THAT(r.report["not_gated"].dump(), HasSubstr(std::filesystem::canonical(Cudnn("venv")).string()));
  EXPECT_THAT(r.err, Mentions("cu13", "CUDA toolkit 13.0"));
  EXPECT_THAT(Notices(r, "not_gated"), Contains("auto-taken"));
}

TEST_F(AutoTest, AnImageWhoseCudnnIsInAnEnvironmentIsJudgedByThat) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironment("venv", {"nvidia_cudnn_cu13-9.19.0.56"});
  Set("VIRTUAL_ENV", gate().Path("venv"));
  const GateResult r = Auto();
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.report["judged"]["matrix"]["name"], "cu13");
  EXPECT_EQ(Judged(r), std::vector<std::string>{NameOf("venv")});
  EXPECT_EQ(r.Outcome("cudnn.version[subject=" + NameOf("venv") + "]"), "passed");
  EXPECT_THAT(r.err, Mentions(NameOf("venv") + " (" + Interpreter("venv") + ")"));
  Compose();
  const GateResult list = gate().Command({"list", "--auto", "--filter", "cudnn.*"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out,
              AllOf(HasSubstr("cudnn.load[subject=" + NameOf("venv") + "]"), Not(HasSubstr("system"))));
}

// What the matrix of --auto does not run is named once, whatever has it, and judges nothing.
TEST_F(AutoTest, PackagesWhoseKernelsAnAdapterAsksAreNamed) {
  const auto said = [this](const GateResult& r) {
    std::vector<std::string> sentences;
    const std::vector<std::string> codes = Notices(r, "not_gated");
    for (size_t i = 0; i < codes.size(); ++i)
      if (codes[i] == "kernels-not-tested") sentences.push_back(r.report["not_gated"][i]);
    return sentences;
  };
  MakeEnvironment("venv", {"nvidia_cudnn_cu13-9.19.0.56"});
  Set("VIRTUAL_ENV", gate().Path("venv"));
  EXPECT_THAT(said(Auto()), testing::IsEmpty());
  for (const char* package : {"torch-2.11.0+cu130", "flash_attn_4-4.0.0b36", "xformers-0.0.20"})
    std::filesystem::create_directory(Site("venv") + "/" + package + ".dist-info");
  MakeEnvironment("other", {"nvidia_cudnn_cu13-9.19.0.56", "torch-2.9.1"});
  Set("CONDA_PREFIX", gate().Path("other"));
  const GateResult r = Auto();
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_THAT(said(r), testing::ElementsAre(
                           AllOf(HasSubstr(" torch 2.11.0+cu130"), HasSubstr(" torch 2.9.1"),
                                 HasSubstr(" flash-attn-4 4.0.0b36"), HasSubstr(" --matrix kernels "),
                                 HasSubstr("no adapter is for xformers 0.0.20 (only for >=0.0.28 <0.1)"))));
  EXPECT_THAT(Notices(Named("cu13"), "not_gated"), Not(Contains("kernels-not-tested")));
  EXPECT_THAT(Notices(Named("kernels"), "not_gated"), Not(Contains("kernels-not-tested")));
}

// The whole line is `cudnn-ci`.
TEST_F(AutoTest, WithoutAMatrixTheRunIsAutos) {
  Compose();
  const GateResult dry = gate().Command({"--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_EQ(dry.out, gate().Command({"--auto", "--dry-run"}).out);
  EXPECT_EQ(dry.out, gate().Command({"list"}).out);
  EXPECT_THAT(dry.err, HasSubstr("cu13 was chosen"));
  const GateResult r =
      gate().Command({"--stage", "static", "--filter", "toolkit.*", "--output-dir", gate().Path("report")});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.report["judged"]["matrix"]["name"], "cu13");
}

TEST_F(AutoTest, WithoutAGpuTheMatrixIsStatic) {
  Compose();
  const GateResult r = gate().Command({"--no-gpu", "--output-dir", gate().Path("report")});
  EXPECT_EQ(r.report["judged"]["matrix"]["name"], "static") << r.out << r.err;
  EXPECT_EQ(Notices(r, "partial"), std::vector<std::string>());
  const GateResult named = gate().Command(
      {"--no-gpu", "--matrix", "cu13", "--filter", "toolkit.*", "--output-dir", gate().Path("report")});
  EXPECT_EQ(named.report["judged"]["matrix"]["name"], "cu13") << named.out << named.err;
  EXPECT_THAT(Notices(named, "partial"), Contains("static-stage"));
  EXPECT_EQ(gate().Command({"list", "--no-gpu"}).out, gate().Command({"list", "--matrix", "static"}).out);
  EXPECT_EQ(gate().Command({"--no-gpu", "--sbom", "sbom.json"}).exit_code, 2);
}

TEST_F(AutoTest, AMatrixWithoutSubjectsJudgesTheEnvironmentAsAutoDoes) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironment("venv", {"nvidia_cudnn_cu13-9.19.0.56"});
  Set("VIRTUAL_ENV", gate().Path("venv"));
  const GateResult r = Named("cu13");
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(Judged(r), std::vector<std::string>{NameOf("venv")});
  EXPECT_EQ(r.Outcome("cudnn.version[subject=" + NameOf("venv") + "]"), "passed");
  const std::string line = "\"subjects\": {\"" + NameOf("venv") + "\": \"" + Python("venv") + "\"}";
  EXPECT_THAT(r.report["warnings"].dump(), HasSubstr(json(line).dump().substr(1, line.size())));
  // Named, the loader's view is what is meant.
  gate().Write(
      "named.json",
      R"({"schema":"cudnn-ci/matrix/1","name":"named","extends":"builtin:cu13","subjects":{"system":"loader"}})");
  const GateResult named = Named(gate().Path("named.json"));
  EXPECT_EQ(named.exit_code, 1);
  EXPECT_EQ(Judged(named), std::vector<std::string>{"system"});
}

TEST_F(AutoTest, SeveralEnvironmentsAreEachJudged) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  for (const char* name : {"one", "two"}) MakeEnvironment(name, {"nvidia_cudnn_cu13-9.19.0.56"});
  Set("VIRTUAL_ENV", gate().Path("one"));
  Set("CONDA_PREFIX", gate().Path("two"));
  const GateResult r = Named("cu13");
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(Judged(r), (std::vector<std::string>{NameOf("one"), NameOf("two")}));
}

// numba, CuPy: they need no cuDNN. The contract that was named is the one thing that is wrong.
TEST_F(AutoTest, APromiseThatTheEnvironmentHasNoUseForIsTheMatrixs) {
  UseFakes({"libcuda", "nvml"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironmentWithoutCudnn("venv", true);
  Set("VIRTUAL_ENV", gate().Path("venv"));
  const GateResult named = Named("cu13");
  EXPECT_EQ(named.exit_code, 4) << named.out << named.err;
  EXPECT_EQ(AboutRun(named), std::vector<std::string>{"promise-without-use"});
  EXPECT_EQ(named.Outcome("toolkit.runtime[subject=" + NameOf("venv") + "]"), "passed");
  EXPECT_EQ(named.Outcome("cudnn.load[subject=" + NameOf("venv") + "]"), "skipped");
  const GateResult found = Auto();
  EXPECT_EQ(found.exit_code, 0) << found.out << found.err;
  EXPECT_EQ(found.report["judged"]["matrix"]["name"], "cu13");
  EXPECT_EQ(Judged(found), std::vector<std::string>{NameOf("venv")});
  EXPECT_THAT(Notices(found, "not_gated"), Contains("promise-not-held"));
  EXPECT_THAT(found.report["not_gated"].dump(), Mentions("image.cudnn", NameOf("venv")));
}

TEST_F(AutoTest, APromiseThatOneEnvironmentKeepsIsOfUse) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironment("torch", {"nvidia_cudnn_cu13-9.19.0.56"});
  MakeEnvironmentWithoutCudnn("numba", true);
  Set("VIRTUAL_ENV", gate().Path("torch"));
  Set("CONDA_PREFIX", gate().Path("numba"));
  const GateResult r = Named("cu13");
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.Outcome("cudnn.version[subject=" + NameOf("torch") + "]"), "passed");
  EXPECT_EQ(r.Outcome("cudnn.load[subject=" + NameOf("numba") + "]"), "skipped");
}

// XGBoost, DALI: CUDA is linked statically, and the files are what there is to judge.
TEST_F(AutoTest, WithoutARuntimeAndACudnnTheFilesAreJudged) {
  UseFakes({"libcuda", "nvml"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironmentWithoutCudnn("venv", false);
  Set("VIRTUAL_ENV", gate().Path("venv"));
  const GateResult found = Auto("*-conv.*:attention.*:gemm.*");
  EXPECT_EQ(Judged(found), std::vector<std::string>{NameOf("venv")}) << found.out << found.err;
  EXPECT_NE(found.Outcome("image.symbols[subject=" + NameOf("venv") + "]"), "");
  EXPECT_EQ(found.Outcome("toolkit.runtime[subject=" + NameOf("venv") + "]"), "skipped");
}

TEST_F(AutoTest, AnEnvironmentThatIsNotJudgedIsSaid) {
  MakeEnvironmentWithoutCudnn("venv", false);
  MakeEnvironment("idle");
  std::filesystem::remove_all(Site("idle") + "/nvidia");
  Set("VIRTUAL_ENV", gate().Path("venv"));
  Set("CONDA_PREFIX", gate().Path("idle"));
  const GateResult r = Named("cu13");
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(Judged(r), std::vector<std::string>{"system"});
  const std::string not_gated = r.report["not_gated"].dump();
  EXPECT_THAT(not_gated, AllOf(HasSubstr(Python("venv")), HasSubstr(Interpreter("idle"))));
}

TEST_F(AutoTest, WhereNothingUsesAGpuTheMatrixIsAtFault) {
  UseFakes({});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  const GateResult r = Named("static");
  if (Judged(r) != std::vector<std::string>{"system"})
    GTEST_SKIP() << "this machine has environments of its own";
  EXPECT_EQ(r.exit_code, 4) << r.out << r.err;
  EXPECT_EQ(AboutRun(r), std::vector<std::string>{"nothing-to-judge"});
  MakeEnvironmentWithoutCudnn("venv", false);
  Set("VIRTUAL_ENV", gate().Path("venv"));
  const GateResult judged = Named("static");
  EXPECT_EQ(AboutRun(judged), std::vector<std::string>());
  EXPECT_EQ(Judged(judged), std::vector<std::string>{NameOf("venv")});
}

// An image on a base with CUDA, and a PyTorch that cannot use it.
TEST_F(AutoTest, FrameworksForTheCpuBesideCudaAloneAreNamed) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironment("venv", {"torch-2.8.0+cpu", "onnxruntime-1.23.0"});
  std::filesystem::remove_all(Site("venv") + "/nvidia");
  Set("VIRTUAL_ENV", gate().Path("venv"));
  const GateResult r = Named("static");
  if (Judged(r) != std::vector<std::string>{"system"})
    GTEST_SKIP() << "this machine has environments of its own";
  EXPECT_EQ(r.exit_code, 4) << r.out << r.err;
  EXPECT_THAT(AboutRun(r), Contains("frameworks-for-cpu"));
  EXPECT_THAT(r.report["findings"].dump(), HasSubstr("torch 2.8.0+cpu (PyTorch)"));
  const GateResult chosen = Auto();
  EXPECT_EQ(chosen.exit_code, 4) << chosen.out << chosen.err;
  EXPECT_THAT(AboutRun(chosen), Contains("frameworks-for-cpu"));
  // Beside one that compiles device code, or a program that asks the loader for CUDA, it is nobody's fault.
  std::filesystem::create_directory(Site("venv") + "/numba_cuda-0.15.0.dist-info");
  EXPECT_THAT(AboutRun(Auto()), Not(Contains("frameworks-for-cpu")));
  std::filesystem::remove(Site("venv") + "/numba_cuda-0.15.0.dist-info");
  Set("HOME", gate().Path("home"));
  std::filesystem::create_directories(gate().Path("home/app"));
  std::filesystem::copy_file(CUDNN_CI_DEVICE_CODE, gate().Path("home/app/server"));
  EXPECT_THAT(AboutRun(Auto()), Not(Contains("frameworks-for-cpu")));
  Set("HOME", gate().Path("nowhere"));
  // Beside one for GPUs, which is judged, it is nobody's fault.
  MakeEnvironmentWithoutCudnn("gpu", false);
  Set("CONDA_PREFIX", gate().Path("gpu"));
  EXPECT_THAT(AboutRun(Named("static")), Not(Contains("frameworks-for-cpu")));
}

// The toolkit of the system is not what the packages are for.
TEST_F(AutoTest, TheCudaOfTheEnvironmentDecides) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironment("venv", {"nvidia_cudnn_cu12-9.19.0.56"});
  Set("VIRTUAL_ENV", gate().Path("venv"));
  const GateResult r = Auto();
  EXPECT_EQ(r.report["judged"]["matrix"]["name"], "cu12") << r.out << r.err;
}

TEST_F(AutoTest, EnvironmentsForTwoCudaMajorsAreExit2WithWhatToType) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironment("old", {"nvidia_cudnn_cu12-9.19.0.56"});
  MakeEnvironment("new", {"nvidia_cudnn_cu13-9.19.0.56"});
  Set("VIRTUAL_ENV", gate().Path("old"));
  Set("CONDA_PREFIX", gate().Path("new"));
  const GateResult r = Auto();
  EXPECT_EQ(r.exit_code, 2) << r.out;
  EXPECT_THAT(r.err, AllOf(HasSubstr("cudnn-ci: --auto: "),
                           HasSubstr(NameOf("old") + " (" + Interpreter("old") + ") for CUDA 12"),
                           HasSubstr(NameOf("new") + " (" + Interpreter("new") + ") for CUDA 13"),
                           HasSubstr("init " + NameOf("old") + ".json --subject " + NameOf("old"))));
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1);
  EXPECT_FALSE(gate().Exists("report/junit.xml"));
  EXPECT_EQ(gate().Command({"list", "--auto"}).exit_code, 2);
}

TEST_F(AutoTest, ACudaWithoutAMatrixIsSaid) {
  Set("FAKE_CUDART_VERSION", "14000");
  const GateResult r = Auto();
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, Mentions("--auto:", "CUDA 14.0 (CUDA toolkit 14.0)", "/cu14.json"));
}

// What is not there is not promised, unless something asks for it.
TEST_F(AutoTest, AnImageWithoutACudnnIsNotHeldToOne) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  const GateResult r = Auto();
  if (Judged(r) != std::vector<std::string>{"system"})
    GTEST_SKIP() << "this machine has environments of its own";
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.Outcome("toolkit.runtime[subject=system]"), "passed");
  EXPECT_THAT(Notices(r, "not_gated"), Contains("promise-not-held"));
  const GateResult named = Named("cu13");
  EXPECT_EQ(named.exit_code, 1) << "that contract promises one";
  EXPECT_EQ(named.report["root_cause"]["slug"], "cudnn-missing");
}

TEST_F(AutoTest, WithoutLibrariesThereIsNothingToJudge) {
  for (const auto& fakes : {std::vector<std::string>{}, std::vector<std::string>{"libcuda", "nvml"}}) {
    UseFakes(fakes);
    if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
    Compose();
    const GateResult r = gate().Command({"--output-dir", gate().Path("report")});
    if (Judged(r) != std::vector<std::string>{"system"})
      GTEST_SKIP() << "this machine has environments of its own";
    EXPECT_EQ(r.exit_code, 4) << r.out << r.err;
    EXPECT_EQ(AboutRun(r), std::vector<std::string>{"nothing-to-judge"});
  }
}

// The image's own user sees nothing of what lies there, and neither does a test that runs as it.
TEST_F(AutoTest, FoldersThatTheUserMayNotReadAreNamed) {
  if (const std::string why = WhyNoOtherUser(); !why.empty()) GTEST_SKIP() << why;
  MakeEnvironment("closed/venv");
  chmod(gate().folder().c_str(), 0777);
  chmod(gate().Path("closed").c_str(), 0700);
  gate().Before({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"});
  const auto warnings = [](const GateResult& r) { return r.report["warnings"].dump(); };
  EXPECT_THAT(warnings(Auto()), Not(HasSubstr("/closed")));
  Set("VIRTUAL_ENV", gate().Path("closed/venv"));
  EXPECT_THAT(warnings(Auto()), AllOf(HasSubstr(" 65534 "), HasSubstr("/closed"), Not(HasSubstr("/venv"))));
}

// Where nothing is found, what could not be looked into is named, whoever uses it.
TEST_F(AutoTest, FoldersThatMayHideAllThatIsTestedAreNamed) {
  if (const std::string why = WhyNoOtherUser(); !why.empty()) GTEST_SKIP() << why;
  MakeEnvironment("home/closed");
  chmod(gate().folder().c_str(), 0777);
  chmod(gate().Path("home/closed").c_str(), 0700);
  Set("HOME", gate().Path("home"));
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  std::vector<std::string> words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  words.insert(words.end(), {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"});
  gate().Before(words);
  const auto warns = [this] {
    return Auto().report["warnings"].dump().find("/home/closed") != std::string::npos;
  };
  EXPECT_FALSE(warns()) << "the loader finds what is tested";
  UseFakes({});
  EXPECT_TRUE(warns());
}

// llama.cpp, an inference server: CUDA lies beside the program, and nothing of it where the loader looks.
TEST_F(AutoTest, AProgramWithItsLibrariesBesideItIsJudged) {
  UseFakes({"libcuda", "nvml"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeProgram("app");
  Set("HOME", gate().Path(""));
  const GateResult named = Named("cu13");
  if (Judged(named).size() != 1) GTEST_SKIP() << "this machine has environments of its own";
  EXPECT_EQ(named.exit_code, 4) << named.out << named.err;
  EXPECT_EQ(AboutRun(named), std::vector<std::string>{"promise-without-use"});
  const std::string judged = Judged(named).front();
  EXPECT_EQ(named.Outcome("toolkit.runtime[subject=" + judged + "]"), "passed");
  const GateResult found = Auto();
  EXPECT_EQ(found.exit_code, 0) << found.out << found.err;
  EXPECT_EQ(Judged(found), std::vector<std::string>{judged});
  EXPECT_EQ(found.report["judged"]["matrix"]["name"], "cu13");
  // It compiles nothing at run time.
  std::filesystem::remove(gate().Path("app/lib/libnvrtc.so.13"));
  const GateResult without = Auto();
  EXPECT_EQ(without.exit_code, 0) << without.out << without.err;
  EXPECT_EQ(without.Outcome("toolkit.nvrtc[subject=" + judged + "]"), "skipped");
}

// The loader's view was named, and what it lacks lies elsewhere.
TEST_F(AutoTest, ARedThatAnotherSubjectCuresNamesIt) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  MakeEnvironment("venv", {"nvidia_cudnn_cu13-9.19.0.56"});
  Set("VIRTUAL_ENV", gate().Path("venv"));
  gate().Write(
      "named.json",
      R"({"schema":"cudnn-ci/matrix/1","name":"named","extends":"builtin:cu13","subjects":{"system":"loader"}})");
  const GateResult r = Named(gate().Path("named.json"));
  EXPECT_EQ(r.exit_code, 1) << r.out << r.err;
  const json& cause = r.report["root_cause"];
  EXPECT_EQ(cause["slug"], "cudnn-missing");
  EXPECT_EQ(cause["command"], "\"subjects\": {\"" + NameOf("venv") + "\": \"" + Python("venv") + "\"}");
  EXPECT_THAT(cause["remedy"], HasSubstr(Python("venv")));
}

}  // namespace
}  // namespace cudnn_ci
