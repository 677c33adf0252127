// What is said of an environment whose libraries do not go together, on libraries that the test compiles.
#include "image/symbols/symbols_judge.h"

#include <gmock/gmock.h>

#include "image/symbols/symbols_copies.h"
#include "image/symbols/symbols_imports.h"
#include "mentions.h"
#include "symbols_judge_fixture.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_F(SymbolsJudgeTest, AnEnvironmentThatResolves) {
  MakeTorch();
  Package("mine");
  Extension("mine/_ext.cpython-312-x86_64-linux-gnu.so", "extern int Py_Something; int *p = &Py_Something;");
  const SymbolJudgement judgement = Judge();
  EXPECT_THAT(judgement.faults, IsEmpty());
  EXPECT_EQ(judgement.files, 4U);
  EXPECT_GT(judgement.symbols, 0U);
  EXPECT_THAT(judgement.processes, ElementsAre("import torch", "import mine"));
}

TEST_F(SymbolsJudgeTest, ALibraryThatAnImportNeedsIsMissing) {
  Library("gone/libnvJitLink.so.13", "int a;");
  Library(std::string(kSite) + "mine/libcusparse.so.12", "int b;", "@/gone/libnvJitLink.so.13");
  Package("mine", "from ._ext import *\n");
  Extension("mine/_ext.so", "", "@/" + std::string(kSite) + "mine/libcusparse.so.12 -Wl,-rpath,'$ORIGIN'");
  Record("mine-1.0", {"mine/libcusparse.so.12"});
  EXPECT_THAT(Only(Judge(), Kind::kMissingLibrary),
              Mentions("libcusparse.so.12 (mine 1.0), ", "_ext.so", "import mine",
                       "needs libnvJitLink.so.13, ", "package nvidia-nvjitlink"));
}

TEST_F(SymbolsJudgeTest, WhatIsImportedOnlyIfItCanMayLackALibrary) {
  Library("gone/libnccl.so.2", "int a;");
  Package("mine", "try:\n    from ._ext import *\nexcept ImportError:\n    pass\n");
  Extension("mine/_ext.so", "", "@/gone/libnccl.so.2");
  EXPECT_THAT(Only(Judge(), Kind::kUnused), HasSubstr("libnccl.so.2"));
}

// cuda-core has a module for arrays of PyTorch, which it imports when it meets one.
TEST_F(SymbolsJudgeTest, WhatIsImportedOnlyIfItCanMayTakeSymbolsOfAPackageThatIsThereByThen) {
  constexpr char kAsks[] = "void theirs(void); void f(void) { theirs(); }";
  Package("mine", "def later():\n    from ._ext import f\n");
  Extension("mine/_ext.so", kAsks);
  EXPECT_THAT(Only(Judge(), Kind::kUndecided), HasSubstr("theirs"));
  Package("mine", "from ._ext import f\n");
  EXPECT_THAT(Only(Judge(), Kind::kMissingSymbol), HasSubstr("theirs"));
}

// TensorFlow's import names seven thousand things.
TEST_F(SymbolsJudgeTest, AnImportOfManyNamesIsFollowedToItsEnd) {
  std::string many;
  for (int i = 0; i < 6000; ++i) many += "from mine.all import name" + std::to_string(i) + "\n";
  Library("gone/libnccl.so.2", "int a;");
  Package("mine", many + "from mine import _ext\n");
  Extension("mine/_ext.so", "", "@/gone/libnccl.so.2");
  EXPECT_THAT(Only(Judge(), Kind::kMissingLibrary), HasSubstr("libnccl.so.2"));
}

TEST_F(SymbolsJudgeTest, AnotherMajorOfAGpuLibraryIsAnErrorThereToo) {
  Library("gone/libcudart.so.12", "int a;");
  Library(std::string(kSite) + "nvidia/cu13/lib/libcudart.so.13", "int a;");
  Record("nvidia_cuda_runtime-13.0.96", {"nvidia/cu13/lib/libcudart.so.13"});
  Package("mine");
  Extension("mine/_ext.so", "", "@/gone/libcudart.so.12");
  EXPECT_THAT(Only(Judge(), Kind::kOtherMajor),
              Mentions("needs libcudart.so.12", "libcudart.so.13 (nvidia-cuda-runtime 13.0.96)"));
}

