// The toolkit plugin against fake runtimes and a fake NVRTC, and once against this machine's own NVRTC.
#include <filesystem>

#include "golden_messages.h"
#include "shipped_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ToolkitRuntime : public ShippedTest {
 protected:
  ToolkitRuntime() { Promise("image.toolkit", ">=13.0 <14"); }
};

TEST_F(ToolkitRuntime, KeepsItsContract) {
  EXPECT_EQ(Check("toolkit.runtime").Outcome(), "passed");
  Promise("image.toolkit", "13.0");
  EXPECT_EQ(Check("toolkit.runtime").Outcome(), "passed");
}

TEST_F(ToolkitRuntime, OutsideTheContractIsNamedWithBoth) {
  Promise("image.toolkit", ">=12.0 <13");
  const CheckOutcome r = Check("toolkit.runtime");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("toolkit-outside-contract"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_EQ(r.Detail(), "toolkit 13.0 found, >=12.0 <13 promised");
}

TEST_F(ToolkitRuntime, OneOfSeveralRuntimesKeepsThePromise) {
  UseFakes({"libcuda", "nvml", "cudart13", "cudart12", "nvrtc"});
  EXPECT_EQ(Check("toolkit.runtime").Outcome(), "passed") << "the first";
  Promise("image.toolkit", ">=12.0 <13");
  EXPECT_EQ(Check("toolkit.runtime").Outcome(), "passed") << "the last";
  Promise("image.toolkit", ">=11.0 <12");
  EXPECT_EQ(Check("toolkit.runtime").Detail(), "toolkit 13.0 and 12.8 found, >=11.0 <12 promised");
}

// What the screen names is what was judged.
TEST_F(ToolkitRuntime, FactsAreOfThePromisedMajor) {
  UseFakes({"libcuda", "nvml", "cudart13", "cudart12", "nvrtc", "nvrtc12"});
  Promise("image.toolkit", ">=12.0 <13");
  const CheckOutcome r = Check("toolkit.nvrtc");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Fact("toolkit.version"), "12.8");
  EXPECT_EQ(r.Fact("toolkit.nvrtc.version"), "12.8");
  EXPECT_THAT(r.Fact("toolkit.runtime.path"), HasSubstr("/libcudart.so.12"));
  EXPECT_THAT(r.Fact("toolkit.runtime.all"), AllOf(HasSubstr("13.0 /"), HasSubstr(", 12.8 /")));
  EXPECT_EQ(Check("toolkit.launch").Outcome(), "passed");
  Promise("image.toolkit", ">=13.0 <14");
  EXPECT_EQ(Check("toolkit.runtime").Fact("toolkit.version"), "13.0");
}

// Two directories are a warning: a link or a second package may have put the same library there.
TEST_F(ToolkitRuntime, CublasOfTwoDirectoriesIsAWarning) {
  Take("cudart13", "libcublasLt.so.13");
  const CheckOutcome r = Check("toolkit.runtime");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  ASSERT_EQ(r.record["findings"].size(), 1u);
  EXPECT_EQ(r.record["findings"][0]["slug"], "cublas-mixed-directories");
  EXPECT_EQ(r.record["findings"][0]["severity"], "warning");
  EXPECT_THAT(r.Detail(), HasSubstr(libraries()));
}

TEST_F(ToolkitRuntime, AbsentIsAPromise) {
  Promise("image.toolkit", "absent");
  EXPECT_THAT(Check("toolkit.runtime").Slugs(), ElementsAre("toolkit-not-promised"));
  EXPECT_THAT(Check("toolkit.nvrtc").Slugs(), ElementsAre("toolkit-not-promised"));
}

using ToolkitNotPromised = ShippedTest;

TEST_F(ToolkitNotPromised, AndNotThereIsNotJudged) {
  UseFakes({"libcuda", "nvml"});
  // Without its cache the loader finds nothing of what the system has installed beside its own folders.
  const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  if (words.empty()) GTEST_SKIP() << "needs a mount namespace";
  gate().Before(words);
  for (const char* check : {"toolkit.runtime", "toolkit.nvrtc"}) {
    const CheckOutcome r = Check(check);
    if (r.Fact("toolkit.version") != "(none)") GTEST_SKIP() << "a toolkit in the loader's own folders";
    EXPECT_EQ(r.Outcome(), "skipped") << check;
    EXPECT_EQ(r.Skip("kind"), "absent");
    EXPECT_EQ(r.Skip("need"), "a toolkit, or image.toolkit in the matrix");
    EXPECT_EQ(r.gate.exit_code, 4);
  }
}

