// The line that puts a missing library or symbol right, by what the image has on record.
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "image/symbols/symbols_openers.h"
#include "symbols_judge_fixture.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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

// As of PyTorch for CUDA 13 with NCCL of both: pip would do nothing for a version that is on record.
TEST_F(SymbolsRemediesTest, AFileThatAnotherPackageHasReplacedIsInstalledAnew) {
  const std::string site = kSite;
  Write(site + "pip/__init__.py", "");
  Library(site + "nvidia/nccl/lib/libnccl.so.2", "void ncclSend(void) {}");
  Record("nvidia_nccl_cu13-2.30.7", {"nvidia/nccl/include/nccl.h"});
  Record("nvidia_nccl_cu12-2.29.3", {"nvidia/nccl/lib/libnccl.so.2"});
  Library("new/libnccl.so.2", "void ncclSend(void) {} void ncclCommShrink(void) {}");
  Package("mine");
  Extension("mine/_ext.so", "void ncclCommShrink(void); void f(void) { ncclCommShrink(); }",
            "@/new/libnccl.so.2");
  Record("mine-1.0", {"mine/_ext.so"});
  Write(site + "mine-1.0.dist-info/METADATA", "Requires-Dist: nvidia-nccl-cu13==2.30.7\n");
  const SymbolJudgement judgement = Judge(Path(std::string(kSite) + "nvidia/nccl/lib"));
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingSymbol));
  const std::string pip = Path("venv/bin/python") + " -m pip ";
  EXPECT_EQ(judgement.faults[0].line, "RUN " + pip + "uninstall -y nvidia-nccl-cu13 nvidia-nccl-cu12 && " +
                                          pip + "install --no-deps nvidia-nccl-cu13==2.30.7");
}

// As of ONNX Runtime for cuDNN 8 beside PyTorch: the line for one would break the other.
TEST_F(SymbolsRemediesTest, WhatAnotherPackageRequiresAndHasIsTakenByNoLine) {
  const std::string site = kSite;
  Write(site + "pip/__init__.py", "");
  Library("gone/libcudnn.so.8", "int a;");
  Library(site + "nvidia/cudnn/lib/libcudnn.so.9", "int b;");
  Record("nvidia_cudnn_cu12-9.1.0.70", {"nvidia/cudnn/lib/libcudnn.so.9"});
  Package("mine");
  Extension("mine/_ext.so", "", "@/gone/libcudnn.so.8 -Wl,-rpath,'$ORIGIN/../nvidia/cudnn/lib'");
  Record("mine-1.0", {"mine/_ext.so"});
  const auto line = [&] {
    const SymbolJudgement judgement = Judge();
    return judgement.faults.empty() ? "no fault" : judgement.faults[0].line;
  };
  EXPECT_EQ(line(), "RUN " + Path("venv/bin/python") + " -m pip install --no-deps 'nvidia-cudnn-cu12==8.*'");
  Record("other-1.0", {});
  Write(site + "other-1.0.dist-info/METADATA", "Requires-Dist: nvidia-cudnn-cu12==9.1.0.70\n");
  EXPECT_EQ(line(), "");
}

// As of ONNX Runtime for CUDA 13: the newest release of such a package is for another CUDA one day.
TEST_F(SymbolsRemediesTest, APackageWithoutASuffixIsBoundToItsCuda) {
  Write(std::string(kSite) + "pip/__init__.py", "");
  for (const std::string name : {"libcublas.so.13", "libcudart.so.13", "libcurand.so.10"})
    Library("gone/" + name, "int a;");
  Package("ort", "from ._ext import f\n");
  Extension("ort/_ext.so", "",
            "@/gone/libcublas.so.13 @/gone/libcudart.so.13 @/gone/libcurand.so.10 "
            "-Wl,-rpath,'$ORIGIN/../nvidia/cu13/lib'");
  Record("ort_gpu-1.0", {"ort/_ext.so"});
  const SymbolJudgement judgement = Judge();
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingLibrary));
  EXPECT_EQ(judgement.faults[0].line, "RUN " + Path("venv/bin/python") +
                                          " -m pip install 'nvidia-cublas==13.*' "
                                          "'nvidia-cuda-runtime==13.*' 'nvidia-curand==10.*'");
}

