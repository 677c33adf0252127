// The framework plugin's pure parts: the problem it sets, the answers it reads, the rules it judges by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "common/interpreter.h"
#include "framework/answer.h"
#include "framework/problem.h"
#include "framework/rules.h"
#include "mentions.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;
using testing::HasSubstr;

double Product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The gradients of a convolution are its adjoints: <g, x * w> = <dx, x> = <dw, w>.
TEST(FrameworkProblem, ExpectsTheAdjoints) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Problem problem = MakeProblem(seed);
    const json inputs = json::parse(problem.json);
    const double y = Product(problem.expected.at("y"), inputs["g"]);
    EXPECT_NE(y, 0);
    EXPECT_EQ(y, Product(problem.expected.at("dx"), inputs["x"]));
    EXPECT_EQ(y, Product(problem.expected.at("dw"), inputs["w"]));
  }
}

// One output by hand: the second row and column begins at input row 1 (stride 2 less pad 1) and column 2.
TEST(FrameworkProblem, ExpectsTheConvolution) {
  const Problem problem = MakeProblem(7);
  const json in = json::parse(problem.json);
  ASSERT_EQ(in["x_shape"], (json{2, 4, 9, 8}));
  ASSERT_EQ(in["w_shape"], (json{8, 4, 3, 2}));
  ASSERT_EQ(in["g_shape"], (json{2, 8, 5, 4}));
  double sum = 0;
  for (int c = 0; c < 4; ++c)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 2; ++s)
        sum += in["x"][(4 + c) * 72 + (1 + r) * 8 + 2 + s].get<double>() *
               in["w"][(3 * 4 + c) * 6 + r * 2 + s].get<double>();
  EXPECT_EQ(problem.expected.at("y")[((8 + 3) * 5 + 1) * 4 + 1], sum);
}

TEST(FrameworkProblem, IsOfSmallIntegersAndFollowsTheSeed) {
  const json in = json::parse(MakeProblem(5).json);
  for (const char* name : {"x", "w", "g", "a", "b"})
    for (const json& e : in[name]) EXPECT_TRUE(e >= -2 && e <= 2) << name;
  EXPECT_EQ(MakeProblem(5).json, MakeProblem(5).json);
  EXPECT_NE(MakeProblem(5).json, MakeProblem(6).json);
}

TEST(FrameworkProblem, ExpectsMatricesToo) {
  const Problem problem = MakeProblem(9);
  const json in = json::parse(problem.json);
  EXPECT_EQ(problem.expected.at("copy"), in["x"].get<std::vector<double>>());
  EXPECT_EQ(problem.expected.at("elementwise")[4], 2 * in["a"][4].get<double>() + 1);
  double sum = 0;
  for (int k = 0; k < 7; ++k) sum += in["a"][2 * 7 + k].get<double>() * in["b"][k * 6 + 3].get<double>();
  EXPECT_EQ(problem.expected.at("matmul")[2 * 6 + 3], sum);
}

// An attention's output is linear in V, and its gradient of Q and K does not change when scores move
// together.
TEST(FrameworkProblem, ExpectsAnAttention) {
  const Problem problem = MakeProblem(11);
  const json in = json::parse(problem.json);
  ASSERT_EQ(in["q_shape"], (json{1, 1, 64, 64}));
  ASSERT_EQ(in["k_shape"], (json{1, 1, 192, 64}));
  ASSERT_EQ(in["v_shape"], in["k_shape"]);
  const double o = Product(problem.expected.at("o"), in["do"]);
  EXPECT_NE(o, 0);
  EXPECT_EQ(o, Product(problem.expected.at("dv"), in["v"]));
  EXPECT_EQ(Product(problem.expected.at("dq"), in["q"]), Product(problem.expected.at("dk"), in["k"]));
  EXPECT_NE(problem.expected.at("dq"), std::vector<double>(64 * 64, 0));
}

