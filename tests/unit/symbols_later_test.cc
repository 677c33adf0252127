// What packages open when a GPU is first used: whether the image means them to, and for which CUDA.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "symbols_judge_fixture.h"

namespace cudnn_ci {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SymbolsLaterTest : public SymbolsJudgeTest {
 protected:
  const std::string site_ = kSite;

  // TensorFlow for this CUDA, as its own source says it, that looks for CUDA's libraries in three folders.
  void MakeTensorflow(const std::string& cuda) {
    Write(site_ + "tensorflow/python/platform/build_info.py",
          "build_info = collections.OrderedDict([('cpu_compiler', 'clang'), ('cuda_version', '" + cuda +
              "'), ('cudnn_version', '9')])\n");
    Library(site_ + "tensorflow/libtensorflow_framework.so.2", "int tf;",
            "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/../nvidia/cuda_runtime/lib',-rpath,"
            "'$ORIGIN/../nvidia/cublas/lib',-rpath,'$ORIGIN/../nvidia/cudnn/lib'");
  }
};

// TensorFlow 2.16.1 names one of the folders alone.
TEST_F(SymbolsLaterTest, TensorflowOpensByItsOwnRunPath) {
  const std::string framework = site_ + "tensorflow/libtensorflow_framework.so.2";
  std::string all = "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/../nvidia/cuda_runtime/lib'";
  Library(framework, "int tf;", all);
  EXPECT_THAT(Judge().faults, IsEmpty());  // without a GPU's libraries
  Library(site_ + "nvidia/cuda_runtime/lib/libcudart.so.12", "int a;");
  for (const std::string name :
       {"cublas/lib/libcublas.so.12", "cublas/lib/libcublasLt.so.12", "cufft/lib/libcufft.so.11",
        "cusolver/lib/libcusolver.so.11", "cusparse/lib/libcusparse.so.12", "cudnn/lib/libcudnn.so.8"})
    Library(site_ + "nvidia/" + name, "int a;");
  const SymbolJudgement judgement = Judge();
  EXPECT_EQ(LibraryOfOnly(judgement, Kind::kMissingLibrary), "libcublas.so.12");
  EXPECT_EQ(judgement.faults.at(0).line.find("ENV LD_LIBRARY_PATH="), 0U);
  for (const char* name : {"cublas", "cufft", "cusolver", "cusparse", "cudnn"})
    all += std::string(",-rpath,'$ORIGIN/../nvidia/") + name + "/lib'";
  Library(framework, "int tf;", all);
  EXPECT_THAT(Judge().faults, IsEmpty());
}

// Both builds write the same files, and the record's hash tells whose they are.
TEST_F(SymbolsLaterTest, ABuildForTheCpuOnRecordExcusesNoneForGpus) {
  const std::string framework = site_ + "tensorflow/libtensorflow_framework.so.2";
  Library(framework, "int tf;", "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/../nvidia/cuda_runtime/lib'");
  Library(site_ + "nvidia/cuda_runtime/lib/libcudart.so.12", "int a;");
  Record("tensorflow_cpu-2.20.0", {});
  EXPECT_THAT(Judge().faults, IsEmpty());
  Record("tensorflow-2.20.0", {"tensorflow/libtensorflow_framework.so.2"});
  EXPECT_THAT(Kinds(Judge()), Contains(Kind::kMissingLibrary));
}

TEST_F(SymbolsLaterTest, Ctranslate2OpensByNameWhenAModelIsPutOnAGpu) {
  const std::string cudnn = Path(site_ + "nvidia/cudnn/lib"), cublas = Path(site_ + "nvidia/cublas/lib");
  // A library that only some models need, as a row of a team's own may say.
  for (PackageRule& rule : rules_.packages)
    if (rule.import_name == "ctranslate2")
      rule.later.push_back({{}, "libcudnn.so.9", {"ctranslate2.libs/libctranslate2*"}, StepNeed::kPartly});
  Package("ctranslate2", "from ._ext import *\n");
  Extension("ctranslate2/_ext.cpython-312-x86_64-linux-gnu.so");
  EXPECT_THAT(Judge().faults, IsEmpty());  // without a GPU's libraries
  Library(site_ + "nvidia/cudnn/lib/libcudnn.so.9", "int a;");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kMissingLibrary, Kind::kOpenedLater));
  // One that nobody has and one that lies where nobody looks have two cures. What is on record says for which
  // CUDA.
  std::filesystem::remove_all(Path(site_ + "nvidia/cudnn"));
  Write(site_ + "pip/__init__.py", "");
  Record("nvidia_cudnn_cu12-9.1", {});
  Library(site_ + "nvidia/cublas/lib/libcublas.so.12", "int a;");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kOpenedLater, Kind::kOpenedLater));
  EXPECT_EQ(Judge().faults.at(0).line,
            "RUN " + Path("venv/bin/python") +
                " -m pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.1 && printf '%s\\n' " +
                cudnn + " >> /etc/ld.so.conf.d/cuda-python.conf && ldconfig");
  std::filesystem::remove_all(Path(site_ + "pip"));  // no line can be given then
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kOpenedLater, Kind::kOpenedLater));
  Library(site_ + "nvidia/cudnn/lib/libcudnn.so.9", "int a;");
  const SymbolJudgement judgement = Judge();
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kOpenedLater));
  EXPECT_EQ(judgement.faults[0].line, "ENV LD_LIBRARY_PATH=" + cublas + ":" + cudnn);
  EXPECT_THAT(Judge(cublas + ":" + cudnn).faults, IsEmpty());
}