// As of Transformer Engine, which searches for cuRAND and raises an error without it.
TEST_F(SymbolsRemediesTest, WhatAPackageSearchesForAsItIsImportedMustBeThere) {
  const std::string site = kSite, common = site + "transformer_engine/common/__init__.py";
  rules_.toolkit_folders = {Path("toolkit")};
  Write(site + "pip/__init__.py", "");
  Write(common, "_, lib = _load_cuda_library(\"curand\")\n");
  Library("gone/libcudart.so.13", "int a;");
  Library(site + "transformer_engine/wheel_lib/libtransformer_engine.so", "int b;", "@/gone/libcudart.so.13");
  Library(site + "nvidia/cu13/lib/libcudart.so.13", "int a;");
  Library(site + "nvidia/cudnn/lib/libcudnn.so.9", "int c;");
  Library(site + "nvidia/cu13/lib/libnvrtc.so.13", "int d;");
  SymbolJudgement judgement = Judge();
  ASSERT_EQ(LibraryOfOnly(judgement, Kind::kMissingLibrary), "libcurand.so.*");
  EXPECT_EQ(judgement.faults[0].line,
            "RUN " + Path("venv/bin/python") + " -m pip install 'nvidia-curand==10.*'");
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
  Extension("cupyx/_fft.so", "", "@/gone/libcufft.so.11 -Wl,-rpath,'$ORIGIN/../nvidia/cufft/lib'");
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

// Its number says which packages bring it, whatever CUDA the rest of the image is for.
TEST_F(SymbolsRemediesTest, ALineNamesThePackageThatBringsTheNumber) {
  const std::string site = kSite, torch = site + "torch/version.py";
  Write(site + "pip/__init__.py", "");
  Package("mine", "from ._ext import f\n");
  Library(site + "nvidia/cusparse/lib/libcusparse.so.12", "int a;");
  Record("nvidia_cusparse_cu12-12.5.8.93", {"nvidia/cusparse/lib/libcusparse.so.12"});
  Library(site + "nvidia/cudnn/lib/libcudnn.so.9", "int a;");
  Record("nvidia_cudnn_cu13-9.19.0.56", {"nvidia/cudnn/lib/libcudnn.so.9"});
  Record("mine-1.0", {"mine/_ext.so"});
  const auto lacking = [&](const std::string& library) {
    Library("gone/" + library, "int a;");
    Extension(
        "mine/_ext.so", "",
        "@/gone/" + library + " -Wl,-rpath,'$ORIGIN/../nvidia/cudnn/lib:$ORIGIN/../nvidia/cusparse/lib'");
    const SymbolJudgement judgement = Judge();
    EXPECT_THAT(Kinds(judgement), ElementsAre(Kind::kOtherMajor));
    return judgement.faults.empty() ? SymbolFault() : judgement.faults[0];
  };
  const std::string pip = "RUN " + Path("venv/bin/python") + " -m pip install ";
  EXPECT_EQ(lacking("libcusparse.so.11").line, pip + "nvidia-cusparse-cu11");
  // Nobody has brought such a number.
  EXPECT_EQ(lacking("libcusparse.so.9").line, "");
  EXPECT_THAT(lacking("libcusparse.so.9").detail, Not(HasSubstr("contains it")));
  // CUDA 13 has none.
  EXPECT_EQ(lacking("libcudnn.so.8").line, "");
  EXPECT_THAT(lacking("libcudnn.so.8").detail, HasSubstr("nvidia-cudnn-cu11 8.* or nvidia-cudnn-cu12 8.*"));
  Write(torch, "__version__ = '2.3.0'\ncuda = '12.1'\n");
  EXPECT_EQ(lacking("libcudnn.so.8").line, pip + "'nvidia-cudnn-cu12==8.*'");
}

// A wheel of pip's lies where nothing of conda's looks.
TEST_F(SymbolsRemediesTest, WhatCondaHasInstalledGetsALineOfCondas) {
  const std::string site = kSite;
  Write(site + "pip/__init__.py", "");
  Write("venv/conda-meta/history", "");
  Package("mine", "from ._ext import f\n");
  Library("gone/libcufft.so.11", "int a;");
  Extension("mine/_ext.so", "", "@/gone/libcufft.so.11 -Wl,-rpath,'$ORIGIN/../nvidia/cufft/lib'");
  Record("mine-1.0", {"mine/_ext.so"});
  const auto line = [&] {
    const SymbolJudgement judgement = Judge();
    EXPECT_EQ(judgement.faults.size(), 1U);
    return judgement.faults.empty() ? "" : judgement.faults[0].line;
  };
  EXPECT_EQ(line(), "RUN " + Path("venv/bin/python") + " -m pip install nvidia-cufft-cu12") << "pip's";
  Write(site + "mine-1.0.dist-info/INSTALLER", "conda\n");
  EXPECT_EQ(line(), "") << "there is no conda";
  Write("venv/bin/conda", "");
  const std::string conda =
      "RUN " + Path("venv/bin/conda") + " install -y -p " + Path("venv") + " -c conda-forge ";
  EXPECT_EQ(line(), conda + "libcufft=11");
  Write("venv/conda-meta/libcufft-11.3.3.83-h5888daf_1.json",
        R"({"name": "libcufft", "version": "11.3.3.83", "files": []})");
  EXPECT_EQ(line(), conda + "--force-reinstall libcufft=11.3.3.83");
  Library("gone/libcufft.so.10", "int a;");
  Extension("mine/_ext.so", "", "@/gone/libcufft.so.10");
  EXPECT_EQ(line(), "") << "of CUDA 11, which has no such package";
}

TEST_F(SymbolsRemediesTest, ALibraryForAnotherCudaIsNotTheOneThatARuleOpens) {
  const std::string site = kSite;
  Write(site + "pip/__init__.py", "");
  Write(site + "cupy_backends/cuda/libs/__init__.py", "from cuda import pathfinder\n");
  Library("gone/libcublas.so.12", "int a;");
  Extension("cupy_backends/cuda/libs/cublas.so", "", "@/gone/libcublas.so.12");
  Library(site + "nvidia/cusparse/lib/libcusparse.so.12", "int a;");
  for (const std::string name : {"libcublas.so.13", "libcublasLt.so.13", "libcufft.so.12"})
    Library(site + "nvidia/cu13/lib/" + name, "int a;");
  std::set<std::string> lines, hidden;
  for (const SymbolFault& fault : Judge().faults) {
    if (!fault.asker.empty()) continue;  // the rule's
    lines.insert(fault.line);
    hidden.insert(fault.detail.find("nvidia/cu13/lib") == std::string::npos ? "" : fault.detail);
  }
  EXPECT_THAT(lines,
              ElementsAre("RUN " + Path("venv/bin/python") +
                          " -m pip install nvidia-cublas-cu12 nvidia-cuda-nvrtc-cu12 nvidia-cufft-cu12 "
                          "nvidia-curand-cu12 nvidia-cusolver-cu12"));
  EXPECT_THAT(hidden, ElementsAre(""));
}

TEST_F(SymbolsRemediesTest, ALineThatOpensALibraryInAnyCase) {
  const std::string source = R"(import ctypes
from ctypes import CDLL as _C
a = ctypes.CDLL("liba.so.1", mode=ctypes.RTLD_GLOBAL)  # in any case
CDLL('libb.so')
c = ctypes.CDLL("libc.so.1") if here else None
with suppress(OSError):
    ctypes.CDLL("libd.so.1")
def load():
    return ctypes.CDLL("libe.so.1")
TEXT = """
ctypes.CDLL("libf.so.1")
"""
g = [ctypes.CDLL("libg.so.1")]
h = ctypes.CDLL(f"libh.so.{major}")
i = ctypes.CDLL("libi.so.1" if here else "libj.so.1")
k = lambda: ctypes.CDLL("libk.so.1")
l = ctypes.CDLL("libl.so." + major)
m = ctypes.CDLL("libm.so.1") or None
)";
  EXPECT_THAT(PlainlyOpened(source, {"CDLL"}), ElementsAre("liba.so.1", "libb.so"));
}

