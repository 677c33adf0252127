// Programs that bring libraries of CUDA: which of an image count, and as which subjects.
#include "image/contents/programs.h"

#include <gmock/gmock.h>

#include "image/contents/environments.h"
#include "shipped_knowledge.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ProgramsTest : public SubjectTree {
 protected:
  std::vector<Candidate> Candidates(bool only_with_libraries = false,
                                    const std::vector<std::string>& prefixes = {}) const {
    const FoundPrograms found =
        FindPrograms({{"PATH", At("usr/bin")}}, PackageNamesOf(ShippedKnowledge()).cuda, prefixes,
                     only_with_libraries, root_);
    EXPECT_TRUE(found.complete);
    return found.candidates;
  }
  // Their specifications, without the root.
  std::vector<std::string> Found(bool only_with_libraries = false,
                                 const std::vector<std::string>& prefixes = {}) const {
    std::vector<std::string> specs;
    for (const Candidate& candidate : Candidates(only_with_libraries, prefixes)) {
      std::string spec = candidate.spec;
      for (size_t at; (at = spec.find(root_ + "/")) != std::string::npos;) spec.erase(at, root_.size() + 1);
      specs.push_back(spec);
    }
    return specs;
  }
  void Program(const std::string& file, const std::string& path) const {
    Copy(file, path);
    std::filesystem::permissions(At(path), std::filesystem::perms::owner_all);
  }
};

TEST_F(ProgramsTest, AProgramThatNeedsALibraryOfCudaBesideItCounts) {
  Program(CUDNN_CI_PROGRAM_RUNPATH, "opt/app/bin/run");
  Copy(CUDNN_CI_NEEDS_LIBCUDART, "opt/app/lib/libinner.so");
  Copy(CUDNN_CI_DEVICE_CODE, "opt/app/lib/libcudart.so.12");
  const std::vector<Candidate> found = Candidates();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].spec, "program:" + At("opt/app/bin/run"));
  EXPECT_EQ(found[0].name, NameOfPrefix(At("opt/app/bin/run")));
  EXPECT_EQ(found[0].cuda, "12");
  EXPECT_TRUE(found[0].gpu.asks_for_runtime);
  EXPECT_FALSE(found[0].gpu.asks_for_cudnn);
  EXPECT_THAT(Found(true), SizeIs(1));
}

TEST_F(ProgramsTest, LibrariesThatItOpensByNameAreJudgedThemselves) {
  Program(CUDNN_CI_PROGRAM_RUNPATH, "opt/app/bin/run");
  Copy(CUDNN_CI_NEEDS_LIBCUDA, "opt/app/lib/libinner.so");
  Copy(CUDNN_CI_DEVICE_CODE, "opt/app/lib/libbackend.so");
  EXPECT_THAT(Found(), ElementsAre("program:opt/app/bin/run"))
      << "what it needs uses a GPU, whatever else lies there";
  std::filesystem::remove(At("opt/app/lib/libinner.so"));
  EXPECT_THAT(Found(), ElementsAre("path:opt/app/lib"));
}

TEST_F(ProgramsTest, ProgramsThatShareTheirLibrariesAreOne) {
  for (const char* name : {"server", "client", "bench"})
    Program(CUDNN_CI_PROGRAM_RUNPATH, std::string("app/bin/") + name);
  Copy(CUDNN_CI_DEVICE_CODE, "app/lib/libinner.so");
  File("app/lib/libcudart.so.12");
  EXPECT_THAT(Found(), ElementsAre("path:app/lib"));
}