TEST_F(SymbolsJudgeTest, AnotherMajorOfAnyOtherLibraryIsNone) {
  Library("gone/libother.so.1", "int a;");
  Library(std::string(kSite) + "mine/libother.so.2", "int a;");
  Package("mine");
  Extension("mine/_ext.so", "", "@/gone/libother.so.1");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kUnused));
}

TEST_F(SymbolsJudgeTest, ALibraryWhereTheLoaderDoesNotLookIsNoOtherMajor) {
  Library(std::string(kSite) + "nvidia/nccl/lib/libnccl.so.2", "int a;");
  Library(std::string(kSite) + "nvidia/nccl/lib/libnccl.so.3", "int a;");
  Package("mine", "import mine._ext\n");
  Extension("mine/_ext.so", "", "@/" + std::string(kSite) + "nvidia/nccl/lib/libnccl.so.2");
  EXPECT_THAT(Only(Judge(), Kind::kMissingLibrary),
              Mentions("needs libnccl.so.2", kSite + std::string("nvidia/nccl/lib/libnccl.so.2")));
}

TEST_F(SymbolsJudgeTest, TheDriversLibrariesComeFromTheHost) {
  Library("gone/libcuda.so.1", "void cuInit(void) {}");
  Package("mine", "from . import _ext\n");
  Extension("mine/_ext.so", "void cuInit(void); void f(void) { cuInit(); }", "@/gone/libcuda.so.1");
  EXPECT_THAT(Judge().faults, IsEmpty());
  // Only its functions do.
  Extension("mine/_ext.so", "void cuInit(void); void custom(void); void f(void) { cuInit(); custom(); }",
            "@/gone/libcuda.so.1");
  EXPECT_THAT(Only(Judge(), Kind::kMissingSymbol),
              AllOf(HasSubstr("custom"), ::testing::Not(HasSubstr("cuInit"))));
}

TEST_F(SymbolsJudgeTest, ASymbolThatIsMissingNamesWhoShouldHaveIt) {
  Library(std::string(kSite) + "mine/libnccl.so.2", "void ncclCommInit(void) {}");
  Record("nvidia_nccl_cu13-2.19.3", {"mine/libnccl.so.2"});
  Package("mine");
  Extension("mine/_ext.so", "void ncclCommShrink(void); void f(void) { ncclCommShrink(); }",
            "@/" + std::string(kSite) + "mine/libnccl.so.2 -Wl,-rpath,'$ORIGIN'");
  EXPECT_THAT(Only(Judge(), Kind::kMissingSymbol),
              Mentions("_ext.so (no package)", "ncclCommShrink: ", "libnccl.so.2 (nvidia-nccl-cu13 2.19.3)"));
}

TEST_F(SymbolsJudgeTest, TheCopyThatWinsLacksWhatTheOtherHas) {
  Library(std::string(kSite) + "nvidia/nccl/lib/libnccl.so.2",
          "void ncclCommInit(void) {} void ncclCommShrink(void) {}");
  Library("old/libnccl.so.2", "void ncclCommInit(void) {}");
  Package("mine");
  Extension("mine/_ext.so", "void ncclCommShrink(void); void f(void) { ncclCommShrink(); }",
            "@/" + std::string(kSite) +
                "nvidia/nccl/lib/libnccl.so.2 -Wl,--enable-new-dtags,-rpath,'$ORIGIN/../nvidia/nccl/lib'");
  EXPECT_THAT(Judge().faults, IsEmpty());
  const SymbolJudgement judgement = Judge(Path("old"));
  ASSERT_THAT(judgement.faults, SizeIs(1));
  EXPECT_EQ(judgement.faults[0].kind, Kind::kWrongProvider);
  EXPECT_THAT(judgement.faults[0].detail,
              ContainsRegex(Path("old/libnccl.so.2") + ".*nvidia/nccl/lib/libnccl.so.2"));
}

