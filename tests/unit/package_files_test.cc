// Packages whose files another package replaced, or that are gone.
#include "image/package_files.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "base/text.h"
#include "image/component_use.h"
#include "image/cpu_builds.h"
#include "image/findings.h"
#include "mentions.h"
#include "symbols_judge_fixture.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class PackageFilesTest : public SymbolsJudgeTest {
 protected:
  const std::string site_ = kSite, extension_ = site_ + "ort/_state.so";

  void SetUp() override {
    SymbolsJudgeTest::SetUp();
    Write(site_ + "pip/__init__.py", "");
    Library("gone/libcublas.so.12", "int a;");
    Library(site_ + "ort/libprovider_cuda.so", "int b;", "@/gone/libcublas.so.12");
  }
  // "PATH,sha256=...,SIZE" of the file as it is now.
  std::string Row(const std::string& path) const {
    std::ifstream file(Path(site_ + path), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return path + ",sha256=" + Base64(Sha256Hex(text.str())) + "," + std::to_string(text.str().size()) + "\n";
  }
  ImageFiles Image() { return FilesOfSubject("python:" + Path("venv/bin/python"), {}, ""); }
  std::vector<PackageFault> Faults() { return JudgePackageFiles(Image(), rules_); }
  static std::string Base64(const std::string& hex) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string text;
    unsigned bits = 0, count = 0;
    for (const char c : hex) {
      bits = bits << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
      for (count += 4; count >= 6; count -= 6) text += digits[bits >> (count - 6) & 63];
      bits &= (1U << count) - 1;
    }
    return text + digits[bits << (6 - count) & 63];
  }
};

// A library that was copied over a wheel's, and one that was stripped.
TEST_F(PackageFilesTest, FilesOfAnotherSizeThanRecorded) {
  const std::string cublas = "nvidia/cublas/lib/libcublas.so.12";
  Library(extension_, "int gpu;");
  Library(site_ + cublas, "int a;");
  Write(site_ + "ort_gpu-1.0.dist-info/RECORD", Row("ort/_state.so") + Row("ort/libprovider_cuda.so"));
  Write(site_ + "nvidia_cublas_cu12-12.8.4.1.dist-info/RECORD", Row(cublas));
  EXPECT_THAT(Faults(), IsEmpty());
  Library(site_ + cublas, "int a; int longer[9999] = {1};");
  ASSERT_THAT(Faults(), SizeIs(1));
  EXPECT_STREQ(Faults()[0].id, kPackageLibraryChanged);
  EXPECT_THAT(Faults()[0].line, HasSubstr("--force-reinstall --no-deps nvidia-cublas-cu12==12.8.4.1"));
  Library(extension_, "int gpu; int longer[9999] = {1};");
  ASSERT_THAT(Faults(), SizeIs(2));
  EXPECT_STREQ(Faults()[1].id, kPackageFileChanged);
  EXPECT_EQ(Faults()[1].line, "");
  Write(site_ + "nvidia_cublas_cu12-12.8.4.1.dist-info/INSTALLER", "conda\n");
  EXPECT_THAT(Faults(), SizeIs(1));
}

// onnxruntime over onnxruntime-gpu.
TEST_F(PackageFilesTest, CodeForTheCpuInThePlaceOfCodeForGpus) {
  Library(extension_, "int gpu;");
  Write(site_ + "ort_gpu-1.0.dist-info/RECORD", Row("ort/_state.so") + Row("ort/libprovider_cuda.so"));
  EXPECT_THAT(Faults(), IsEmpty());
  Library(extension_, "int cpu; int longer[999];");
  Write(site_ + "ort-1.0.dist-info/RECORD", Row("ort/_state.so"));
  const std::vector<PackageFault> faults = Faults();
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_STREQ(faults[0].id, kPackageReplaced);
  EXPECT_THAT(faults[0].detail, Mentions("ort 1.0 has replaced ", " of ort-gpu 1.0: "));
  EXPECT_EQ(faults[0].line, "RUN " + Path("venv/bin/python") + " -m pip uninstall -y ort-gpu ort && " +
                                Path("venv/bin/python") + " -m pip install --no-deps ort-gpu==1.0");
}