TEST_F(SymbolsRemediesTest, AStatementThatOpensALibraryInAnyForm) {
  const auto opened = [](const std::string& source) { return PlainlyOpened(source, {"CDLL"}); };
  EXPECT_THAT(opened("import ctypes; a = ctypes.CDLL('liba.so.1')\n"), ElementsAre("liba.so.1"));
  EXPECT_THAT(opened("a = 'x;y'; ctypes.CDLL('liba.so.1'); b = ctypes.CDLL('libb.so.1')  # both\n"),
              ElementsAre("liba.so.1", "libb.so.1"));
  EXPECT_THAT(opened("lib: ctypes.CDLL = ctypes.CDLL(\"liba.so.1\")\n"), ElementsAre("liba.so.1"));
  EXPECT_THAT(opened("lib: Optional[ctypes.CDLL] = other = CDLL('liba.so.1')\n"), ElementsAre("liba.so.1"));
  EXPECT_THAT(opened("lib = ctypes.CDLL(  # all of it\n    'liba.so.1',\n    mode=1,\n)\nx = 1\n"),
              ElementsAre("liba.so.1"));
  EXPECT_THAT(opened("lib = \\\n  ctypes.CDLL('liba.so.1')\n"), ElementsAre("liba.so.1"));
  for (const char* none : {"if there: pass; ctypes.CDLL('liba.so.1')\n", "for x in y: a; CDLL('liba.so.1')\n",
                           "import sys; raise ImportError; CDLL('liba.so.1')\n", "lib: ctypes.CDLL\n",
                           "a = {'x': CDLL('liba.so.1')}\n",
                           "lib = ctypes.CDLL(\n    'liba.so.1' if here else 'libb.so.1'\n)\n"})
    EXPECT_THAT(opened(none), IsEmpty()) << none;
}