TEST_F(SymbolsJudgeTest, ACopyThatHidesAnotherIsAWarning) {
  Library(std::string(kSite) + "nvidia/nccl/lib/libnccl.so.2", "void ncclCommInit(void) {} int newer;");
  Library("old/libnccl.so.2", "void ncclCommInit(void) {}");
  Package("mine");
  Extension("mine/_ext.so", "void ncclCommInit(void); void f(void) { ncclCommInit(); }",
            "@/" + std::string(kSite) +
                "nvidia/nccl/lib/libnccl.so.2 -Wl,--enable-new-dtags,-rpath,'$ORIGIN/../nvidia/nccl/lib'");
  EXPECT_THAT(Only(Judge(Path("old")), Kind::kTwoProviders), HasSubstr("hides"));
  // The same file by another name is none.
  std::filesystem::remove(Path("old/libnccl.so.2"));
  std::filesystem::copy_file(Path(std::string(kSite) + "nvidia/nccl/lib/libnccl.so.2"),
                             Path("old/libnccl.so.2"));
  EXPECT_THAT(Judge(Path("old")).faults, IsEmpty());
}

TEST_F(SymbolsJudgeTest, TwoPackagesWithOneLibrary) {
  for (const std::string name : {"one", "two"}) {
    Library(kSite + name + "/libnccl.so.2", "int of_" + name + ";");
    Package(name);
    Extension(name + "/_ext.so", "", "@/" + std::string(kSite) + name + "/libnccl.so.2 -Wl,-rpath,'$ORIGIN'");
  }
  EXPECT_THAT(Only(Judge(), Kind::kTwoProviders), AllOf(HasSubstr("import one"), HasSubstr("import two")));
}

// As of torchvision 0.29.2, whose libcudart has another name and its soname still.
TEST_F(SymbolsJudgeTest, ACopyThatIsAskedForByItsOwnNameIsNoSecondProvider) {
  const std::string site = kSite, cudart = site + "nvidia/cu13/lib/libcudart.so.13",
                    copy = site + "vision.libs/libcudart.3eda8113.so.13";
  Library(cudart, "int a;");
  for (const std::string name : {"one", "two"}) {
    Package(name);
    Extension(name + "/_ext.so", "", "@/" + cudart + " -Wl,-rpath,'$ORIGIN/../nvidia/cu13/lib'");
  }
  Library(copy, "int b;");
  Extension("two/_image.so", "", "@/" + copy + " -Wl,-rpath,'$ORIGIN/../vision.libs'");
  Library(copy, "int b;", "-Wl,-soname,libcudart.so.13");
  EXPECT_THAT(Judge().faults, IsEmpty());
  std::filesystem::remove(Path(site + "two/_ext.so"));
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kTwoProviders), "libcudart.so.13")
      << "which it gives to one behind it";
}

TEST_F(SymbolsJudgeTest, AnExtensionOfTheOtherCxxAbi) {
  MakeTorch();
  Extension("flash_attn_2_cuda.so", "void _ZN3c104failERKSs(void); void f(void) { _ZN3c104failERKSs(); }",
            "@/" + std::string(kSite) + "torch/lib/libc10.so");
  EXPECT_THAT(Only(Judge(), Kind::kOtherCxxAbi),
              AllOf(Mentions("import flash_attn_2_cuda", "import torch"), HasSubstr("_ZN3c104failERKSs"),
                    HasSubstr("libc10.so (torch 2.13.0) has _ZN3c104failERKNSt7__cxx11")));
}

TEST_F(SymbolsJudgeTest, AFunctionWithOtherArguments) {
  MakeTorch(" void _ZN3c103runEi(void) {}");
  Library(std::string(kSite) + "mine/_C.so", "void _ZN3c103runEl(void); void f(void) { _ZN3c103runEl(); }",
          "@/" + std::string(kSite) + "torch/lib/libc10.so");
  EXPECT_THAT(Only(Judge(), Kind::kMissingSymbol),
              AllOf(HasSubstr("_ZN3c103runEl"), HasSubstr("has _ZN3c103runEi instead")));
}