TEST_F(PackageFilesTest, TheOtherWayRoundIsNobodysLoss) {
  Library(extension_, "int cpu;");
  Write(site_ + "ort-1.0.dist-info/RECORD", Row("ort/_state.so"));
  Library(extension_, "int gpu; int longer[999];");
  Write(site_ + "ort_gpu-1.0.dist-info/RECORD", Row("ort/_state.so") + Row("ort/libprovider_cuda.so"));
  EXPECT_THAT(Faults(), IsEmpty());
}

// The uninstallation of onnxruntime takes files of onnxruntime-gpu.
TEST_F(PackageFilesTest, AnExtensionThatIsGone) {
  Library(extension_, "int gpu;");
  Write(site_ + "ort/__init__.py", "try:\n    from . import _state\nexcept ImportError:\n    pass\n");
  Write(site_ + "ort_gpu-1.0.dist-info/RECORD",
        Row("ort/_state.so") + Row("ort/libprovider_cuda.so") + Row("ort/__init__.py"));
  std::filesystem::remove(Path(extension_));
  const std::vector<PackageFault> faults = Faults();
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_STREQ(faults[0].id, kPackageFileGone);
  EXPECT_EQ(faults[0].line,
            "RUN " + Path("venv/bin/python") + " -m pip install --force-reinstall --no-deps ort-gpu==1.0");
  // Conda changes files behind their record.
  Write(site_ + "ort_gpu-1.0.dist-info/INSTALLER", "conda\n");
  EXPECT_THAT(Faults(), IsEmpty());
}

// bitsandbytes without its builds for other CUDA versions and makers, Triton without a library of its tests,
// ONNX Runtime without a provider for what is not installed.
TEST_F(PackageFilesTest, WhatNobodyMissesIsANote) {
  Write(site_ + "torch/version.py", "__version__ = '2.9.0+cu130'\ncuda: Optional[str] = '13.0'\n");
  const std::vector<std::string> builds = {"bnb/libbnb_cuda118.so", "bnb/libbnb_rocm63.so",
                                           "bnb/libbnb_cuda130.so"},
                                 parts = {"bnb/libBnbTestLib.so", "bnb/libbnb_more.so"};
  std::string rows;
  for (const auto& files : {builds, parts})
    for (const std::string& file : files) {
      Library(site_ + file, "int b;", "@/gone/libcublas.so.12");
      rows += Row(file);
    }
  for (const char* source : {"bnb/__init__.py", "bnb/_test_runner.py"}) {
    Write(site_ + source, source == std::string("bnb/__init__.py") ? "lib = f'libbnb_cuda{version}.so'\n"
                                                                   : "load('libBnbTestLib.so')\n");
    rows += Row(source);
  }
  Write(site_ + "bnb-1.0.dist-info/RECORD", rows);
  for (const std::string& file : {builds[0], builds[1], parts[0]})
    std::filesystem::remove(Path(site_ + file));
  ASSERT_THAT(Faults(), SizeIs(1));
  EXPECT_STREQ(Faults()[0].id, kPackageFileNotMissed);
  EXPECT_EQ(Faults()[0].line, "");
  // A file that a source names, and the build for PyTorch's CUDA.
  Write(site_ + "bnb/__init__.py", "more = 'libbnb_more.so'\n");
  std::filesystem::remove(Path(site_ + parts[1]));
  ASSERT_THAT(Faults(), SizeIs(1));
  EXPECT_STREQ(Faults()[0].id, kPackageFileGone);
  EXPECT_THAT(Faults()[0].detail, AllOf(Mentions("libbnb_more.so, ", Path(site_ + "bnb/__init__.py")),
                                        Not(HasSubstr("cuda118"))));
  // What is left need not be for GPUs.
  Library(site_ + parts[1], "int b;");
  std::filesystem::remove(Path(site_ + builds[2]));
  ASSERT_THAT(Faults(), SizeIs(1));
  EXPECT_STREQ(Faults()[0].id, kPackageFileGone);
  EXPECT_THAT(Faults()[0].detail, HasSubstr("record: " + Path(site_ + builds[2]) + ";"));
}

