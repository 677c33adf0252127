// The toolkit plugin against fake runtimes and a fake NVRTC, and once against this machine's own NVRTC.
#include <filesystem>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
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
  Set("FAKE_CUDART_STATUS", "35");
  const CheckOutcome r = Check("toolkit.runtime");
  EXPECT_THAT(r.Slugs(), ElementsAre("toolkit-runtime-missing"));
  EXPECT_THAT(r.Detail(), HasSubstr("returned 35"));
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
  EXPECT_THAT(r.Detail(), HasSubstr("the PTX lacks the kernel"));
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
  EXPECT_THAT(r.Detail(), HasSubstr("1 of 100003 elements are wrong"));
}

TEST_F(ToolkitLaunch, KernelThatWritesNothingDoesNotPassOnAnOldResult) {
  Set("FAKE_STALE_KERNEL", "cudnn_ci_fill");
  const CheckOutcome r = Check("toolkit.launch");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-kernel-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("100003 of 100003 elements are wrong"));
}

TEST_F(ToolkitLaunch, CompilesInsteadOfAskingTheCache) {
  Set("FAKE_NVRTC_FAULT", "compile:cudnn_ci_fill");
  const CheckOutcome r = Check("toolkit.launch");
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-kernel-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("NVRTC_ERROR_COMPILATION"));
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

}  // namespace
}  // namespace cudnn_ci