TEST_F(SymbolsJudgeTest, AVersionOfTheCLibraryThatIsMissing) {
  const std::string one = Write("one.map", "GLIBC_2.17 { a; };"),
                    two = Write("two.map", "GLIBC_2.17 { a; }; GLIBC_2.38 { b; };");
  Library("new/libm.so.6", "int a, b;", "-Wl,--version-script," + two);
  Library("old/libm.so.6", "int a;", "-Wl,--version-script," + one);
  Package("mine");
  Extension("mine/_ext.so", "extern int b; int *p = &b;", "@/new/libm.so.6");
  EXPECT_THAT(Only(Judge(Path("old")), Kind::kVersionMissing), HasSubstr("version GLIBC_2.38"));
}

TEST_F(SymbolsJudgeTest, ADamagedLibraryIsNamedAndWhatFollowsIsNotAccused) {
  MakeTorch();
  Write(kSite + std::string("torch/lib/libc10.so"), "cut off");
  Library("x/libc10.so", "void _ZN3c104failEv(void) {}");
  Extension("mine.so", "", "@/x/libc10.so");
  const SymbolJudgement judgement = Judge();
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kDamaged, Kind::kUndecided));
  EXPECT_THAT(judgement.faults[0].detail, HasSubstr("not an ELF file"));
  EXPECT_THAT(judgement.faults[1].detail, Mentions("import torch", "1"));
}

TEST_F(SymbolsJudgeTest, APluginThatNobodyLoadsIsANote) {
  Library("gone/libmlx5.so.1", "int a;");
  Library(std::string(kSite) + "nvidia/nvshmem/lib/nvshmem_transport_ibdevx.so.3", "int b;",
          "@/gone/libmlx5.so.1");
  EXPECT_THAT(Only(Judge(), Kind::kUnused), HasSubstr("libmlx5.so.1"));
}

// As of Torch Memory Saver: libraries for LD_PRELOAD with the names of modules, one for each CUDA and one
// that is for CUDA 12 without saying so.
TEST_F(SymbolsJudgeTest, LibrariesForPreloadBesideThePackagesAreVariantsOfWhatOpensThem) {
  MakeTorch();
  const std::string site = kSite;
  Write(site + "torch/version.py", "__version__ = '2.13.0+cu130'\ncuda = '13.0'\n");
  const std::string runtime = site + "nvidia/cu13/lib/libcudart.so.13";
  Library(runtime, "int a;");
  Library("gone/libcudart.so.12", "int a;");
  const std::string source =
                        "import ctypes\ndef later():\n  return ctypes.CDLL(f'saver_hook_cu{major}.so')\n",
                    for_12 = "@/gone/libcudart.so.12";
  Package("saver", source);
  Library(site + "saver_hook.abi3.so", "int b;", for_12);
  Library(site + "saver_hook_cu12.abi3.so", "int b;", for_12);
  Library(site + "saver_hook_cu13.abi3.so", "int b;",
          "@/" + runtime + " -Wl,-rpath,'$ORIGIN/nvidia/cu13/lib'");
  Record("saver-1.0",
         {"saver/__init__.py", "saver_hook.abi3.so", "saver_hook_cu12.abi3.so", "saver_hook_cu13.abi3.so"});
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kUnused, Kind::kUnused));
  // The one for this CUDA is found where the image's user shows the loader the way: a warning.
  Library(site + "saver_hook_cu13.abi3.so", "int b;", "@/" + runtime);
  EXPECT_THAT(Kinds(Judge()), UnorderedElementsAre(Kind::kOpenedLater, Kind::kUnused, Kind::kUnused));
  // A module that has one's function is imported by its name.
  Extension("saver_hook_cu12.abi3.so", "", for_12);
  EXPECT_THAT(Kinds(Judge()), Contains(Kind::kOtherMajor));
}