// ONNX Runtime opens its provider for CUDA by name, which no source of Python has.
TEST_F(PackageFilesTest, WhatARowOfImportsOpensIsMissed) {
  const std::string cuda = "onnxruntime/capi/libonnxruntime_providers_cuda.so",
                    other = "onnxruntime/capi/libonnxruntime_providers_tensorrt.so";
  for (const std::string& file : {cuda, other}) Library(site_ + file, "int p;", "@/gone/libcublas.so.12");
  Library(site_ + "onnxruntime/capi/lib.so", "int l;", "@/gone/libcublas.so.12");
  Write(site_ + "onnxruntime_gpu-1.0.dist-info/RECORD",
        Row(cuda) + Row(other) + Row("onnxruntime/capi/lib.so"));
  std::filesystem::remove(Path(site_ + other));
  ASSERT_THAT(Faults(), SizeIs(1));
  EXPECT_STREQ(Faults()[0].id, kPackageFileNotMissed);
  std::filesystem::remove(Path(site_ + cuda));
  ASSERT_THAT(Faults(), SizeIs(1));
  EXPECT_STREQ(Faults()[0].id, kPackageFileGone);
}

// Of a toolkit's libraries some are for programs that are linked with them alone.
TEST_F(PackageFilesTest, LibrariesThatNothingOpensByName) {
  const std::string row = ",sha256=" + std::string(43, 'A') + ",1\n";
  Write(site_ + "nvidia_cublas-13.0.dist-info/RECORD", "nvidia/cu13/lib/libnvblas.so.13" + row);
  ASSERT_THAT(Faults(), SizeIs(1));
  EXPECT_STREQ(Faults()[0].id, kPackageFileNotMissed);
  Write(site_ + "nvidia_cublas-13.0.dist-info/RECORD",
        "nvidia/cu13/lib/libnvblas.so.13" + row + "nvidia/cu13/lib/libcublasLt.so.13" + row);
  ASSERT_THAT(Faults(), SizeIs(1));
  EXPECT_STREQ(Faults()[0].id, kPackageLibraryGone);
}

// numpy without its OpenBLAS: no framework can be imported. A library that no extension module needs may have
// been taken out to make an image smaller.
TEST_F(PackageFilesTest, APackageForTheCpuWhoseImportFails) {
  const std::string blas = site_ + "np.libs/libblas.so", module = "np/_core.cpython-311-x86_64-linux-gnu.so";
  Library(blas, "int b;");
  Library(site_ + "np/libhelp.so", "int h;", "@/" + blas);
  Write(site_ + "np-1.0.dist-info/RECORD", Row("np.libs/libblas.so") + Row("np/libhelp.so"));
  std::filesystem::rename(Path(blas), Path("libblas.so"));
  EXPECT_THAT(Faults(), IsEmpty());
  std::filesystem::rename(Path("libblas.so"), Path(blas));
  Library(site_ + module, "int m;", "@/" + blas);
  Write(site_ + "np-1.0.dist-info/RECORD", Row("np.libs/libblas.so") + Row(module));
  std::filesystem::remove(Path(blas));
  const std::vector<PackageFault> faults = Faults();
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_STREQ(faults[0].id, kPackageFileGone);
  EXPECT_THAT(faults[0].detail, HasSubstr(Path(site_ + module)));
  EXPECT_EQ(faults[0].line,
            "RUN " + Path("venv/bin/python") + " -m pip install --force-reinstall --no-deps np==1.0");
}

// All of cuDNN taken out, its record left: a warning, as others may open it by name. What is left of another
// package says nothing.
TEST_F(PackageFilesTest, APackageOfWhichTheRecordIsLeft) {
  const std::string row = ",sha256=" + std::string(43, 'A') + ",1\n";
  Write(site_ + "nvidia_cudnn_cu12-9.1.dist-info/RECORD", "nvidia/cudnn/lib/libcudnn.so.9" + row);
  Write(site_ + "xgb_gpu-1.0.dist-info/RECORD", "xgb/libcublas.so.12" + row);
  const std::vector<PackageFault> faults = Faults();
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_STREQ(faults[0].id, kPackageLibraryGone);
  EXPECT_EQ(faults[0].line, "RUN " + Path("venv/bin/python") +
                                " -m pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.1");
}