// Another package's cuDNN has the name that TensorFlow's would have.
TEST_F(SymbolsLaterTest, ACudnnAloneDoesNotMeanThatTensorflowUsesAGpu) {
  MakeTensorflow("12.5.1");
  Library(site_ + "nvidia/cudnn/lib/libcudnn.so.9", "int a;");
  EXPECT_THAT(Judge().faults, IsEmpty());
  Library(site_ + "nvidia/cuda_runtime/lib/libcudart.so.12", "int a;");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kMissingLibrary), "libcublas.so.*");
}

// As in an image on a base with a later CUDA; there another package may use it.
TEST_F(SymbolsLaterTest, ACudaThatTensorflowWasNotBuiltForIsNone) {
  MakeTensorflow("12.5.1");
  Library(site_ + "nvidia/cuda_runtime/lib/libcudart.so.13", "int a;");
  const SymbolJudgement alone = Judge();
  EXPECT_EQ(LibraryOfOnly(alone, Kind::kMissingLibrary), "libcudart.so.*");
  MakeTorch();
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kOpenedLater));
  MakeTensorflow("13.0.1");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kMissingLibrary), "libcublas.so.*");
}

// Its plugin on record is for a GPU, also where no library of CUDA is.
TEST_F(SymbolsLaterTest, APackageForGpusOnRecordMeansThem) {
  Library(site_ + "jax_plugins/xla_cuda13/xla_cuda_plugin.so", "int a;");
  EXPECT_THAT(Judge().faults, IsEmpty());
  Record("jax_cuda13_plugin-0.12.0", {"jax_plugins/xla_cuda13/xla_cuda_plugin.so"});
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kMissingLibrary), "libcudart.so.*");
  std::filesystem::remove_all(Path(site_ + "jax_plugins"));
  Write(site_ + "cupy_backends/cuda/libs/__init__.py", "from cuda import pathfinder\n");
  EXPECT_THAT(Judge().faults, IsEmpty());
  Record("cupy_cuda13x-14.2.0", {"cupy_backends/cuda/libs/__init__.py"});
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kMissingLibrary), "libcublasLt.so.*");
}

// As in CTranslate2's wheel, whose extension module finds the library through "..".
TEST_F(SymbolsLaterTest, WhoOpensALibraryIsKnownBehindAnyRunPath) {
  const std::string library = site_ + "ctranslate2.libs/libctranslate2-a7a60d30.so.4";
  const std::string look = "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/../nvidia/cublas/lib'";
  Library(library, "int a;");
  Package("ctranslate2", "from ._ext import *\n");
  Extension("ctranslate2/_ext.cpython-312-x86_64-linux-gnu.so", "",
            "@/" + library + " -Wl,--disable-new-dtags,-rpath,'$ORIGIN/../ctranslate2.libs'");
  Library(site_ + "nvidia/cublas/lib/libcublas.so.12", "int a;");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kOpenedLater), "libcublas.so.12");
  Library(library, "int a;", look);
  EXPECT_THAT(Judge().faults, IsEmpty());
}

// It is opened with the first solver.
TEST_F(SymbolsLaterTest, WhatOnlyAPartOfAPackageLacksIsAWarning) {
  MakeTorch();
  Library("gone/libcusolver.so.12", "int a;");
  Library(site_ + "torch/lib/libtorch_cuda_linalg.so", "int b;", "@/gone/libcusolver.so.12");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kOpenedLater), "libcusolver.so.12");
  Library(site_ + "nvidia/cusolver/lib/libcusolver.so.11", "int a;");  // that of another CUDA
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kOpenedLater), "libcusolver.so.12");
}

}  // namespace
}  // namespace cudnn_ci
