// What --auto chooses a matrix by, and what of the image it judges then.
#include "model/inventory/auto_matrix.h"

#include <gmock/gmock.h>

#include "golden_messages.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Candidate Environment(const std::string& name, const std::string& cuda) {
  return {name, "python:/" + name + "/bin/python", "/" + name, "/" + name + "/lib", cuda};
}

AutoChoice Choose(const FactMap& system, const std::vector<Candidate>& candidates = {},
                  const std::map<std::string, FactMap>& others = {}, const std::string& in_loader = "") {
  Facts facts;
  facts.by_subject = others;
  facts.by_subject["system"] = system;
  return ChooseMatrix(facts, {candidates, in_loader});
}

TEST(AutoMatrixTest, TakesTheToolkitThenWhatCudnnIsForThenTheDriver) {
  const AutoChoice toolkit =
      Choose({{"toolkit.version", "12.8"}, {"cudnn.cudart", "13"}, {"driver.cuda", "13.1"}});
  EXPECT_EQ(toolkit.MatrixName(), "cu12");
  EXPECT_EQ(toolkit.because, "CUDA toolkit 12.8");
  EXPECT_EQ(toolkit.Judged(), "what the loader finds");
  EXPECT_EQ(Choose({{"cudnn.cudart", "12"}, {"driver.cuda", "13.1"}}).MatrixName(), "cu12");
  EXPECT_EQ(Choose({{"driver.cuda", "13.1"}, {"cudnn.path", "/usr/lib/libcudnn.so.9"}}).MatrixName(), "cu13");
  EXPECT_EQ(Choose({{"driver.cuda", "13.1"}}, {}, {}, "/usr/lib/libnccl.so.2").MatrixName(), "cu13");
  EXPECT_EQ(Choose({}, {}, {}, "/usr/lib/libnccl.so.2").MatrixName(), "cu12");
}

// A driver is the runner's, and no reason to ask the image for a toolkit.
TEST(AutoMatrixTest, WhereThereIsNothingTheMatrixIsTheOneThatSaysSo) {
  for (const FactMap& facts : {FactMap{}, FactMap{{"driver.cuda", "13.1"}}}) {
    const AutoChoice none = Choose(facts);
    EXPECT_TRUE(none.nothing);
    EXPECT_EQ(none.MatrixName(), "static");
    EXPECT_EQ(none.problem, "");
    EXPECT_FALSE(none.contradictory);
    EXPECT_EQ(none.cuda, "");
  }
}

// What is installed beside it says nothing of what the loader finds.
TEST(AutoMatrixTest, FactsOfAnEnvironmentAreNotTheLoaders) {
  EXPECT_TRUE(Choose({}, {}, {{"aaa", {{"toolkit.version", "12.8"}}}}).nothing);
}

TEST(AutoMatrixTest, EnvironmentsAreJudgedOnlyWhereTheLoaderFindsNoCudnn) {
  const std::vector<Candidate> one = {Environment("one", "12")};
  const FactMap toolkit = {{"toolkit.version", "13.0"}};
  const AutoChoice environment = Choose(toolkit, one);
  EXPECT_EQ(environment.MatrixName(), "cu12") << "the toolkit is not what its packages use";
  EXPECT_EQ(environment.Judged(), "the Python environment one (/one/bin/python)");
  FactMap with_cudnn = toolkit;
  with_cudnn["cudnn.path"] = "/usr/lib/libcudnn.so.9";  // perhaps broken, and without a version
  const AutoChoice loader = Choose(with_cudnn, one);
  EXPECT_EQ(loader.MatrixName(), "cu13");
  EXPECT_EQ(loader.Judged(), "what the loader finds");
}