// Ollama: a program without a run path opens what lies beside it, a folder for each CUDA.
TEST_F(ProgramsTest, FoldersThatNoProgramNamesAreEachACandidate) {
  Copy(CUDNN_CI_NEEDS_LIBCUDART, "usr/lib/ollama/cuda_v12/libggml-cuda.so");
  File("usr/lib/ollama/cuda_v12/libcudart.so.12");
  File("usr/lib/ollama/cuda_v13/libcudart.so.13");
  EXPECT_THAT(Found(), ElementsAre("path:usr/lib/ollama/cuda_v12", "path:usr/lib/ollama/cuda_v13"));
  const std::vector<Candidate> found = Candidates();
  EXPECT_EQ(found[0].cuda, "12");
  EXPECT_EQ(found[1].cuda, "13");
  // It needs what lies above.
  File("usr/lib/ollama/libcudart.so.12");
  std::filesystem::remove(At("usr/lib/ollama/cuda_v12/libcudart.so.12"));
  Copy(CUDNN_CI_DEVICE_CODE, "usr/lib/ollama/cuda_v12/libkernels.so");
  EXPECT_THAT(Found(), ElementsAre("path:usr/lib/ollama", "path:usr/lib/ollama/cuda_v12:usr/lib/ollama",
                                   "path:usr/lib/ollama/cuda_v13"));
}

TEST_F(ProgramsTest, AProgramWithDeviceCodeAndNoLibraryCountsIfTheLoaderHasNone) {
  Program(CUDNN_CI_DEVICE_CODE, "usr/bin/solver");
  EXPECT_THAT(Found(), ElementsAre("program:usr/bin/solver"));
  EXPECT_THAT(Found(true), IsEmpty());
}

TEST_F(ProgramsTest, ToolkitsToolsPackagesAndWhatOnlyNeedsTheDriverDoNotCount) {
  for (const char* folder :
       {"usr/local/cuda-13.0/lib64", "opt/nvidia/nsight/host", "usr/local/lib/python3.11/site-packages/x",
        "opt/venv/lib/x", "opt/conda/lib", "usr/lib"})
    Copy(CUDNN_CI_DEVICE_CODE, std::string(folder) + "/libcudart.so.13");
  File("opt/conda/conda-meta/history");
  Copy(CUDNN_CI_NEEDS_LIBCUDA, "usr/lib/openmpi/libplugin.so");
  EXPECT_THAT(Found(false, {At("opt/venv"), At("usr")}), IsEmpty());
}

// "RUN ldconfig" is what such an image lacks.
// torch/bin/torch_shm_manager of a build from source that a .pth names, and of a --target folder.
TEST_F(ProgramsTest, HelpersOfPythonPackagesAreNoPrograms) {
  const auto add = [this](const std::string& package) {
    Program(CUDNN_CI_PROGRAM_RUNPATH, package + "/bin/helper");
    Copy(CUDNN_CI_NEEDS_LIBCUDART, package + "/lib/libinner.so");
    Copy(CUDNN_CI_DEVICE_CODE, package + "/lib/libcudart.so.12");
    File(package + "/__init__.py");
  };
  add("opt/src/torch");
  File("opt/src/torch/_C.cpython-311-x86_64-linux-gnu.so");
  add("opt/tgt/plain");
  File("opt/tgt/plain-1.dist-info/RECORD");
  Copy(CUDNN_CI_DEVICE_CODE, "opt/tgt/nvidia/cu13/lib/libcudart.so.13");
  EXPECT_THAT(Found(), IsEmpty());
  // An application that is also a module keeps its programs.
  add("app/server");
  EXPECT_THAT(Found(), ElementsAre("program:app/server/bin/helper"));
}

TEST_F(ProgramsTest, WhatLiesInTheFoldersOfTheLoadersConfigurationIsTheLoaders) {
  File("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
  Copy(CUDNN_CI_DEVICE_CODE, "usr/local/lib/libcudart.so.13");
  EXPECT_THAT(Found(), ElementsAre("path:usr/local/lib"));
  File("etc/ld.so.conf.d/libc.conf", "# comment\n/usr/local/lib\n");
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(ProgramsTest, ACudnnBesideItIsKnown) {
  File("srv/tool/lib/libcudnn.so.9");
  const std::vector<Candidate> found = Candidates();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].cudnn, At("srv/tool/lib"));
  EXPECT_EQ(found[0].cuda, "");
}

}  // namespace
}  // namespace cudnn_ci
