// What --auto chooses a matrix by, and what of the image it judges then.
#include "model/inventory/auto_matrix.h"

#include <gmock/gmock.h>

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

PythonEnvironment Environment(const std::string& name, const std::string& cuda) {
  return {name, "/" + name + "/bin/python", "/" + name, "/" + name + "/lib", cuda, {}};
}

AutoChoice Choose(const FactMap& system, const std::vector<PythonEnvironment>& environments = {},
                  const std::map<std::string, FactMap>& others = {}) {
  Facts facts;
  facts.by_subject = others;
  facts.by_subject["system"] = system;
  return ChooseMatrix(facts, environments);
}

TEST(AutoMatrixTest, TakesTheToolkitThenWhatCudnnIsForThenTheDriver) {
  const AutoChoice toolkit =
      Choose({{"toolkit.version", "12.8"}, {"cudnn.cudart", "13"}, {"driver.cuda", "13.1"}});
  EXPECT_EQ(toolkit.MatrixName(), "cu12");
  EXPECT_EQ(toolkit.because, "CUDA toolkit 12.8");
  EXPECT_EQ(toolkit.Judged(), "what the loader finds");
  EXPECT_EQ(Choose({{"cudnn.cudart", "12"}, {"driver.cuda", "13.1"}}).MatrixName(), "cu12");
  EXPECT_EQ(Choose({{"driver.cuda", "13.1"}}).MatrixName(), "cu13");
  const AutoChoice none = Choose({});
  EXPECT_THAT(none.problem, HasSubstr("neither a CUDA toolkit, nor a Python environment"));
  EXPECT_FALSE(none.contradictory);
  EXPECT_EQ(none.cuda, "");
}

// What is installed beside it says nothing of what the loader finds.
TEST(AutoMatrixTest, FactsOfAnEnvironmentAreNotTheLoaders) {
  EXPECT_NE(Choose({}, {}, {{"aaa", {{"toolkit.version", "12.8"}}}}).problem, "");
}

TEST(AutoMatrixTest, EnvironmentsAreJudgedOnlyWhereTheLoaderFindsNoCudnn) {
  const std::vector<PythonEnvironment> one = {Environment("one", "12")};
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
  EXPECT_THAT(unknown.problem, HasSubstr("nothing tells for which CUDA that of the Python environment one"));
  EXPECT_FALSE(unknown.contradictory);
}

TEST(AutoMatrixTest, OneThatDoesNotTellGoesWithTheOthers) {
  const AutoChoice choice = Choose({}, {Environment("one", ""), Environment("two", "12.8")});
  EXPECT_EQ(choice.MatrixName(), "cu12");
  EXPECT_THAT(choice.environments, SizeIs(2));
  EXPECT_THAT(choice.because, HasSubstr("two has one for CUDA 12.8"));
}

PythonEnvironment WithoutCudnn(const std::string& name, const std::string& cuda) {
  PythonEnvironment environment = Environment(name, cuda);
  environment.cudnn.clear();
  return environment;
}

TEST(AutoMatrixTest, AnEnvironmentWithoutACudnnIsJudgedToo) {
  const AutoChoice choice = Choose({}, {WithoutCudnn("numba", "13")});
  EXPECT_EQ(choice.MatrixName(), "cu13");
  EXPECT_THAT(choice.environments, SizeIs(1));
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
  const std::vector<PythonEnvironment> one = {Environment("one", "12")};
  FactMap system = {{"cudnn.path", "/one/lib/libcudnn.so.9"}};
  EXPECT_THAT(Choose(system, one).environments, SizeIs(1));
  system["toolkit.runtime.path"] = "/usr/lib/libcudart.so.12";
  EXPECT_THAT(Choose(system, one).environments, SizeIs(0)) << "a whole install";
  EXPECT_THAT(Choose({{"cudnn.path", "/usr/lib/libcudnn.so.9"}}, one).environments, SizeIs(0));
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
  EXPECT_THAT(choice.problem,
              AllOf(HasSubstr("old (/old/bin/python), older (/older/bin/python) for CUDA 12; "
                              "new (/new/bin/python) for CUDA 13"),
                    HasSubstr("cudnn-ci init old.json --subject old && cudnn-ci --matrix old.json")));
}

TEST(AutoMatrixTest, ALongListIsCut) {
  std::vector<PythonEnvironment> many;
  for (int i = 0; i < 31; ++i) many.push_back(Environment("e" + std::to_string(i), "12"));
  EXPECT_THAT(Choose({}, many).Judged(), HasSubstr("e7 (/e7/bin/python) and 23 more"));
}

}  // namespace
}  // namespace cudnn_ci