TEST_F(SymbolsJudgeTest, AnExtensionForAnotherPythonIsNotLoaded) {
  Package("mine", "from . import _ext\n");
  Extension("mine/_ext.cpython-310-x86_64-linux-gnu.so", "extern int nowhere; int *p = &nowhere;");
  EXPECT_THAT(Judge().faults, IsEmpty());
  Extension("mine/_ext.cpython-312-x86_64-linux-gnu.so", "extern int nowhere; int *p = &nowhere;");
  EXPECT_THAT(Kinds(Judge()), ElementsAre(Kind::kMissingSymbol));
}

TEST_F(SymbolsJudgeTest, AnInterpreterThatIsNoProgramLeavesSymbolsOpen) {
  Write("venv/bin/python", "#!/bin/sh\n");
  Package("mine");
  Extension("mine/_ext.so", "extern int Py_Something; int *p = &Py_Something;");
  EXPECT_THAT(Only(Judge(), Kind::kUndecided), Mentions(Path("venv/bin/python")));
}

TEST_F(SymbolsJudgeTest, JaxPreloadsByPathAndNeedsAllOrNothing) {
  Write(std::string(kSite) + "jax_plugins/xla_cuda13/__init__.py", "");
  Library(std::string(kSite) + "jax_plugins/xla_cuda13/xla_cuda_plugin.so", "int plugin;");
  EXPECT_THAT(Judge().faults, IsEmpty());  // without a GPU's libraries
  const std::string lib = std::string(kSite) + "nvidia/cu13/lib/";
  for (const char* name : {"libcudart.so.13", "libcublas.so.13", "libcublasLt.so.13", "libcupti.so.13",
                           "libcusparse.so.12", "libcusolver.so.12"})
    Library(lib + name, "int a;");
  Library(std::string(kSite) + "nvidia/cudnn/lib/libcudnn.so.9", "int a;");
  EXPECT_THAT(Only(Judge(), Kind::kMissingLibrary),
              AllOf(HasSubstr("JAX opens libcufft.so.*"), HasSubstr("nvidia-cufft")));
  Library(lib + "libcufft.so.12", "int a;");
  EXPECT_THAT(Judge().faults, IsEmpty());
  // JAX does without NCCL, and with one that cannot be loaded.
  Library("gone/libx.so", "int a;");
  Library(std::string(kSite) + "nvidia/nccl/lib/libnccl.so.2", "int a;", "@/gone/libx.so");
  EXPECT_THAT(Only(Judge(), Kind::kUnused), HasSubstr("libx.so"));
}

TEST_F(SymbolsJudgeTest, TorchPreloadsWhatTheLoaderDoesNotFind) {
  MakeTorch();
  const std::string deps = std::string(kSite) + "torch/lib/libtorch_global_deps.so";
  Library(std::string(kSite) + "nvidia/cuda_runtime/lib/libcudart.so.12", "int a;");
  Library(deps, "int deps;", "@/" + std::string(kSite) + "nvidia/cuda_runtime/lib/libcudart.so.12");
  EXPECT_THAT(Judge().faults, IsEmpty());
  std::filesystem::remove_all(Path(std::string(kSite) + "nvidia"));
  const SymbolJudgement judgement = Judge();
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingLibrary, Kind::kUndecided));
  EXPECT_THAT(judgement.faults[0].detail, HasSubstr("libtorch_global_deps.so"));
}

// Its packages open these libraries by path before the extensions that need them.
TEST_F(SymbolsJudgeTest, RapidsOpensItsLibrariesByPath) {
  const std::string site = kSite;
  Library(site + "librmm/lib64/librmm.so", "int rmm;");
  Library(site + "libcudf/lib64/libcudf.so", "int cudf;", "@/" + site + "librmm/lib64/librmm.so");
  Write(site + "libcudf/load.py", "");
  Package("pylibcudf", "from . import table\n");
  Extension("pylibcudf/table.cpython-312-x86_64-linux-gnu.so", "", "@/" + site + "libcudf/lib64/libcudf.so");
  EXPECT_THAT(Judge().faults, IsEmpty());
  std::filesystem::remove(Path(site + "libcudf/lib64/libcudf.so"));
  EXPECT_THAT(Kinds(Judge()), ::testing::Contains(Kind::kMissingLibrary));
}