TEST(AutoMatrixTest, FilesTellMoreThanPackagesAndThoseMoreThanTheToolkit) {
  const auto cuda = [](const std::string& package, const FactMap& facts) {
    return Choose({}, {Environment("one", package)}, {{"one", facts}}).cuda;
  };
  const FactMap toolkit = {{"toolkit.version", "12.4"}};
  FactMap both = toolkit;
  both["cudnn.cudart"] = "11";
  EXPECT_EQ(cuda("13", both), "11");
  EXPECT_EQ(cuda("13", toolkit), "13");
  EXPECT_EQ(cuda("", toolkit), "12.4");
  const AutoChoice unknown = Choose({}, {Environment("one", "")});
  EXPECT_THAT(GoldenMessages("auto.txt").Row("a toolkit, for nothing that is named", unknown.problem),
              HasSubstr(" one "));
  EXPECT_FALSE(unknown.contradictory);
}

TEST(AutoMatrixTest, OneThatDoesNotTellGoesWithTheOthers) {
  const AutoChoice choice = Choose({}, {Environment("one", ""), Environment("two", "12.8")});
  EXPECT_EQ(choice.MatrixName(), "cu12");
  EXPECT_THAT(choice.candidates, SizeIs(2));
  EXPECT_THAT(GoldenMessages("auto.txt").Row("one of two", choice.because),
              AllOf(HasSubstr("two"), HasSubstr("12.8")));
}

Candidate WithoutCudnn(const std::string& name, const std::string& cuda) {
  Candidate environment = Environment(name, cuda);
  environment.cudnn.clear();
  return environment;
}

TEST(AutoMatrixTest, AnEnvironmentWithoutACudnnIsJudgedToo) {
  const AutoChoice choice = Choose({}, {WithoutCudnn("numba", "13")});
  EXPECT_EQ(choice.MatrixName(), "cu13");
  EXPECT_THAT(choice.candidates, SizeIs(1));
  EXPECT_EQ(choice.problem, "");
}

TEST(AutoMatrixTest, WhereAllIsLinkedStaticallyTheDriverTellsOrTheLowestFloorIsTaken) {
  EXPECT_EQ(Choose({{"driver.cuda", "13.0"}}, {WithoutCudnn("warp", "")}).MatrixName(), "cu13");
  const AutoChoice unknown = Choose({}, {WithoutCudnn("warp", "")});
  EXPECT_EQ(unknown.MatrixName(), "cu12");
  EXPECT_EQ(unknown.problem, "");
  EXPECT_NE(Choose({}, {WithoutCudnn("warp", ""), Environment("torch", "")}).problem, "")
      << "what a cuDNN is for matters";
}

// LD_LIBRARY_PATH leads into the environment, as CTranslate2's users set it.
TEST(AutoMatrixTest, ACudnnOfAnEnvironmentThatTheLoaderFindsIsTheEnvironments) {
  const std::vector<Candidate> one = {Environment("one", "12")};
  FactMap system = {{"cudnn.path", "/one/lib/libcudnn.so.9"}};
  EXPECT_THAT(Choose(system, one).candidates, SizeIs(1));
  system["toolkit.runtime.path"] = "/usr/lib/libcudart.so.12";
  EXPECT_THAT(Choose(system, one).candidates, SizeIs(0)) << "a whole install";
  EXPECT_THAT(Choose({{"cudnn.path", "/usr/lib/libcudnn.so.9"}}, one).candidates, SizeIs(0));
}

// Debian's cuDNN beside PyTorch's wheels, which bring all.
TEST(AutoMatrixTest, AWholeEnvironmentIsJudgedRatherThanACudnnAlone) {
  std::vector<Candidate> whole = {Environment("one", "13")};
  whole.front().has_runtime = true;
  FactMap system = {{"cudnn.path", "/usr/lib/libcudnn.so.9"}};
  const AutoChoice choice = Choose(system, whole);
  EXPECT_THAT(choice.candidates, SizeIs(1));
  EXPECT_EQ(choice.MatrixName(), "cu13");
  const auto beside = [&](const std::string& library) { return Choose(system, whole, {}, library); };
  for (const char* library : {"/usr/lib/libcudnn.so.9", "/usr/lib/libcublas.so.12"})
    EXPECT_THAT(beside(library).candidates, SizeIs(1)) << library;
  EXPECT_THAT(beside("/usr/lib/libnvrtc.so.12").candidates, SizeIs(0))
      << "a toolkit without its runtime is a fault";
  system["toolkit.runtime.path"] = "/usr/lib/libcudart.so.12";
  EXPECT_THAT(Choose(system, whole).candidates, SizeIs(0)) << "the loader has all too";
}

