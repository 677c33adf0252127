// What opens a library decides whether it is needed: openers in a package's sources, and files that it has
// once for each release of something else.
#include "image/symbols/symbols_openers.h"

#include <gmock/gmock.h>

#include "image/symbols/symbols_variants.h"
#include "symbols_judge_fixture.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kGone[] = "void _ZN3c104goneEv(void); void f(void) { _ZN3c104goneEv(); }";

class SymbolsOpenersTest : public SymbolsJudgeTest {
 protected:
  const std::string site_ = kSite;

  // A library of the package "mine" that needs one which is nowhere.
  void Lacking(const std::string& name, const std::string& needed) {
    Library("gone/" + needed, "int a;");
    Library(site_ + "mine/" + name, "int b;", "@/gone/" + needed);
  }
  void TorchVersion(const std::string& version, const std::string& cuda) {
    Write(site_ + "torch/version.py", "from typing import Optional\n__version__ = '" + version +
                                          "'\ncuda: Optional[str] = '" + cuda + "'\ngit_version = 'x'\n");
  }
};

TEST(SymbolsOpeners, PartsOfASource) {
  const SourceOutline outline = OutlineOf(R"(import ctypes
NAME = 'libmine.so'  # not 'this'
def load(version):
    '''libdoc.so
    CDLL(x)'''
    for v in (4, 5):
        ctypes.CDLL(f"libcore{v}.so",
                    mode=1)
class A:
    def load(self):
        dlopen('libofclass.so')
with place():
    load(
      3)
try:
    helper()
except OSError:
    pass
other()
)");
  EXPECT_THAT(outline.surely.calls, ElementsAre("load", "other", "place"));
  EXPECT_THAT(outline.surely.literals, ElementsAre("libmine.so"));
  EXPECT_THAT(outline.tried.calls, ElementsAre("helper"));
  ASSERT_THAT(outline.functions, ::testing::SizeIs(1));
  EXPECT_THAT(outline.functions.at("load").calls, Contains("CDLL"));
  EXPECT_THAT(outline.functions.at("load").literals, ElementsAre(".so", "libcore"));
}

TEST(SymbolsVariants, NamesAndWhatTheyFit) {
  const MachineWords machines = ReadSymbolRules(KnownEntry).machines;
  EXPECT_EQ(VariantOf("b/libbitsandbytes_cuda118.so", machines).key, "b/libbitsandbytes_#");
  EXPECT_EQ(VariantOf("b/libbitsandbytes_cpu.so", machines).key, "b/libbitsandbytes_#");
  EXPECT_EQ(VariantOf("t/libtorchcodec_core5.so", machines).key,
            VariantOf("t/libtorchcodec_core8.so", machines).key);
  EXPECT_NE(VariantOf("t/libtorchcodec_core5.so", machines).key,
            VariantOf("t/libtorchcodec_ops5.so", machines).key);
  EXPECT_EQ(VariantOf("k/sm90/common_ops.abi3.so", machines).key,
            VariantOf("k/sm100/common_ops.abi3.so", machines).key);
  EXPECT_THAT(VariantOf("mine/_ext.so", machines).marks, IsEmpty());
  const BuiltWith torch = {"2.10.1+cu126", "12.6"};
  const auto fit = [&](const char* name) { return FitOf(VariantOf(name, machines), torch); };
  for (const char* name : {"x_cuda126.so", "x_cu12.so", "x_torch210.so", "x_torch210-cuda.so"})
    EXPECT_EQ(fit(name), VariantFit::kFits) << name;
  for (const char* name :
       {"x_cuda118.so", "x_cu13.so", "x_torch29.so", "x_torch210-cpu.so", "x_torch29-cuda.so"})
    EXPECT_EQ(fit(name), VariantFit::kOther) << name;
  for (const char* name : {"x_core5.so", "x.so"}) EXPECT_EQ(fit(name), VariantFit::kUnknown) << name;
  EXPECT_EQ(FitOf(VariantOf("x_cu12.so", machines), {}), VariantFit::kUnknown);
  EXPECT_TRUE(NamesFile("libtorchcodec_core", "libtorchcodec_core5.so", machines));
  EXPECT_TRUE(NamesFile("bitsandbytes_cuda", "libbitsandbytes_cuda118.so", machines));
  EXPECT_TRUE(NamesFile("_torchaudio", "_torchaudio.abi3.so", machines));
  EXPECT_FALSE(NamesFile("lib", "libtorchcodec_core5.so", machines));
  EXPECT_FALSE(NamesFile("libtorchcodec_ops", "libtorchcodec_core5.so", machines));
}