TEST(FrameworkAnswer, KnowsWhereItFailedAndWhatWasRefused) {
  const Answer answer = ParseAnswer(
      "{\"step\": \"attention, cudnn\"}\n{\"refused\": \"attention, cudnn: too old\"}\n"
      "{\"error\": [\"E: x\"]}\n{\"step\": \"maps\"}\n");
  EXPECT_EQ(answer.failed_at, "attention, cudnn");
  EXPECT_THAT(answer.refused, testing::ElementsAre("attention, cudnn: too old"));
}

TEST(FrameworkAnswer, OfACrashIsReadAsFarAsItGoes) {
  const Answer answer = ParseAnswer(
      "{\"python\": {\"version\": \"3.11.2\", \"executable\": \"/usr/bin/python3\"}}\n"
      "{\"built\": {\"cuda\": 12080, \"hip\": null, \"cudnn\": [9, 10, 2]}}\n"
      "{\"loaded\": {\"cudnn\": 8907}}\n{\"step\": \"devices\"}\n{\"devices\": {\"cou");
  EXPECT_EQ(answer.problem, "");
  EXPECT_EQ(answer.python, "3.11.2");
  EXPECT_EQ(answer.built_cuda, "12.8");
  EXPECT_EQ(answer.built_cudnn, "9.10.2");
  EXPECT_EQ(answer.loaded_cudnn, "8.9.7");
  EXPECT_EQ(answer.step, "devices");
  EXPECT_FALSE(answer.built_hip);
  EXPECT_FALSE(answer.devices);
  EXPECT_FALSE(answer.ended);
}

TEST(FrameworkAnswer, OfAnyOtherFormIsAProblemAndHarmless) {
  for (const std::string line : {"nonsense", "[1]", "{}", "{\"a\": 1}", "{\"end\": true, \"step\": \"x\"}",
                                 "", "7", "{\"step\": \"\xff\"}", "{\"step\": \"\\ud800\"}"})
    EXPECT_THAT(ParseAnswer(line + "\n").problem, HasSubstr("a line")) << line;
  EXPECT_THAT(ParseAnswer(std::string(5 << 20, '\n')).problem, HasSubstr("more than"));
  EXPECT_THAT(ParseAnswer(R"({"log": )" + std::string(100, '[') + std::string(100, ']') + "}\n").problem,
              HasSubstr("a line"));
  EXPECT_THAT(ParseAnswer(std::string(1 << 19, '[') + "\n").problem, HasSubstr("a line"));
  // Values of other types than the script's.
  for (const std::string value :
       {"null", "7", "-1", "1e300", "\"x\"", "[]", "[[[]]]", "{}", "{\"arrays\": {\"y\": 7}}",
        "{\"arrays\": [1]}", "{\"count\": -7}", "{\"version\": {}}", "[null, {\"own\": 3}]"})
    for (const std::string key :
         {"python", "step", "packages", "cudnn_packages", "imported", "built", "loaded", "devices",
          "preloaded", "error", "result", "mapped", "cudnn", "absent", "refused", "cudnn_unknown"})
      EXPECT_EQ(ParseAnswer("{\"" + key + "\": " + value + "}\n").problem, "") << key << value;
}

TEST(FrameworkAnswer, KeepsTextsShort) {
  const std::string text(5000, 'x');
  EXPECT_EQ(ParseAnswer("{\"step\": \"" + text + "\"}\n").step, text.substr(0, 1000) + "...");
  std::string many = "{\"mapped\": [\"\"";
  for (int i = 0; i < 1000; ++i) many += ", \"/lib\"";
  EXPECT_EQ(ParseAnswer(many + "]}\n").mapped.size(), 200u);
}

