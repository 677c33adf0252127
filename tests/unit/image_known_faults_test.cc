// Which libraries with known faults an image has, and which of the faults matter to what a matrix promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "dotted_versions.h"
#include "image/component_rules.h"
#include "image/contents/components.h"
#include "image/elf/library_text.h"
#include "image/known_faults_scope.h"
#include "known_entry.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(const std::vector<Component>& components) {
  std::vector<std::string> texts;
  for (const Component& c : components) texts.push_back(c.library + " " + c.version);
  return texts;
}

TEST(Components, AReleaseIsTheNumbersInFront) {
  EXPECT_EQ(ReleaseOf("2.11.0+cu130"), "2.11.0");
  EXPECT_EQ(ReleaseOf("9.19.0.56"), "9.19.0");
  EXPECT_EQ(ReleaseOf("1:2.27.3-1+cuda12.9"), "2.27.3");
  EXPECT_EQ(ReleaseOf("2.13.0a0"), "2.13.0");
  EXPECT_EQ(ReleaseOf("3.6"), "3.6");
  EXPECT_EQ(ReleaseOf("12."), "12");
  EXPECT_EQ(ReleaseOf("1!9.10.2.21"), "9.10.2");
  EXPECT_EQ(ReleaseOf("v2.7.0"), "2.7.0");
  for (const char* none : {"", "v", "version", "nightly", "1234567890.1", "1:"})
    EXPECT_EQ(ReleaseOf(none), "") << none;
}

TEST(Components, OfABillOfMaterialsAreThoseOfItsManagers) {
  EXPECT_THAT(Texts(ComponentsOf(ReadComponentRules(KnownEntry),
                                 std::vector<SbomPackage>{{"pypi", "nvidia_cudnn_cu13", "9.19.0.56"},
                                                          {"pypi", "Torch", "2.11.0"},
                                                          {"", "triton", "3.6.0"},
                                                          {"conda", "nccl", "2.28.9"},
                                                          {"deb", "libcublas-12-8", "12.8.4.1-1"},
                                                          {"deb", "libcublas-dev-12-8", "12.8.5.1-1"},
                                                          {"rpm", "libcudnn9-cuda-12", "9.8.0.87-1"},
                                                          {"npm", "torch", "1.0.0"},
                                                          {"pypi", "torchvision", "0.26.0"},
                                                          {"pypi", "jaxlib", ""},
                                                          {"deb", "torch", "1"}})),
              ElementsAre("JAX ", "NCCL 2.28.9", "PyTorch 2.11.0", "Triton 3.6.0", "cuBLAS 12.8.4",
                          "cuDNN 9.19.0", "cuDNN 9.8.0"));
}

TEST(Components, AFileThatTellsItsVersionOutranksThePackage) {
  const Scratch scratch;
  const std::string root = fs::canonical(scratch.path()).string();
  const auto write = [&](const std::string& path, const std::string& text) {
    fs::create_directories((root + "/" + path).substr(0, (root + "/" + path).rfind('/')));
    std::ofstream(root + "/" + path) << text;
  };
  const std::string site = "venv/lib/python3.12/site-packages/";
  write("venv/pyvenv.cfg", "home = /usr/bin\n");
  write("venv/bin/python", "");
  fs::permissions(root + "/venv/bin/python", fs::perms::owner_all);
  write(site + "nvidia/nccl/lib/libnccl.so.2.27.7", "x");
  fs::create_symlink("libnccl.so.2.27.7", root + "/" + site + "nvidia/nccl/lib/libnccl.so.2");
  write(site + "nvidia/cublas/lib/libcublasLt.so.12", "x");
  write(site + "nvidia_nccl_cu12-2.28.9.dist-info/RECORD", "nvidia/nccl/lib/libnccl.so.2.27.7,,\n");
  write(site + "nvidia_cublas_cu12-12.8.4.1.dist-info/RECORD", "nvidia/cublas/lib/libcublasLt.so.12,,\n");
  const auto look = [&] {
    return ComponentsOf(ReadComponentRules(KnownEntry),
                        FilesOfSubject("python:" + root + "/venv/bin/python", {}, ""));
  };
  const auto components = look();
  EXPECT_THAT(Texts(components), ElementsAre("NCCL 2.27.7", "cuBLAS 12.8.4"));
  EXPECT_NE(components[0].origin.find("nvidia-nccl-cu12 2.28.9"), std::string::npos) << components[0].origin;
  // What another wheel carries is of a release of its own, and takes no record's place.
  write(site + "mine.libs/libcublasLt-0a1b2c3d.so.12.1.3.1", "x");
  write(site + "mine.libs/libnccl-0a1b2c3d.so.2.18.1", "x");
  EXPECT_THAT(Texts(look()), ElementsAre("NCCL 2.18.1", "NCCL 2.27.7", "cuBLAS 12.1.3", "cuBLAS 12.8.4"));
}