TEST(AutoMatrixTest, ThePackageOfTheLoadersCudnnTellsItsCuda) {
  const AutoChoice choice = Choose({{"cudnn.path", "/a/libcudnn.so.9"},
                                    {"cudnn.copy.0.path", "/a/libcudnn.so.9"},
                                    {"cudnn.copy.0.origin", "Python package nvidia-cudnn-cu12 9.19.0.56"}});
  EXPECT_EQ(choice.MatrixName(), "cu12");
  EXPECT_EQ(choice.problem, "");
}

TEST(AutoMatrixTest, DifferentMajorsAreNamedWithWhatToType) {
  const AutoChoice choice =
      Choose({{"driver.cuda", "13.0"}},
             {Environment("old", "12"), Environment("older", "12.4"), Environment("new", "13")});
  EXPECT_TRUE(choice.contradictory);
  EXPECT_EQ(choice.cuda, "");
  EXPECT_THAT(
      GoldenMessages("auto.txt").Row("two for CUDA 12, one for 13", choice.problem),
      AllOf(HasSubstr("old (/old/bin/python)"), HasSubstr("older (/older/bin/python)"),
            HasSubstr("new (/new/bin/python)"), HasSubstr("--subject old "), HasSubstr("--matrix old.json")));
}

Candidate Libraries(const std::string& folder, const std::string& cuda) {
  return {folder.substr(1), "path:" + folder, folder, "", cuda};
}

// Ollama's, of which it opens those for the driver.
TEST(AutoMatrixTest, OfVariantsThoseForTheDriversCudaAreJudged) {
  const std::vector<Candidate> both = {Libraries("/opt/cuda_v12", "12"), Libraries("/opt/cuda_v13", "13")};
  const AutoChoice latest = Choose({}, both);
  EXPECT_EQ(latest.MatrixName(), "cu13");
  ASSERT_THAT(latest.candidates, SizeIs(1));
  EXPECT_EQ(latest.candidates[0], both[1]);
  const AutoChoice older = Choose({{"driver.cuda", "12.8"}}, both);
  EXPECT_EQ(older.MatrixName(), "cu12");
  EXPECT_EQ(older.candidates, std::vector<Candidate>{both[0]});
}

TEST(AutoMatrixTest, OfVariantsThoseForAnotherCudaThanTheMatrixAreLeftOut) {
  const Candidate twelve = Libraries("/opt/cuda_v12", "12"), thirteen = Libraries("/opt/cuda_v13", "13");
  const Candidate other = Libraries("/srv/cuda_v13", "13"), torch = Environment("torch", "13");
  EXPECT_EQ(OfOneCuda({}, {twelve, thirteen, other, torch}, ">=12.0 <13"),
            (std::vector<Candidate>{twelve, other, torch}))
      << "what has no variant for the matrix is judged by it, and red";
  EXPECT_THAT(OfOneCuda({}, {twelve, thirteen}, ">=11 <12"), SizeIs(2));
  EXPECT_THAT(OfOneCuda({}, {twelve, thirteen}, "absent"), SizeIs(2));
}

TEST(AutoMatrixTest, ProgramsAreJudgedAsEnvironmentsAre) {
  const Candidate program = {"opt_app_run", "program:/opt/app/run", "/opt/app/run", "", "12"};
  const AutoChoice choice = Choose({}, {program, Environment("torch", "12")});
  EXPECT_EQ(choice.MatrixName(), "cu12");
  EXPECT_EQ(choice.Judged(),
            "the Python environment torch (/torch/bin/python) and the program opt_app_run (/opt/app/run)");
}

TEST(AutoMatrixTest, ALongListIsCut) {
  std::vector<Candidate> many;
  for (int i = 0; i < 31; ++i) many.push_back(Environment("e" + std::to_string(i), "12"));
  EXPECT_THAT(Choose({}, many).Judged(), HasSubstr("e7 (/e7/bin/python) and 23 more"));
}

}  // namespace
}  // namespace cudnn_ci