// Programs would use it, whether this release of the gate knows it or not.
TEST_F(ToolkitRuntime, OfAnUnknownReleaseIsNotAbsent) {
  fs::copy_file(FakeFile("cudart13", "libcudart.so.13"), libraries() + "/libcudart.so.10.2");
  Promise("image.toolkit", "absent");
  EXPECT_THAT(Check("toolkit.runtime").Detail(), HasSubstr(libraries() + "/libcudart.so.10.2"));
}

TEST_F(ToolkitRuntime, TruncatedLibraryIsNamedAndDoesNotKill) {
  Take("cudart13", "libcudart.so.13");
  Halve("libcudart.so.13");
  const CheckOutcome r = Check("toolkit.runtime");
  EXPECT_EQ(r.Outcome(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre("toolkit-runtime-missing"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr(libraries() + "/libcudart.so.13"), HasSubstr("truncated")));
}

TEST_F(ToolkitRuntime, OneThatDoesNotSayItsVersionIsNoRuntime) {
  Set("FAKE_CUDART_STATUS", "999");
  const CheckOutcome r = Check("toolkit.runtime");
  EXPECT_THAT(r.Slugs(), ElementsAre("toolkit-runtime-missing"));
  EXPECT_THAT(r.Detail(), HasSubstr("returned 999"));
}

// CUDA 11's answers "insufficient driver" where there is none: its file or its wheel tells the version.
TEST_F(ToolkitRuntime, OneThatAsksTheDriverFirstIsKnownByItsFile) {
  Set("FAKE_CUDART_STATUS", "35");
  const CheckOutcome named = Check("toolkit.runtime");
  EXPECT_EQ(named.Outcome(), "passed") << ::testing::PrintToString(named);
  EXPECT_EQ(named.Fact("toolkit.version"), "13.0");

  Take("cudart13", "libcudart.so.13");  // a file of that very name
  EXPECT_THAT(Check("toolkit.runtime").Slugs(), ElementsAre("toolkit-runtime-missing"));

  const std::string site = gate().Path("site-packages"), wheel = site + "/nvidia/cuda_runtime/lib";
  fs::create_directories(wheel);
  fs::create_directories(site + "/nvidia_cuda_runtime_cu12-12.8.90.dist-info");
  fs::rename(libraries() + "/libcudart.so.13", wheel + "/libcudart.so.13");
  fs::create_symlink(wheel + "/libcudart.so.13", libraries() + "/libcudart.so.13");
  EXPECT_THAT(Check("toolkit.runtime").Slugs(), ElementsAre("toolkit-runtime-missing"));
  fs::create_directories(site + "/nvidia_cuda_runtime-13.0.96.dist-info");
  EXPECT_EQ(Check("toolkit.runtime").Fact("toolkit.version"), "13.0");
}

TEST_F(ToolkitRuntime, FactsNameBothLibraries) {
  const CheckOutcome r = Check("toolkit.runtime");
  EXPECT_EQ(r.Fact("toolkit.version"), "13.0");
  EXPECT_EQ(r.Fact("toolkit.nvrtc.version"), "13.0");
  EXPECT_THAT(r.Fact("toolkit.runtime.path"), HasSubstr("/libcudart.so.13"));
  EXPECT_THAT(r.Fact("toolkit.nvrtc.path"), HasSubstr("/libnvrtc.so.13"));
}

class ToolkitNvrtc : public ToolkitRuntime {};

TEST_F(ToolkitNvrtc, Compiles) {
  const CheckOutcome r = Check("toolkit.nvrtc");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
}

TEST_F(ToolkitNvrtc, OutsideTheContract) {
  Promise("image.toolkit", ">=12.0 <13");
  const CheckOutcome r = Check("toolkit.nvrtc");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-outside-contract"));
  EXPECT_THAT(r.Detail(), HasSubstr("NVRTC 13.0 found, >=12.0 <13 promised"));
}

TEST_F(ToolkitNvrtc, FailedCompilationIsNamed) {
  Set("FAKE_NVRTC_FAULT", "compile");
  CheckOutcome r = Check("toolkit.nvrtc");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-compile-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("NVRTC_ERROR_COMPILATION"));
  Set("FAKE_NVRTC_FAULT", "no-kernel");
  r = Check("toolkit.nvrtc");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-compile-failed"));
  EXPECT_THAT(r.Detail(), Mentions("PTX", "kernel"));
}