// What is called CDLL need not be that of ctypes.
TEST_F(SymbolsRemediesTest, AnOpenerOfTheSourcesOwnMayDoAnything) {
  const std::string call = "CDLL('liba.so.1')\n";
  for (const char* own :
       {"def CDLL(name):\n  pass\n", "class CDLL:\n  pass\n", "CDLL = find\n", "from .native import CDLL\n",
        "from . import other as CDLL\n", "from .native import (\n    open,\n    CDLL,\n)\n",
        "try:\n  from ctypes import CDLL\nexcept ImportError:\n  def CDLL(name):\n    pass\n"})
    EXPECT_THAT(PlainlyOpened(own + call, {"CDLL"}), IsEmpty()) << own;
  EXPECT_THAT(PlainlyOpened("from . import native\nnative." + call, {"CDLL"}), IsEmpty());
  for (const char* of_ctypes : {"from ctypes import CDLL\n", "from ctypes import *\n",
                                "from .native import X\n", "class A:\n  def CDLL(self):\n    pass\n"})
    EXPECT_THAT(PlainlyOpened(of_ctypes + call, {"CDLL"}), ElementsAre("liba.so.1")) << of_ctypes;
}

// An import that may have ended executes nothing behind that; a function that raises ends none.
TEST_F(SymbolsRemediesTest, NothingIsOpenedInAnyCaseBehindAStatementThatMayEndTheImport) {
  const std::string opens = "\nctypes.CDLL(\"liba.so.1\")\n";
  for (const char* end :
       {"if there:\n  raise ImportError", "if there: raise ImportError", "raise ImportError",
        "if there:\n  import sys\n  sys.exit(1)", "def f():\n  pass\ntry:\n  f()\nexcept OSError:\n  raise"})
    EXPECT_THAT(PlainlyOpened(end + opens, {"CDLL"}), IsEmpty()) << end;
  EXPECT_THAT(PlainlyOpened("def f():\n  raise OSError\n" + opens + "raise OSError\n", {"CDLL"}),
              ElementsAre("liba.so.1"));
}

