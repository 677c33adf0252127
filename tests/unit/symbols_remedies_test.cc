// The line that puts a missing library or symbol right, by what the image has on record.
#include <gmock/gmock.h>

#include "symbols_judge_fixture.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SymbolsRemediesTest : public SymbolsJudgeTest {};

// As of Triton's CUPTI: without the copy that is taken, the loader would find none.
TEST_F(SymbolsRemediesTest, ACopyWhereTheLoaderDoesNotLookIsNotHidden) {
  Library(std::string(kSite) + "other/lib/libcupti.so.12",
          "void cuptiActivity(void) {} void cuptiEnable(void) {}");
  Library("old/libcupti.so.12", "void cuptiActivity(void) {}");
  Package("mine");
  Extension("mine/_ext.so", "void cuptiEnable(void); void f(void) { cuptiEnable(); }",
            "@/old/libcupti.so.12");
  Record("mine-1.0", {"mine/_ext.so"});
  Write(std::string(kSite) + "mine-1.0.dist-info/METADATA",
        "Requires-Dist: nvidia-cuda-cupti-cu12==12.8.90\n");
  Write(std::string(kSite) + "pip/__init__.py", "");
  const SymbolJudgement judgement = Judge(Path("old"));
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingSymbol));
  EXPECT_EQ(judgement.faults[0].library, "libcupti.so.12");
  EXPECT_EQ(judgement.faults[0].line,
            "RUN " + Path("venv/bin/python") + " -m pip install --no-deps nvidia-cuda-cupti-cu12==12.8.90");
}

// As of Transformer Engine, which searches for cuRAND and raises an error without it.
TEST_F(SymbolsRemediesTest, WhatAPackageSearchesForAsItIsImportedMustBeThere) {
  const std::string site = kSite, common = site + "transformer_engine/common/__init__.py";
  rules_.toolkit_folders = {Path("toolkit")};
  Write(site + "pip/__init__.py", "");
  Write(common, "_, lib = _load_cuda_library(\"curand\")\n");
  Library("gone/libcudart.so.12", "int a;");
  Library(site + "transformer_engine/wheel_lib/libtransformer_engine.so", "int b;", "@/gone/libcudart.so.12");
  Library(site + "nvidia/cuda_runtime/lib/libcudart.so.12", "int a;");
  Library(site + "nvidia/cudnn/lib/libcudnn.so.9", "int c;");
  Library(site + "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "int d;");
  SymbolJudgement judgement = Judge();
  ASSERT_EQ(LibraryOfOnly(judgement, Kind::kMissingLibrary), "libcurand.so.*");
  EXPECT_EQ(judgement.faults[0].line,
            "RUN " + Path("venv/bin/python") + " -m pip install nvidia-curand-cu12");
  Library("toolkit/libcurand.so.10", "int e;");
  EXPECT_THAT(Judge().faults, IsEmpty());
  // An older release does not search for it.
  rules_.toolkit_folders.clear();
  Write(common, "_, lib = _load_nvrtc()\n");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kUnused));
}

// cupy-cuda12x beside a PyTorch for CUDA 13: the package that asks says the CUDA, and a number that is no
// version says none.
TEST_F(SymbolsRemediesTest, ALineIsForTheCudaOfThePackageThatAsks) {
  const std::string site = kSite;
  Write(site + "pip/__init__.py", "");
  Write(site + "torch/version.py", "__version__ = '2.13.0+cu130'\ncuda = '13.0'\n");
  Library("gone/libcufft.so.11", "int a;");
  Library(site + "nvidia/cu13/lib/libcufft.so.12", "int a;");
  Record("nvidia_cufft-12.0.0.61", {"nvidia/cu13/lib/libcufft.so.12"});
  Package("cupyx", "from ._fft import f\n");
  Extension("cupyx/_fft.so", "", "@/gone/libcufft.so.11");
  Record("cupy_cuda12x-13.6.0", {"cupyx/_fft.so"});
  const auto line = [&] {
    const SymbolJudgement judgement = Judge();
    EXPECT_THAT(Kinds(judgement), ElementsAre(Kind::kOtherMajor));
    return judgement.faults.empty() ? "" : judgement.faults[0].line;
  };
  EXPECT_EQ(line(), "RUN " + Path("venv/bin/python") + " -m pip install nvidia-cufft-cu12");
  // NVTX's release has nothing to do with its file's number.
  Library("gone/libnvToolsExt.so.2", "int a;");
  Library(site + "nvidia/nvtx/lib/libnvToolsExt.so.1", "int a;");
  Record("nvidia_nvtx_cu12-12.9.79", {"nvidia/nvtx/lib/libnvToolsExt.so.1"});
  Extension("cupyx/_fft.so", "", "@/gone/libnvToolsExt.so.2");
  EXPECT_EQ(line(), "");
}

}  // namespace
}  // namespace cudnn_ci