// As of the wheels of CTranslate2 3: auditwheel bundled cuDNN's main library, which opens its parts by name.
TEST_F(SymbolsOpenersTest, ABundledCudnnIsAskedWhatItOpensByName) {
  const std::string bundled = site_ + "mine.libs/libcudnn-463fd6d5.so.8.9.7";
  Library(bundled, "int cudnn;");
  Extension("mine/_ext.so", "", "@/" + bundled + " -Wl,-rpath,'$ORIGIN/../mine.libs'");
  Package("mine", "from . import _ext\n");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kUnused)) << "for the CPU";
  Library(site_ + "nvidia/cudnn/lib/libcudnn.so.9", "int nine;");
  EXPECT_THAT(Only(Judge(), Kind::kOpenedLater),
              AllOf(HasSubstr("opens libcudnn_ops_infer.so.8"), HasSubstr("another major"),
                    HasSubstr("nvidia/cudnn/lib/libcudnn.so.9")));
  Library(site_ + "nvidia/cudnn/lib/libcudnn_ops_infer.so.8", "int eight;");
  const SymbolJudgement hidden = Judge();
  ASSERT_THAT(Kinds(hidden), ElementsAre(Kind::kOpenedLater));
  EXPECT_EQ(hidden.faults[0].line, "ENV LD_LIBRARY_PATH=" + Path(site_ + "nvidia/cudnn/lib"));
  EXPECT_THAT(Judge(Path(site_ + "nvidia/cudnn/lib")).faults, IsEmpty());
}

// PaddlePaddle's wheel for GPUs brings none of CUDA's libraries and opens them by name.
TEST_F(SymbolsOpenersTest, AnEnvironmentForAGpuWithoutAnyLibraryOfCudaIsBroken) {
  Write(site_ + "paddle/__init__.py", "set_flags({\"FLAGS_nvidia_package_dir\": x})\n");
  Library(site_ + "paddle/base/libpaddle.so", "int paddle;");
  Record("paddlepaddle-2.6.2", {"paddle/base/libpaddle.so"});
  EXPECT_THAT(Judge().faults, IsEmpty());  // for the CPU
  Library(site_ + "nvidia/cudnn/lib/libcudnn.so.9", "int a;");
  EXPECT_THAT(Judge().faults, IsEmpty()) << "whatever lies beside it";
  std::filesystem::remove_all(Path(site_ + "nvidia"));
  std::filesystem::remove_all(Path(site_ + "paddlepaddle-2.6.2.dist-info"));
  Record("paddlepaddle_gpu-2.6.2", {"paddle/base/libpaddle.so"});
  EXPECT_THAT(Only(Judge(), Kind::kMissingLibrary),
              AllOf(HasSubstr("PaddlePaddle opens libcublas.so* for a GPU"), HasSubstr("libcudnn.so*")));
}

TEST_F(SymbolsOpenersTest, TheNumberOfNppIsThatOfCuda) {
  Lacking("_ext.so", "libnppicc.so.13");
  Extension("mine/_ext.so", "", "@/gone/libnppicc.so.13");
  Package("mine", "from . import _ext\n");
  const SymbolJudgement judgement = Judge();
  ASSERT_EQ(LibraryOfOnly(judgement, Kind::kMissingLibrary), "libnppicc.so.13");
  EXPECT_EQ(judgement.faults[0].cure.pip, "'nvidia-npp==13.*'");
  EXPECT_EQ(rules_.CudaMajorOf({"libcufft.so.11", "libnppicc.so.13"}), 13);
  EXPECT_EQ(rules_.CudaMajorOf({"libcudnn.so.9"}), 0);
}

TEST_F(SymbolsOpenersTest, WhatTheImportOpensForCertainIsNeeded) {
  Lacking("libmine.so", "libnppicc.so.13");
  Package("mine", "from .native import lib\n");
  Write(site_ + "mine/native.py",
        "import ctypes\ndef load():\n  return ctypes.CDLL(here / 'libmine.so')\nlib = load()\n");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kMissingLibrary), "libnppicc.so.13");
}