TEST_F(ToolkitNvrtc, TruncatedFilesDoNotKill) {
  Take("nvrtc", "libnvrtc.so.13");
  std::filesystem::copy_file(FakeFile("cudart13", "libcudart.so.13"),
                             libraries() + "/libnvrtc-builtins.so.13.0");
  Halve("libnvrtc-builtins.so.13.0");
  CheckOutcome r = Check("toolkit.nvrtc");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-compile-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("libnvrtc-builtins.so.13.0"));
  Halve("libnvrtc.so.13");
  r = Check("toolkit.nvrtc");
  EXPECT_EQ(r.Outcome(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-missing"));
}

TEST_F(ToolkitNvrtc, RealOneCompilesAndMissesBrokenBuiltins) {
  if (!std::filesystem::exists(CUDNN_CI_CUDA_LIBRARIES "/libnvrtc.so.13"))
    GTEST_SKIP() << "no NVRTC 13 in " CUDNN_CI_CUDA_LIBRARIES;
  UseFakes({"libcuda", "nvml", "cudart13"});
  std::filesystem::create_symlink(CUDNN_CI_CUDA_LIBRARIES "/libnvrtc.so.13", libraries() + "/libnvrtc.so.13");
  CheckOutcome r = Check("toolkit.nvrtc");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  r = Check("toolkit.launch");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  WriteLibrary("libnvrtc-builtins.so." + r.Fact("toolkit.nvrtc.version"), std::string(100, 'x'));
  r = Check("toolkit.nvrtc");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-compile-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("builtins"));
}

class ToolkitLaunch : public ToolkitRuntime {};

TEST_F(ToolkitLaunch, ComparesEveryElement) {
  CheckOutcome r = Check("toolkit.launch");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.exit_code, 0);
  // The driver's canary launches once, this check after it: in a process of its own or the same.
  Set("FAKE_WRONG_KERNEL", "cudnn_ci_fill");
  r = Check("toolkit.launch");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-kernel-failed"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), Mentions("1 of 100003"));
}

TEST_F(ToolkitLaunch, KernelThatWritesNothingDoesNotPassOnAnOldResult) {
  Set("FAKE_STALE_KERNEL", "cudnn_ci_fill");
  const CheckOutcome r = Check("toolkit.launch");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-kernel-failed"));
  EXPECT_THAT(r.Detail(), Mentions("100003 of 100003"));
}

TEST_F(ToolkitLaunch, CompilesInsteadOfAskingTheCache) {
  Set("FAKE_NVRTC_FAULT", "compile:cudnn_ci_fill");
  const CheckOutcome r = Check("toolkit.launch");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-kernel-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("NVRTC_ERROR_COMPILATION"));
}

// A compiler that went missing since the cache was filled is missed, although a warm process has initialised
// the driver, with its cache, before.
TEST_F(ToolkitLaunch, TheDriversCompilerIsAskedToo) {
  Set("FAKE_COMPUTE_CACHE", gate().folder() + "/compute-cache");
  EXPECT_EQ(Check("toolkit.launch").Outcome(), "passed");
  Set("FAKE_JIT", "221");
  const CheckOutcome r = Check("toolkit.launch");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-kernel-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("cuModuleLoadData of PTX: CUresult 221"));
}

TEST_F(ToolkitLaunch, NamesAGpuTheCompilerDoesNotServe) {
  Set("FAKE_CC", "5.0");
  const CheckOutcome r = Check("toolkit.launch");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-kernel-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("the GPU is sm_50"));
}