// cupy-cuda13x over cupy-cuda12x: one tree, which nobody requires of either.
TEST_F(PackageFilesTest, TheCodeOfTwoPackagesForGpusInOneTree) {
  const std::string rows = Row("ort/libprovider_cuda.so");
  Library(extension_, "int twelve;");
  Write(site_ + "ort_cuda12x-1.0.dist-info/RECORD", Row("ort/_state.so") + rows);
  Library(extension_, "int thirteen; int longer[999];");
  Write(site_ + "ort_cuda13x-1.1.dist-info/RECORD", Row("ort/_state.so") + rows);
  const std::vector<PackageFault> faults = Faults();
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_STREQ(faults[0].id, kPackagesOverlap);
  EXPECT_THAT(faults[0].detail, AllOf(Mentions("ort-cuda13x 1.1 has replaced ", " of ort-cuda12x 1.0: "),
                                      HasSubstr("pip uninstall -y ort-cuda12x ort-cuda13x")));
  EXPECT_EQ(faults[0].line, "");  // which one is meant is not known
  Write(site_ + "solver-3.0.dist-info/METADATA", "Name: solver\nRequires-Dist: ort-cuda13x\n\n");
  Write(site_ + "solver-3.0.dist-info/RECORD", "");
  const std::string pip = Path("venv/bin/python") + " -m pip ";
  EXPECT_EQ(Faults().at(0).line, "RUN " + pip + "uninstall -y ort-cuda13x ort-cuda12x && " + pip +
                                     "install --no-deps ort-cuda13x==1.1");
}

TEST_F(PackageFilesTest, ALibraryForTwoCudaMajorsInOneFolder) {
  const std::string nccl = site_ + "nvidia/nccl/lib/libnccl.so.2";
  Library(nccl, "int twelve;");
  Write(site_ + "nvidia_nccl_cu12-2.1.dist-info/RECORD", Row("nvidia/nccl/lib/libnccl.so.2"));
  Library(nccl, "int thirteen; int longer[999];");
  Write(site_ + "nvidia_nccl_cu13-2.2.dist-info/RECORD", Row("nvidia/nccl/lib/libnccl.so.2"));
  EXPECT_THAT(Faults(), IsEmpty());  // nobody asks for the one that lost
  Write(site_ + "xgboost-3.0.dist-info/METADATA", "Name: xgboost\nRequires-Dist: nvidia-nccl-cu12\n\n");
  Write(site_ + "xgboost-3.0.dist-info/RECORD", "");
  const std::vector<PackageFault> faults = Faults();
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_STREQ(faults[0].id, kPackagesOverlap);
  EXPECT_THAT(faults[0].detail,
              AllOf(Mentions("nvidia-nccl-cu13 2.2 has replaced ", " of nvidia-nccl-cu12 2.1: "),
                    HasSubstr("xgboost 3.0 requires nvidia-nccl-cu12")));
  // Who is required by nobody goes.
  const std::string pip = Path("venv/bin/python") + " -m pip ";
  EXPECT_EQ(faults[0].line, "RUN " + pip + "uninstall -y nvidia-nccl-cu12 nvidia-nccl-cu13 && " + pip +
                                "install --no-deps nvidia-nccl-cu12==2.1");
  Write(site_ + "torch-2.9.dist-info/METADATA",
        "Name: torch\nRequires-Dist: nvidia-nccl-cu13; extra == \"gpu\"\n\n");
  Write(site_ + "torch-2.9.dist-info/RECORD", "");
  const std::vector<PackageFault> both = Faults();
  ASSERT_THAT(both, SizeIs(1));
  EXPECT_THAT(both[0].detail, HasSubstr("torch 2.9 requires nvidia-nccl-cu13"));
  EXPECT_EQ(both[0].line, "");  // they need an environment each
  std::filesystem::remove_all(Path(site_ + "nvidia_nccl_cu13-2.2.dist-info"));
  Write(site_ + "nvidia_nccl_cu12-2.1.dist-info/RECORD",
        Row("nvidia/nccl/lib/libnccl.so.2") + "nvidia/nccl/lib/libgone.so.2,sha256=" + std::string(43, 'A') +
            ",1\n");
  EXPECT_STREQ(Faults().at(0).id, kPackageLibraryGone);
}