TEST_F(SymbolsOpenersTest, WhatIsOpenedUnderAConditionIsAWarningWhereALibraryForGpusIsMissing) {
  Lacking("libmine.so", "libnppicc.so.13");
  Package("mine", "import ctypes\ntry:\n  lib = ctypes.CDLL('libmine.so')\nexcept OSError:\n  lib = None\n");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kOpenedLater), "libnppicc.so.13");
  Package("mine", "import ctypes\ndef later():\n  return ctypes.CDLL('libmine.so')\n");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kOpenedLater), "libnppicc.so.13");
  // Another library than one for GPUs, and one that no source names.
  Lacking("libmine.so", "libsndfile.so.1");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kUnused));
  Lacking("libmine.so", "libnppicc.so.13");
  Package("mine", "");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kUnused));
}

TEST_F(SymbolsOpenersTest, OfSeveralReleasesOneMustResolve) {
  Package("mine",
          "import ctypes\ndef load():\n  for v in (4, 5):\n    ctypes.CDLL(f'libcore{v}.so')\nload()\n");
  Lacking("libcore4.so", "libavutil.so.56");
  Library(site_ + "mine/libcore5.so", "int b;");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kUnused));
  Lacking("libcore5.so", "libnppicc.so.13");
  Lacking("libcore4.so", "libnppicc.so.13");
  EXPECT_THAT(Kinds(Judge()), Contains(Kind::kMissingLibrary));
}

TEST_F(SymbolsOpenersTest, TheOneForTorchsCudaMustResolve) {
  Package("mine", "import ctypes\ntry:\n  ctypes.CDLL(f'libmine_cuda{v}.so')\nexcept OSError:\n  pass\n");
  TorchVersion("2.4.0+cu118", "11.8");
  Library(site_ + "mine/libmine_cpu.so", "int b;");
  Lacking("libmine_cuda118.so", "libcusparse.so.11");
  Lacking("libmine_cuda124.so", "libcusparse.so.12");
  const SymbolJudgement judgement = Judge();
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingLibrary, Kind::kUnused));
  EXPECT_EQ(judgement.faults[0].asker, Path(site_ + "mine/libmine_cuda118.so"));
  EXPECT_EQ(judgement.faults[0].library, "libcusparse.so.11");
  // Where it lies in the image and the import goes on without, the program may show the loader the way.
  Library(site_ + "nvidia/cusparse/lib/libcusparse.so.11", "int a;");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kOpenedLater, Kind::kUnused));
  TorchVersion("2.9.0+cu130", "13.0");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kUnused, Kind::kUnused));
}

TEST_F(SymbolsOpenersTest, WhatAPackageImportsFirstIsInItsProcess) {
  MakeTorch();
  TorchVersion("2.13.0+cu130", "13.0");
  const std::string nccl = site_ + "nvidia/nccl/lib/libnccl.so.2";
  Library(nccl, "int a;");
  Library(site_ + "torch/lib/libtorch_global_deps.so", "int deps;",
          "@/" + nccl + " -Wl,-rpath,'$ORIGIN/../../nvidia/nccl/lib'");
  Package("mine", "import torch\nimport ctypes\nctypes.CDLL('libmine.so')\n");
  Library(site_ + "mine/libmine.so", "int b;", "@/" + nccl);
  EXPECT_THAT(Judge().faults, IsEmpty());
  Package("mine", "import ctypes\nctypes.CDLL('libmine.so')\n");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kMissingLibrary));
}

TEST_F(SymbolsOpenersTest, OneCauseIsOneFault) {
  Package("mine", "from . import _a, _b, _c\n");
  Library("gone/libnccl.so.2", "int a;");
  Library("gone/libcufft.so.12", "int a;");
  Extension("mine/_a.so", "", "@/gone/libnccl.so.2");
  Extension("mine/_b.so", "", "@/gone/libnccl.so.2");
  Extension("mine/_c.so", "", "@/gone/libcufft.so.12");
  Record("mine-1.0", {"mine/_a.so", "mine/_b.so", "mine/_c.so"});
  EXPECT_THAT(Only(Judge(), Kind::kMissingLibrary),
              AllOf(HasSubstr("libnccl.so.2"), HasSubstr("libcufft.so.12"), HasSubstr("2 other files")));
}