TEST_F(ToolkitLaunch, TakesTheHighestArchitectureBelowTheGpu) {
  Set("FAKE_CC", "19.9");
  EXPECT_EQ(Check("toolkit.launch").Outcome(), "passed");
}

TEST_F(ToolkitLaunch, GivesAnOlderDriverSassWhereItRefusesThePtx) {
  Set("FAKE_OLD_DRIVER", "1");
  EXPECT_EQ(Check("toolkit.launch").Outcome(), "passed");
  Set("FAKE_CC", "9.9");  // for which NVRTC has no SASS
  const CheckOutcome r = Check("toolkit.launch");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-kernel-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("222 CUDA_ERROR_UNSUPPORTED_PTX_VERSION"));
}

class ToolkitGemm : public ToolkitRuntime {
 protected:
  // What of a product goes wrong is told with the library that computed it.
  void ExpectRed(GoldenMessages* golden, const std::string& fault, const std::string& words) {
    Set("FAKE_CUBLASLT_FAULT", fault);
    const CheckOutcome r = Check("toolkit.gemm");
    EXPECT_EQ(r.gate.exit_code, 1) << fault;
    EXPECT_THAT(r.Slugs(), Contains("cublas-gemm-failed")) << fault;
    EXPECT_EQ(r.Blame(), "image");
    EXPECT_THAT(r.Detail(), AllOf(HasSubstr(words), HasSubstr("; cuBLASLt 13.1.0 /"))) << fault;
    golden->Row(fault, r.Detail().substr(0, r.Detail().find("; cuBLASLt 13.1.0 /")));
  }
};

TEST_F(ToolkitGemm, IsRightInBothTypes) {
  const CheckOutcome r = Check("toolkit.gemm");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.exit_code, 0);
  EXPECT_GE(r.Measured("cublaslt_create"), 0);
  Set("FAKE_CUBLASLT_FAULT", "minus-zero");
  EXPECT_EQ(Check("toolkit.gemm").Outcome(), "passed") << "a zero with a sign is none the less zero";
}

TEST_F(ToolkitGemm, ComparesEveryElement) {
  GoldenMessages golden("toolkit_gemm.txt");
  ExpectRed(&golden, "wrong:32", "float32: 1 of 9792");
  ExpectRed(&golden, "wrong:16", "float16: 1 of 9792");
  ExpectRed(&golden, "nothing", "float32: 9792 of 9792");
}

TEST_F(ToolkitGemm, NothingElseMayBeWritten) {
  GoldenMessages golden("toolkit_gemm.txt");
  ExpectRed(&golden, "behind", "float32");
  ExpectRed(&golden, "input", "float32");
}

TEST_F(ToolkitGemm, ACallThatFailsIsNamed) {
  GoldenMessages golden("toolkit_gemm.txt");
  for (const std::string call :
       {"cublasLtCreate", "cublasLtMatmulDescSetAttribute", "cublasLtMatmul", "cublasLtDestroy"})
    ExpectRed(&golden, "call:" + call + ":0:15", call + ": 15 CUBLAS_STATUS_NOT_SUPPORTED");
}

TEST_F(ToolkitGemm, ACrashIsTheImagesAndTheKernelBesideItCounts) {
  Set("FAKE_CUBLASLT_FAULT", "call:cublasLtMatmul:0:abort");
  const GateResult r =
      Run(Entry("toolkit.launch") + ", " + Entry("toolkit.gemm") + ", " + Entry("toolkit.runtime"));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.report["root_cause"]["slug"], "crashed");
  EXPECT_EQ(r.report["root_cause"]["blame"], "image");
  EXPECT_EQ(r.Outcome("toolkit.launch[subject=system]"), "passed");
}

TEST_F(ToolkitGemm, TooLittleDeviceMemoryIsNoFaultOfTheImage) {
  Set("FAKE_CUBLASLT_FAULT", "call:cublasLtCreate:0:3");
  CheckOutcome r = Check("toolkit.gemm");
  EXPECT_EQ(r.Outcome(), "skipped") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("kind"), "memory");
  EXPECT_EQ(r.Skip("resource"), "device-memory");
  EXPECT_EQ(r.gate.exit_code, 3);
  Set("FAKE_CUBLASLT_FAULT", "call:cublasLtCreate:0:1");
  Set("FAKE_FREE_MB", "300");
  r = Check("toolkit.gemm");
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_THAT(r.Skip("seen"), AllOf(HasSubstr(" MiB are free; "), HasSubstr("cublasLtCreate: 1 ")));
}