class ComponentUseTest : public SymbolsJudgeTest {
 protected:
  const std::string nccl_ = std::string(kSite) + "nvidia/nccl/lib/libnccl.so.2";
  void SetUp() override {
    SymbolsJudgeTest::SetUp();
    Library(nccl_, "int a;");
    Record("nvidia_nccl_cu13-2.27.5", {"nvidia/nccl/lib/libnccl.so.2"});
    Package("mine");
    Extension("mine/_ext.so");
    Record("mine-1.0", {"mine/_ext.so"});
  }
  bool MayBeLoaded(const std::string& path) {
    const ImageFiles image = FilesOfSubject("python:" + Path("venv/bin/python"), {}, "");
    return ComponentUse(&image, &rules_).MayBeLoaded(path);
  }
};

TEST_F(ComponentUseTest, ACopyThatNothingLoads) { EXPECT_FALSE(MayBeLoaded(Path(nccl_))); }

TEST_F(ComponentUseTest, WhatAFileNeeds) {
  Extension("mine/_ext.so", "", "@/" + nccl_);
  EXPECT_TRUE(MayBeLoaded(Path(nccl_)));
}

// As XGBoost, which opens NCCL by name, and JAX, whose extra asks for it.
TEST_F(ComponentUseTest, WhatAPackageRequires) {
  const std::string metadata = std::string(kSite) + "mine-1.0.dist-info/METADATA";
  for (const char* requirement : {"nvidia-nccl-cu13", "nvidia-nccl-cu13; extra == \"cuda\""}) {
    Write(metadata, std::string("Name: mine\nVersion: 1.0\nRequires-Dist: ") + requirement + "\n\n");
    EXPECT_TRUE(MayBeLoaded(Path(nccl_))) << requirement;
  }
}

TEST_F(ComponentUseTest, WhatAnImportRuleOpens) {
  MakeTorch();
  EXPECT_TRUE(MayBeLoaded(Path(nccl_)));
}

TEST_F(ComponentUseTest, OfAFileThatNoPackageHasNobodyKnows) {
  Library("libs/libnccl.so.2", "int a;");
  EXPECT_TRUE(MayBeLoaded(Path("libs/libnccl.so.2")));
}

// As of cupy-cuda13x over cupy-cuda12x: who brought a file is told by what it is, and the libraries that are
// there tell which of the two is meant.
TEST_F(PackageFilesTest, WhatLacksAnotherMajorIsOfThePackageThatReplacedTheOneThatHasIt) {
  const std::string cufft = site_ + "nvidia/cufft/lib/libcufft.so.11", extension = site_ + "acme/_fft.so";
  std::filesystem::remove_all(Path(site_ + "ort"));
  Library(cufft, "int a;");
  Library("gone/libcufft.so.12", "int a;");
  Package("acme", "from ._fft import f\n");
  Extension("acme/_fft.so", "int of_12;", "@/" + cufft + " -Wl,-rpath,'$ORIGIN/../nvidia/cufft/lib'");
  Write(site_ + "acme_cuda12x-1.0.dist-info/RECORD", Row("acme/_fft.so"));
  EXPECT_THAT(Judge().faults, IsEmpty());
  Extension("acme/_fft.so", "int of_13;", "@/gone/libcufft.so.12");
  Write(site_ + "acme_cuda13x-1.1.dist-info/RECORD", Row("acme/_fft.so"));
  const SymbolJudgement judgement = Judge();
  ASSERT_THAT(Kinds(judgement), ElementsAre(SymbolFaultKind::kOtherMajor));
  EXPECT_EQ(judgement.faults[0].asker, Path(extension));
  EXPECT_EQ(Image().BroughtBy(Path(extension)), "acme-cuda13x 1.1");
  const std::string pip = Path("venv/bin/python") + " -m pip ";
  EXPECT_EQ(judgement.faults[0].line, "RUN " + pip + "uninstall -y acme-cuda12x acme-cuda13x && " + pip +
                                          "install --no-deps acme-cuda12x==1.0");
}