// As of torch-c-dlpack-ext and of sgl-kernel: all but one are for what is not here.
TEST_F(SymbolsOpenersTest, FilesForOtherReleasesOfAnotherPackageAreNotes) {
  MakeTorch();
  TorchVersion("2.13.0+cu130", "13.0");
  const std::string with_torch = "@/" + site_ + "torch/lib/libc10.so";
  Package("mine", "import ctypes\ndef load():\n  ctypes.CDLL(f'libmine_torch{v}-{device}.so')\nload()\n");
  for (const std::string name : {"torch29-cuda", "torch210-cuda", "torch213-cpu"})
    Library(site_ + "mine/libmine_" + name + ".so", kGone, with_torch);
  Library(site_ + "mine/libmine_torch213-cuda.so", "int b;", with_torch);
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kUnused, Kind::kUnused, Kind::kUnused));
  // The one for this PyTorch is no note.
  Library(site_ + "mine/libmine_torch213-cuda.so", kGone, with_torch);
  EXPECT_THAT(Kinds(Judge()), Contains(Kind::kMissingSymbol));
}

// As of cuda-core's bridge to PyTorch, once for each CUDA: its symbols come from what is imported before.
TEST_F(SymbolsOpenersTest, TheOneThatFitsMayTakeSymbolsOfAPackageThatIsThereByThen) {
  MakeTorch();
  TorchVersion("2.13.0+cu130", "13.0");
  Package("mine", "def later():\n  from .cu13 import _ext\n");
  for (const std::string folder : {"cu12", "cu13"})
    Extension("mine/" + folder + "/_ext.so", "void theirs(void); void f(void) { theirs(); }");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kUnused, Kind::kUndecided));
}

// torchaudio compares major and minor, torchvision the major alone.
TEST_F(SymbolsOpenersTest, PackagesThatCompareTheirCudaAsTheyAreImported) {
  MakeTorch();
  TorchVersion("2.15.0+cu132", "13.2");
  const auto version = [&](const std::string& package, const std::string& text) {
    Write(site_ + package + "/version.py", "__version__ = '" + text + "'\n");
  };
  version("torchaudio", "2.11.0+cu132");
  version("torchvision", "0.26.0+cu130");
  EXPECT_THAT(Judge().faults, IsEmpty());
  version("torchaudio", "2.11.0+cu130");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kOtherCuda), "torchaudio");
  version("torchaudio", "2.11.0+cpu");
  version("torchvision", "0.26.0+cu129");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kOtherCuda), "torchvision");
  TorchVersion("2.15.0+cpu", "");
  EXPECT_THAT(Judge().faults, IsEmpty());
}

TEST_F(SymbolsOpenersTest, ACopyWhereTheLoaderDoesNotLookSoftensNothing) {
  const std::string runtime = "nvidia/cuda_runtime/lib";
  Library(site_ + runtime + "/libcudart.so.12", "int a;");
  Library("gone/libcudart.so.13", "int a;");
  Library(site_ + "mine/libother.so", "int b;",
          "@/" + site_ + runtime + "/libcudart.so.12 -Wl,-rpath,'$ORIGIN/../" + runtime + "'");
  Package("mine");
  Extension("mine/_ext.so", "",
            "@/" + site_ + "mine/libother.so @/gone/libcudart.so.13 -Wl,-rpath,'$ORIGIN'");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kOtherMajor));
  Library(site_ + "nvidia/cu13/lib/libcudart.so.13", "int a;");
  const SymbolJudgement hidden = Judge();
  EXPECT_EQ(LibraryOfOnly(hidden, Kind::kOtherMajor), "libcudart.so.13");
  EXPECT_TRUE(hidden.faults.at(0).hidden);
}

// libcuml needs libraft, whose package it requires and which opens it as it is imported.
TEST_F(SymbolsOpenersTest, ALibraryThatARequiredPackageOpensItself) {
  const std::string other = site_ + "libother/lib64/libother.so";
  Library(other, "void theirs(void) {}");
  Library(site_ + "mine/libmine.so", "void theirs(void); void f(void) { theirs(); }", "@/" + other);
  Package("mine", "import ctypes\nctypes.CDLL('libmine.so')\n");
  Record("mine-1.0", {"mine/libmine.so"});
  Record("libother_cu13-2.0", {"libother/lib64/libother.so"});
  Write(site_ + "libother/load.py",
        "import ctypes\ndef load_library():\n  ctypes.CDLL(folder / 'libother.so')\n");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kMissingLibrary));
  Write(site_ + "mine-1.0.dist-info/METADATA",
        "Name: mine\nVersion: 1.0\nRequires-Dist: libother-cu13<3,>=2\n\ntext");
  EXPECT_THAT(Judge().faults, IsEmpty());
}