TEST(FrameworkRules, ACudnnMustBeOfTheSameMajorAndNoLowerMinor) {
  const Framework torch = {"torch", "PyTorch", true, false}, jax = {"jax", "JAX", true, false};
  EXPECT_EQ(WhyCudnnUnfit(torch, "9.10.2", "9.10.0"), "");
  EXPECT_EQ(WhyCudnnUnfit(torch, "9.10.2", "9.19.0.56"), "");
  EXPECT_EQ(WhyCudnnUnfit(torch, "9.10.2", "9.9.0"), "cuDNN 9.9.0 is older");
  EXPECT_EQ(WhyCudnnUnfit(torch, "9", "9.1.0"), "");
  EXPECT_EQ(WhyCudnnUnfit(torch, "9", "8.9.7"), "cuDNN 8.9.7 has another major version");
  EXPECT_EQ(WhyCudnnUnfit(torch, "9.3", "10.0.0"), "cuDNN 10.0.0 has another major version");
  EXPECT_EQ(WhyCudnnUnfit(torch, "", "9.1.0"), "");
  EXPECT_EQ(WhyCudnnUnfit(torch, "9.1.0", ""), "");
  EXPECT_THAT(WhyCudnnUnfit(jax, "9.8.0", "9.10.0"), HasSubstr("JAX refuses it"));
  EXPECT_EQ(WhyCudnnUnfit(jax, "9.10.0", "9.10.0"), "");
  EXPECT_EQ(WhyCudnnUnfit(jax, "9.8.0", "9.10.1"), "");
}

FrameworkPackage Package(const std::string& distribution, const std::string& version,
                         const std::string& requirement, const std::string& cuda = "") {
  FrameworkPackage package;
  package.distribution = distribution;
  package.version = version;
  package.requirements = {"nvidia-cublas-cu12==12.8.4.1", requirement};
  package.cuda = cuda;
  return package;
}

TEST(FrameworkRules, RequirementsAreReadFromMetadata) {
  const auto read = [](const std::string& text) { return RequirementOnCudnn(Package("x", "1", text)); };
  const auto pinned = read("nvidia-cudnn-cu12==9.10.2.21; platform_system == \"Linux\"");
  ASSERT_TRUE(pinned);
  EXPECT_EQ(pinned->cuda_major, 12);
  EXPECT_EQ(pinned->version, "9.10.2.21");
  EXPECT_FALSE(pinned->optional);
  const auto range = read("nvidia-cudnn-cu13<10.0,>=9.12.0.46; extra == \"with-cuda\"");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->version, "9.12.0.46");
  EXPECT_TRUE(range->optional);
  EXPECT_EQ(read("nvidia-cudnn-cu12 (>=9.8)")->version, "9.8");
  EXPECT_EQ(read("nvidia-cudnn-cu12")->version, "");
  EXPECT_FALSE(read("nvidia-cudnn-frontend==1.0"));
  EXPECT_FALSE(read("numpy; extra == \"nvidia-cudnn-cu12\""));
}

TEST(FrameworkRules, TheCudaMajorIsReadFromMetadata) {
  const std::string cu12 = "nvidia-cudnn-cu12==9.10.2.21";
  EXPECT_EQ(CudaMajorOf(Package("torch", "2.11.0+cu130", cu12, "12.8")), 12);
  EXPECT_EQ(CudaMajorOf(Package("torch", "2.11.0+cpu", cu12, "none")), 0);
  EXPECT_EQ(CudaMajorOf(Package("torch", "2.7.0+cu118", cu12)), 11);
  EXPECT_EQ(CudaMajorOf(Package("jax-cuda13-plugin", "0.9.0", cu12)), 13);
  EXPECT_EQ(CudaMajorOf(Package("cupy-cuda12x", "13.6.0", "")), 12);
  EXPECT_EQ(CudaMajorOf(Package("torch", "2.8.0", cu12)), 12);
  EXPECT_EQ(CudaMajorOf(Package("tensorflow", "2.20.0", cu12 + "; extra == \"and-cuda\"")), 0);
  EXPECT_EQ(CudaMajor("12090"), 12);
  EXPECT_EQ(CudaMajor("unknown"), 0);
}