// As of `pip install torch` and a later one from the index for the CPU.
TEST_F(PackageFilesTest, ABuildForTheCpuInThePlaceOfOneForGpus) {
  const auto builds = [this] {
    LoaderFiles files("", false);
    std::vector<std::string> words;
    for (const CpuBuild& build : CpuBuildsBesideCuda(Image(), rules_, KnownEntry, &files)) {
      words.insert(words.end(), {build.framework, build.package});
      words.insert(words.end(), build.unneeded.begin(), build.unneeded.end());
    }
    return words;
  };
  const auto unneeded = ElementsAre("PyTorch", "torch 2.8.0+cpu", "nvidia-cudnn-cu12 9.10.2.21");
  Write(site_ + "torch-2.8.0+cpu.dist-info/METADATA", "");
  Write(site_ + "torch/version.py", "__version__ = '2.8.0+cpu'\ncuda: Optional[str] = None\n");
  EXPECT_THAT(builds(), IsEmpty()) << "no library of CUDA's";
  Write(site_ + "nvidia_cublas_cu12-12.8.4.1.dist-info/METADATA", "");
  Write(site_ + "nvidia_cudnn_cu12-9.10.2.21.dist-info/METADATA", "Requires-Dist: nvidia-cublas-cu12\n");
  EXPECT_THAT(builds(), unneeded);
  Write(site_ + "torch-2.8.0+cpu.dist-info/METADATA",
        "Requires-Dist: nvidia-cudnn-cu12; extra == \"cuda\"\n");
  EXPECT_THAT(builds(), unneeded) << "an extra of its own";
  const std::string cudnn = site_ + "nvidia/cudnn/lib/libcudnn.so.9";
  Library(cudnn, "int a;");
  Record("nvidia_cudnn_cu12-9.10.2.21", {"nvidia/cudnn/lib/libcudnn.so.9"});
  Library(site_ + "torch/lib/libtorch.so", "int b;", "@/" + cudnn);
  Record("torch-2.8.0+cpu", {"torch/lib/libtorch.so"});
  EXPECT_THAT(builds(), unneeded) << "its own file";
  Library(site_ + "llama/_llama.so", "int b;", "@/" + cudnn);
  EXPECT_THAT(builds(), IsEmpty()) << "which needs it and requires no package";
  std::filesystem::remove_all(Path(site_ + "llama"));
  std::filesystem::remove_all(Path(site_ + "torch/lib"));
  Write(site_ + "ctranslate2-4.6.0.dist-info/METADATA", "");
  EXPECT_THAT(builds(), IsEmpty()) << "whose program opens them";
  std::filesystem::remove_all(Path(site_ + "ctranslate2-4.6.0.dist-info"));
  Write(site_ + "mine-1.0.dist-info/METADATA", "Requires-Dist: nvidia-cudnn-cu12; extra == \"gpu\"\n");
  EXPECT_THAT(builds(), IsEmpty()) << "which may be meant";
  std::filesystem::remove_all(Path(site_ + "mine-1.0.dist-info"));
  std::filesystem::remove_all(Path(site_ + "torch-2.8.0+cpu.dist-info"));
  for (const std::string other : {"rocm6.4", "xpu"}) {
    const std::string record = site_ + "torch-2.8.0+" + other + ".dist-info";
    Write(record + "/METADATA", "");
    Write(site_ + "torch/version.py", "__version__ = '2.8.0+" + other + "'\ncuda: Optional[str] = None\n");
    EXPECT_THAT(builds(), IsEmpty()) << other;
    std::filesystem::remove_all(Path(record));
  }
  Write(site_ + "torch/version.py", "__version__ = '2.8.0'\ncuda: Optional[str] = '12.8'\n");
  Write(site_ + "torch-2.8.0.dist-info/METADATA", "");
  EXPECT_THAT(builds(), IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