// "libcudart.so" is the link for compilers, which an image for running does not have.
TEST_F(SymbolsRemediesTest, ALibraryThatAnImportOpensByANameThatNothingHas) {
  const std::string site = kSite;
  Library(site + "nvidia/cuda_runtime/lib/libcudart.so.12", "int a;");
  Package("mine", "from . import native\n");
  const auto opens = [&](const std::string& line) {
    Write(site + "mine/native.py", "import ctypes\n" + line + "\n");
    return Judge();
  };
  EXPECT_EQ(LibraryOfOnly(opens("ctypes.CDLL('libcudart.so')"), Kind::kMissingLibrary), "libcudart.so");
  const std::string there = Path(site + "nvidia/cuda_runtime/lib");
  EXPECT_EQ(opens("ctypes.CDLL('libcudart.so')").faults.at(0).line,
            "RUN ln -s libcudart.so.12 " + there + "/libcudart.so && printf '%s\\n' " + there +
                " >> /etc/ld.so.conf.d/cuda-python.conf && ldconfig");
  EXPECT_THAT(Kinds(opens("ctypes.CDLL('libsndfile.so.1')")), ElementsAre(Kind::kUnused));
  for (const std::string known : {"ctypes.CDLL('libcudart.so.12')", "ctypes.CDLL('libcuda.so.1')",
                                  "ctypes.CDLL('libnvidia-ml.so.1')", "ctypes.CDLL('lib/libcudart.so')"})
    EXPECT_THAT(opens(known).faults, IsEmpty()) << known;
  EXPECT_THAT(opens("try:\n  ctypes.CDLL('libcudart.so')\nexcept OSError:\n  pass").faults, IsEmpty());
  EXPECT_EQ(LibraryOfOnly(opens("ctypes.CDLL('libcufft.so.10')"), Kind::kMissingLibrary), "libcufft.so.10");
  Library("/vendor/libcufft.so.10", "int a;");
  EXPECT_THAT(
      opens("ctypes.CDLL('" + Path("/vendor/libcufft.so.10") + "')\nctypes.CDLL('libcufft.so.10')").faults,
      IsEmpty());
  // A module that is imported only if somebody asks for it.
  Package("mine", "def later():\n  from . import native\n");
  EXPECT_THAT(opens("ctypes.CDLL('libcudart.so')").faults, IsEmpty());
}

TEST_F(SymbolsRemediesTest, ABundledCompilerIsAskedForItsBuiltIns) {
  const std::string site = kSite, libs = site + "mine.libs/",
                    bundled = libs + "libnvrtc-0a1b2c3d.so.12.4.127";
  Library(bundled, "int nvrtc;");
  Extension("mine/_ext.so", "", "@/" + bundled + " -Wl,-rpath,'$ORIGIN/../mine.libs'");
  Package("mine", "from . import _ext\n");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kUnused), "libnvrtc-builtins.so.12.4") << "for the CPU";
  Library(site + "nvidia/cuda_runtime/lib/libcudart.so.12", "int a;");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kOpenedLater), "libnvrtc-builtins.so.12.4");
  Library(site + "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.4", "int b;");
  const SymbolJudgement hidden = Judge();
  ASSERT_THAT(Kinds(hidden), ElementsAre(Kind::kOpenedLater));
  EXPECT_EQ(hidden.faults[0].line, "ENV LD_LIBRARY_PATH=" + Path(site + "nvidia/cuda_nvrtc/lib"));
  // A wheel that carries both.
  Library(libs + "libnvrtc-builtins-2dc4bf68.so.12.4", "int b;");
  EXPECT_THAT(Kinds(Judge()), ::testing::Not(::testing::Contains(Kind::kOpenedLater)));
}

}  // namespace
}  // namespace cudnn_ci