TEST(FrameworkRules, PackagesThatShareAFolderReplaceEachOther) {
  const CudnnPackageInfo cu12 = {"nvidia-cudnn-cu12", "9.10.2.21", "/f", true},
                         cu13 = {"nvidia-cudnn-cu13", "9.19.0.56", "/f", false};
  EXPECT_EQ(WhyPackagesUnfit(13, {}), "");
  EXPECT_EQ(WhyPackagesUnfit(0, {cu12}), "");
  EXPECT_EQ(WhyPackagesUnfit(12, {cu12}), "");
  EXPECT_EQ(WhyPackagesUnfit(12, {cu12, cu13}), "");
  EXPECT_THAT(WhyPackagesUnfit(13, {cu12}), HasSubstr("nvidia-cudnn-cu13 is not"));
  EXPECT_THAT(WhyPackagesUnfit(13, {cu12, cu13}),
              Mentions("nvidia-cudnn-cu12 9.10.2.21 has replaced ", " of nvidia-cudnn-cu13 9.19.0.56"));
  // Damaged by something else.
  EXPECT_EQ(WhyPackagesUnfit(13, {cu13}), "");
}

TEST(FrameworkRules, TheInterpreterIsTheNamedOneElseTheSubjects) {
  EXPECT_EQ(InterpreterOf("auto", "loader"), "python3");
  EXPECT_EQ(InterpreterOf("auto", "path:/opt/cudnn"), "python3");
  EXPECT_EQ(InterpreterOf("auto", "python:/opt/venv/bin/python"), "/opt/venv/bin/python");
  EXPECT_EQ(InterpreterOf("/usr/bin/python3", "python:/opt/venv/bin/python"), "/usr/bin/python3");
  // A virtual environment's is a link to another one, whose packages are others.
  const Scratch scratch;
  for (const char* folder : {"a", "b"}) std::filesystem::create_directory(scratch.path() + "/" + folder);
  const std::string a = scratch.path() + "/a/python", b = scratch.path() + "/b/python";
  std::ofstream(a) << "#!";
  std::filesystem::create_symlink(a, b);
  std::filesystem::create_symlink("python", a + "3");
  const std::string subjects = "loader\npython:" + a + "\n";
  EXPECT_EQ(SubjectOfInterpreter(subjects, a + "3"), "python:" + a);
  EXPECT_EQ(SubjectOfInterpreter(subjects, b), "");
  EXPECT_EQ(SubjectOfInterpreter("loader\n", a), "");
}

TEST(FrameworkRules, PythonsVersionIsComparedByNumbers) {
  for (const char* version : {"3.8.0", "3.11.2", "4.0.0"}) EXPECT_TRUE(RunsScripts(version)) << version;
  for (const char* version : {"3.7.17", "2.7.18", "3", "x"}) EXPECT_FALSE(RunsScripts(version)) << version;
}

TEST(FrameworkRules, TheLoadersWordsAreFoundInTheOutput) {
  EXPECT_EQ(LoaderWords("a\nlibx.so: cannot open shared object file: No such file\nb\n"),
            "libx.so: cannot open shared object file: No such file");
  EXPECT_EQ(LoaderWords("all is well\n"), "");
}

TEST(FrameworkRules, EveryElementCounts) {
  const std::map<std::string, std::vector<double>> expected = {{"y", {1, 2, 3}}};
  Computed right{"default", {{"y", {1, 2, 3}}}, ""};
  EXPECT_EQ(Difference(right, expected), "");
  EXPECT_EQ(Difference({"m", {{"y", {1, 2.5, 4}}}, ""}, expected),
            "y[1] is 2.5, expected 2; 2 of 3 elements differ");
  EXPECT_EQ(Difference({"m", {{"y", {1, 2}}}, ""}, expected), "y has 2 elements, expected 3");
  EXPECT_EQ(Difference({"m", {{"z", {1, 2}}}, ""}, expected), "z was not requested");
  right.not_a_number = "y[0] is nan";
  EXPECT_EQ(Difference(right, expected), "y[0] is nan");
}

}  // namespace
}  // namespace cudnn_ci