TEST_F(SymbolsJudgeTest, AProgramAndLibrariesOfAFolder) {
  Library("libs/libcusparse.so.12", "extern int x; int *p = &x;");
  const std::string program =
      Program("app", "extern int x; int *p = &x;", "@/libs/libcusparse.so.12 -Wl,-rpath,'$ORIGIN/libs'");
  EXPECT_THAT(Kinds(Judge("", "program:" + program)),
              ElementsAre(Kind::kMissingSymbol, Kind::kMissingSymbol));
  // Of a library alone the program may give it.
  EXPECT_THAT(Kinds(Judge("", "path:" + Path("libs"))), ElementsAre(Kind::kUnused));
  Library("gone/libnvJitLink.so.13", "int a;");
  Library("libs/libcusparse.so.12", "int a;", "@/gone/libnvJitLink.so.13");
  EXPECT_THAT(Kinds(Judge("", "path:" + Path("libs"))), ElementsAre(Kind::kMissingLibrary));
  Library("libs/libcusparse.so.12", "int a;");
  Library("gone/libother.so.1", "int a;");
  Library("libs/libmine.so", "int a;", "@/gone/libother.so.1");
  EXPECT_THAT(Kinds(Judge("", "path:" + Path("libs"))), ElementsAre(Kind::kUnused));
}

TEST(SymbolsImports, StatementsThatPythonExecutesForCertain) {
  EXPECT_THAT(
      UnconditionalImports(
          "import a.b as c, d  # x\nfrom .e import (f,\n  g)\nfrom h import \\\n  i\n"
          "try:\n  import j\nexcept ImportError:\n  pass\n'''\nimport k\n'''\ndef l():\n  import m\n"),
      ElementsAre("a.b", "d", ".e", ".e.f", ".e.g", "h", "h.i"));
}

TEST(SymbolsRules, NamesOfFunctionsAndPackages) {
  EXPECT_EQ(MangledFunction("_ZN3c106detail14torchCheckFailEPKc"), "_ZN3c106detail14torchCheckFail");
  EXPECT_EQ(MangledFunction("_ZNK3foo3barEv"), "_ZNK3foo3bar");
  EXPECT_EQ(MangledFunction("_Z3fooi"), "_Z3foo");
  for (const char* none : {"ncclCommShrink", "_Z", "_ZN999999999999999999999x", "_ZNSt"})
    EXPECT_EQ(MangledFunction(none), "") << none;
  const std::string new_string = "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
  EXPECT_TRUE(DifferInCxxAbi("_ZN3fooE" + new_string, "_ZN3fooERKSs"));
  EXPECT_TRUE(DifferInCxxAbi("_ZN3fooERKSs", "_ZN3fooE" + new_string));
  EXPECT_TRUE(DifferInCxxAbi("_ZN3foo3barB5cxx11Ev", "_ZN3foo3barEv"));
  EXPECT_FALSE(DifferInCxxAbi("_ZN3fooE" + new_string, "_ZN3fooEPKc"));
  EXPECT_FALSE(DifferInCxxAbi("_ZN3fooE" + new_string, "_ZN3fooERK4SsSs"));
  EXPECT_FALSE(DifferInCxxAbi("_ZN3foo3barEi", "_ZN3foo3barEl"));
  EXPECT_TRUE(IsDriverFunction("cuMemAlloc_v2", "cu"));
  EXPECT_FALSE(IsDriverFunction("cusparseCreate", "cu"));
  EXPECT_FALSE(IsDriverFunction("cu", "cu"));
  const SymbolRules rules = ReadSymbolRules(KnownEntry);
  EXPECT_EQ(rules.PackageFor("libnccl.so.2"), "nvidia-nccl-cu11 or nvidia-nccl-cu12 or nvidia-nccl-cu13");
  EXPECT_EQ(rules.PackageFor("libz.so.1"), "");
}

}  // namespace
}  // namespace cudnn_ci