// libcuvs asks cuda.pathfinder for NVRTC before it opens what is linked with it.
TEST_F(SymbolsOpenersTest, ALibraryThatThePackageOpensBefore) {
  const std::string nvrtc = site_ + "nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
  Library(nvrtc, "int a;");
  Library(site_ + "mine/libmine.so", "int b;", "@/" + nvrtc);
  Package("mine", "from . import load\nload.load_library()\n");
  Write(
      site_ + "mine/load.py",
      "import ctypes\ndef load_library():\n  load_nvidia_dynamic_lib('nvrtc')\n  ctypes.CDLL('libmine.so')\n");
  EXPECT_THAT(Judge().faults, IsEmpty());
  Write(site_ + "mine/load.py", "import ctypes\ndef load_library():\n  ctypes.CDLL('libmine.so')\n");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kMissingLibrary));
}

TEST_F(SymbolsOpenersTest, FoldersOfARuleAreExpanded) {
  Library(site_ + "nvidia/cu13/lib/libnvrtc.so.13", "int a;");
  Library(site_ + "libcudf/lib64/libcudf.so", "int cudf;", "@/" + site_ + "nvidia/cu13/lib/libnvrtc.so.13");
  Write(site_ + "libcudf/load.py", "");
  EXPECT_THAT(Judge().faults, IsEmpty());
}

TEST_F(SymbolsOpenersTest, TheRemedyNamesTheReleaseThatThePackageRequires) {
  const std::string runtime = "nvidia/cuda_runtime/lib",
                    pip = "RUN " + Path("venv/bin/python") + " -m pip install ";
  Library("gone/libcudnn.so.8", "int a;");
  Library(site_ + "nvidia/cudnn/lib/libcudnn.so.9", "int a;");
  Record("nvidia_cudnn_cu12-9.10.2.21", {"nvidia/cudnn/lib/libcudnn.so.9"});
  Package("mine", "from . import _ext\n");
  Library(site_ + runtime + "/libcudart.so.12", "int a;");
  Extension("mine/_ext.so", "",
            "@/gone/libcudnn.so.8 @/" + site_ + runtime + "/libcudart.so.12 -Wl,-rpath,'$ORIGIN/../" +
                runtime + ":$ORIGIN/../nvidia/cudnn/lib'");
  Record("mine-1.0", {"mine/_ext.so"});
  Write(site_ + "mine-1.0.dist-info/METADATA",
        "Name: mine\nVersion: 1.0\nRequires-Dist: nvidia-cudnn-cu12==8.9.2.26; platform_system == "
        "\"Linux\"\n\n");
  Write(site_ + "pip/__init__.py", "");
  const SymbolJudgement judgement = Judge();
  EXPECT_EQ(LibraryOfOnly(judgement, Kind::kOtherMajor), "libcudnn.so.8");
  EXPECT_EQ(judgement.faults.at(0).line, pip + "--no-deps nvidia-cudnn-cu12==8.9.2.26");
  // Where the release is on record and its file is gone, pip would do nothing.
  std::filesystem::remove_all(Path(site_ + "nvidia_cudnn_cu12-9.10.2.21.dist-info"));
  Record("nvidia_cudnn_cu12-8.9.2.26", {"nvidia/cudnn/lib/libcudnn.so.8"});
  EXPECT_EQ(Judge().faults.at(0).line, pip + "--force-reinstall --no-deps nvidia-cudnn-cu12==8.9.2.26");
}

TEST_F(SymbolsOpenersTest, ALibraryOfWhichEachReleaseAsksForItsOwn) {
  Library("gone/libnvrtc-builtins.so.12.6", "int a;");
  Library(site_ + "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.8", "int a;");
  Record("nvidia_cuda_nvrtc_cu12-12.8.93", {"nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.8"});
  Package("mine", "from . import _ext\n");
  Extension("mine/_ext.so", "", "@/gone/libnvrtc-builtins.so.12.6");
  const SymbolJudgement judgement = Judge();
  EXPECT_EQ(LibraryOfOnly(judgement, Kind::kOtherMajor), "libnvrtc-builtins.so.12.6");
  // A line that would have to be quoted is in the words alone.
  EXPECT_THAT(judgement.faults.at(0).detail, HasSubstr("'nvidia-cuda-nvrtc-cu12==12.6.*'"));
}

}  // namespace
}  // namespace cudnn_ci