// A wheel's libnccl.so.2 has no release in its name, and its record may be another one's.
TEST(Components, NcclSaysItsReleaseInItsData) {
  const Scratch scratch;
  const std::string root = fs::canonical(scratch.path()).string();
  const auto compile = [&](const std::string& name, const std::string& words) {
    std::ofstream(root + "/source.c") << "const char w[] = " << words << ";";
    const std::string command =
        "cc -shared -fPIC -nostdlib -o " + root + "/" + name + " " + root + "/source.c";
    ASSERT_EQ(system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c): a test's own words
  };
  const auto version = [&](const std::string& words) {
    compile("libnccl.so.2", words);
    return VersionBehind(root + "/libnccl.so.2", "NCCL version ");
  };
  EXPECT_EQ(version(R"("NCCL version information\0NCCL version 2.30.7+cuda13.0")"), "2.30.7");
  EXPECT_EQ(version(R"("NCCL version 2.30.7\0NCCL version 2.30.7")"), "2.30.7");
  EXPECT_EQ(version(R"("NCCL version 2.30.7\0NCCL version 2.28.9")"), "") << "which of them?";
  for (const char* none :
       {R"("NCCL version 2.30")", R"("NCCL version %d.%d.%d")", R"("NCCL version ..")", R"("NCCL version")"})
    EXPECT_EQ(version(none), "") << none;
  std::ofstream(root + "/text") << "NCCL version 2.30.7";
  EXPECT_EQ(VersionBehind(root + "/text", "NCCL version "), "") << "no library";
  EXPECT_EQ(VersionBehind(root + "/none", "NCCL version "), "");
  const std::string site = root + "/venv/lib/python3.12/site-packages/";
  fs::create_directories(site + "nvidia/nccl/lib");
  fs::create_directories(site + "nvidia_nccl_cu12-2.28.9.dist-info");
  fs::create_directories(root + "/venv/bin");
  std::ofstream(root + "/venv/pyvenv.cfg") << "home = /usr/bin\n";
  std::ofstream(root + "/venv/bin/python") << "";
  fs::permissions(root + "/venv/bin/python", fs::perms::owner_all);
  compile("venv/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2",
          R"("NCCL version 2.32.3+cuda13.0")");
  std::ofstream(site + "nvidia_nccl_cu12-2.28.9.dist-info/RECORD") << "nvidia/nccl/lib/libnccl.so.2,,\n";
  EXPECT_THAT(Texts(ComponentsOf(ReadComponentRules(KnownEntry),
                                 FilesOfSubject("python:" + root + "/venv/bin/python", {}, ""))),
              ElementsAre("NCCL 2.32.3"));
}

KnownRegression Row(const std::string& effect = "wrong", const std::string& confidence = "sure") {
  KnownRegression row;
  row.effect = effect;
  row.confidence = confidence;
  row.fixed = "9.26.0";
  row.hits = {{"operation", {"attention_backward"}},
              {"dtype", {"float16", "bfloat16"}},
              {"compute_capability_min", {"9.0"}},
              {"compute_capability_max", {"9.0"}}};
  return row;
}

FaultWeight Weight(const KnownRegression& row, const FaultScope& scope) {
  return WeightOf(row, scope, Within);
}

TEST(FaultScopeTest, WithoutAWordFromTheMatrixItIsAWarning) {
  EXPECT_EQ(Weight(Row(), {}), FaultWeight::kWarning);
  EXPECT_EQ(Weight(Row("hang", "likely"), {}), FaultWeight::kWarning);
  EXPECT_EQ(Weight(Row("crash", "unsure"), {}), FaultWeight::kWarning);
  for (const char* effect : {"slow", "memory", "refused"})
    EXPECT_EQ(Weight(Row(effect), {}), FaultWeight::kListed) << effect;
  KnownRegression open = Row();
  open.fixed.clear();
  EXPECT_EQ(Weight(open, {}), FaultWeight::kListed) << "nobody could heed a warning";
}