TEST_F(ToolkitGemm, WithoutACublasLtOfThePromisedMajorThereIsNothingToAsk) {
  UseFakes({"libcuda", "nvml", "nvrtc"});
  Take("cudart13", "libcudart.so.13");
  const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  if (words.empty()) GTEST_SKIP() << "needs a mount namespace";
  gate().Before(words);
  const CheckOutcome r = Check("toolkit.gemm", R"("allow_skip": ["absent"])");
  if (r.Outcome() == "passed") GTEST_SKIP() << "a toolkit in the loader's own folders";
  EXPECT_EQ(r.Outcome(), "skipped") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_EQ(r.gate.exit_code, 0);
  Take("cudart12", "libcublasLt.so.12");
  EXPECT_EQ(Check("toolkit.gemm").Skip("seen"), libraries() + "/libcublasLt.so.12");
}

TEST_F(ToolkitGemm, OneThatIsBrokenIsNotAbsent) {
  UseFakes({"libcuda", "nvml", "nvrtc"});
  Take("cudart13", "libcudart.so.13");
  // Else a cuBLAS of the machine's own would be the one that cannot use it.
  const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  if (words.empty()) GTEST_SKIP() << "needs a mount namespace";
  gate().Before(words);
  Take("cudart13", "libcublasLt.so.13");
  Halve("libcublasLt.so.13");
  EXPECT_THAT(Check("toolkit.gemm").Slugs(), ElementsAre("cublas-unusable"));
  Take("cublas_other", "libcublasLt.so.13");
  const CheckOutcome r = Check("toolkit.gemm");
  EXPECT_THAT(r.Slugs(), ElementsAre("cublas-unusable"));
  EXPECT_THAT(r.Detail(), Mentions("libcublasLt.so.13", "symbol cublasLtGetVersion"));
}

TEST_F(ToolkitGemm, OfThePromisedMajorIsAsked) {
  UseFakes({"libcuda", "nvml", "cudart13", "cudart12", "nvrtc", "nvrtc12"});
  Promise("image.toolkit", ">=12.0 <13");
  Set("FAKE_CUBLASLT_FAULT", "wrong:32");
  EXPECT_THAT(Check("toolkit.gemm").Detail(), HasSubstr("; cuBLASLt 12.1.0 /"));
}

TEST_F(ShippedTest, AMatrixProductIsOfAMajorThatTheDriverServesWhereNoneIsPromised) {
  UseFakes({"libcuda", "nvml", "cudart12", "nvrtc12"});
  Take("cudart13", "libcublasLt.so.13");
  const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  if (words.empty()) GTEST_SKIP() << "needs a mount namespace";
  gate().Before(words);
  Set("FAKE_CUBLASLT_FAULT", "wrong:32");
  EXPECT_THAT(Check("toolkit.gemm").Detail(), HasSubstr("; cuBLASLt 13.1.0 /"));
  Set("FAKE_DRIVER_VERSION", "12080");
  EXPECT_THAT(Check("toolkit.gemm").Detail(), HasSubstr("; cuBLASLt 12.1.0 /"));
}

// A context costs more than both of them.
TEST_F(ToolkitGemm, SharesAProcessWithTheKernel) {
  const GateResult r =
      Run(Entry("toolkit.launch") + ", " + Entry("toolkit.gemm") + ", " + Entry("toolkit.runtime"));
  EXPECT_EQ(r.exit_code, 0) << r.out;
  std::vector<json> workers;
  for (const json& e : r.Events("AttemptStarted"))
    if (e["id"] == "toolkit.launch[subject=system]" || e["id"] == "toolkit.gemm[subject=system]")
      workers.push_back(e["worker"]);
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0], workers[1]);
}

}  // namespace
}  // namespace cudnn_ci