TEST(FaultScopeTest, WhatIsNotPromisedIsNotHit) {
  FaultScope scope;
  scope.operations = {"convolution", "matmul"};
  EXPECT_EQ(Weight(Row(), scope), FaultWeight::kNone);
  scope = {};
  scope.dtypes = {"float32"};
  EXPECT_EQ(Weight(Row(), scope), FaultWeight::kNone);
  scope.dtypes = {"float32", "bfloat16"};
  EXPECT_EQ(Weight(Row(), scope), FaultWeight::kWarning);
  scope = {};
  scope.gpus = {"8.0", "10.0"};
  EXPECT_EQ(Weight(Row(), scope), FaultWeight::kNone);
  scope.gpus = {"8.0", "9.0"};
  EXPECT_EQ(Weight(Row(), scope), FaultWeight::kWarning);
}

TEST(FaultScopeTest, SureWrongNumbersOfANamedOperationOnAPromisedCardAreRed) {
  FaultScope scope;
  scope.operations = {"attention"};
  EXPECT_EQ(Weight(Row(), scope), FaultWeight::kWarning) << "no card is promised";
  scope.gpus = {"9.0"};
  EXPECT_EQ(Weight(Row(), scope), FaultWeight::kRed);
  EXPECT_EQ(Weight(Row("overwrite"), scope), FaultWeight::kRed);
  EXPECT_EQ(Weight(Row("crash"), scope), FaultWeight::kWarning) << "whoever it hits, notices";
  EXPECT_EQ(Weight(Row("wrong", "likely"), scope), FaultWeight::kWarning);
  KnownRegression row = Row();
  row.hits.erase("compute_capability_min"), row.hits.erase("compute_capability_max");
  scope.gpus.clear();
  EXPECT_EQ(Weight(row, scope), FaultWeight::kRed) << "every card has it";
  row.library = "PyTorch", row.hits.erase("operation");
  EXPECT_EQ(Weight(row, scope), FaultWeight::kWarning) << "nothing was named that it hits";
  row.hits.clear(), row.library = kCudnn;
  EXPECT_EQ(Weight(row, scope), FaultWeight::kNone) << "rows of cuDNN without an operation are convolutions'";
}

TEST(FaultScopeTest, EffectsOfFailOnAreRedUnlessTheRowIsUnsure) {
  FaultScope scope;
  scope.fail_on = {"hang", "memory"};
  EXPECT_EQ(Weight(Row("hang", "likely"), scope), FaultWeight::kRed);
  EXPECT_EQ(Weight(Row("memory"), scope), FaultWeight::kRed);
  EXPECT_EQ(Weight(Row("hang", "unsure"), scope), FaultWeight::kWarning);
  EXPECT_EQ(Weight(Row("crash"), scope), FaultWeight::kWarning);
  scope.gpus = {"10.0"};
  EXPECT_EQ(Weight(Row("hang"), scope), FaultWeight::kNone) << "it hits no promised card";
}

TEST(FaultScopeTest, ProcessorAndNeighbourLimitARow) {
  KnownRegression row = Row("hang", "sure");
  row.hits = {{"operation", {"collective"}}, {"processor", {"aarch64"}}};
  FaultScope scope;
  EXPECT_EQ(Weight(row, scope), FaultWeight::kWarning) << "nobody knows";
  scope.processor = "x86_64";
  EXPECT_EQ(Weight(row, scope), FaultWeight::kNone);
  scope.processor = "aarch64";
  EXPECT_EQ(Weight(row, scope), FaultWeight::kWarning);
  row.hits = {{"cublaslt_min", {"12.9"}}};
  EXPECT_EQ(Weight(row, {}), FaultWeight::kNone) << "there is no cuBLAS";
  scope.cublas = {"12.8"};
  EXPECT_EQ(Weight(row, scope), FaultWeight::kNone);
  scope.cublas = {"12.8", "13.1"};
  EXPECT_EQ(Weight(row, scope), FaultWeight::kWarning);
}

TEST(FaultScopeTest, PromisedCardsAreThoseOfTheRangeThatTheTableKnows) {
  const TableEntry entry = [](const std::string& key) -> std::string {
    for (const char* gpu : {"7.5", "8.0", "9.0", "10.0"})
      if (key == std::string("first_toolkit.") + gpu) return "11.0";
    return "";
  };
  EXPECT_THAT(PromisedGpus(">=8.0 <10", entry, Within), ElementsAre("8.0", "9.0"));
  EXPECT_THAT(PromisedGpus("", entry, Within), IsEmpty());
  EXPECT_THAT(PromisedGpus(">=15", entry, Within), IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
