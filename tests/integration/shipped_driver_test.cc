// The driver plugin against fake drivers.
#include <dlfcn.h>

#include <filesystem>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class DriverLoad : public ShippedTest {
 protected:
  // The loader's own answer, so that the plugin's cannot decide whether it is tested.
  static bool MachineHasDriver() { return dlopen("libcuda.so.1", RTLD_LAZY) != nullptr; }
};

TEST_F(DriverLoad, MissingLibraryIsTheRunnersFaultAndTheVariableIsNamed) {
  if (MachineHasDriver()) GTEST_SKIP() << "this machine has a driver";
  UseFakes({});
  Set("NVIDIA_VISIBLE_DEVICES", "void");
  const CheckOutcome r = Check("driver.load");
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-library-missing"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_EQ(r.Fact("gpu.count"), "0");
  EXPECT_THAT(r.Detail(), Mentions("libcuda.so.1", "/dev/nvidiactl", "NVIDIA_VISIBLE_DEVICES='void'"));
}

TEST_F(DriverLoad, TellsTheToolkitsStubByItsAnswer) {
  Set("FAKE_STUB", "1");
  const CheckOutcome r = Check("driver.load");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-stub-library"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), Mentions("libcuda.so.1", "LD_LIBRARY_PATH entry"));
}

// Some library by the driver's name: the facts have nothing to say then, and are not at fault.
TEST_F(DriverLoad, ALibraryWithoutTheDriversFunctionsIsTheRunnersFault) {
  fs::create_symlink(FakeFile("nvml", "libnvidia-ml.so.1"), libraries() + "/libcuda.so.1");
  const CheckOutcome r = Check("driver.load");
  EXPECT_EQ(r.gate.exit_code, 3) << r.gate.out;
  EXPECT_THAT(r.Slugs(), ElementsAre("expectation-failed"));
  EXPECT_THAT(r.gate.out, Not(HasSubstr("plugin.facts")));
}

// To load it would end the process: the facts and every check of the driver.
TEST_F(DriverLoad, ATruncatedLibraryIsNamed) {
  Take("libcuda", "libcuda.so.1");
  Halve("libcuda.so.1");
  const CheckOutcome r = Check("driver.load");
  EXPECT_EQ(r.gate.exit_code, 3) << r.gate.out;
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-library-unloadable"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), HasSubstr(libraries() + "/libcuda.so.1 is truncated: "));
  EXPECT_THAT(r.gate.out, Not(HasSubstr("plugin.facts")));
}

// As without NVML: the driver itself answers.
TEST_F(DriverLoad, ATruncatedNvmlIsNotNeeded) {
  Take("nvml", "libnvidia-ml.so.1");
  Halve("libnvidia-ml.so.1");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_EQ(r.Outcome(), "passed");
}

TEST_F(DriverLoad, TellsAStubByItsPath) {
  fs::create_symlink(FakeFile("libcuda", "libcuda.so.1"), libraries() + "/libcuda.so.1");
  EXPECT_EQ(Check("driver.load").Outcome(), "passed");
  fs::create_directory(libraries() + "/stubs");
  fs::copy_file(FakeFile("libcuda", "libcuda.so.1"), libraries() + "/stubs/libcuda.so");
  fs::remove(libraries() + "/libcuda.so.1");
  fs::create_symlink("stubs/libcuda.so", libraries() + "/libcuda.so.1");
  EXPECT_THAT(Check("driver.load").Slugs(), ElementsAre("driver-stub-library"));
}

TEST_F(DriverLoad, UnloadableLibraryIsNotAMissingOne) {
  WriteLibrary("libcuda.so.1", std::string(100, 'x'));
  const CheckOutcome r = Check("driver.load");
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-library-unloadable"));
  EXPECT_THAT(r.Detail(), HasSubstr("invalid ELF header"));
}

using DriverVersion = ShippedTest;

TEST_F(DriverVersion, PassesWhenTheContractIsKept) {
  Promise("runner.driver", ">=525.60.13");
  const CheckOutcome r = Check("driver.version");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.exit_code, 0);
}

TEST_F(DriverVersion, DriverBelowTheContractIsTheRunnersFault) {
  Set("FAKE_NVML_DRIVER", "470.82.01");
  Set("FAKE_DRIVER_VERSION", "11040");
  Promise("runner.driver", ">=525.60.13");
  const CheckOutcome r = Check("driver.version");
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-below-contract")) << "the image is not to blame as well";
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_EQ(r.Detail(), "driver 470.82.01 found, >=525.60.13 promised");
}

TEST_F(DriverVersion, DriverThatKeepsTheContractButNotTheToolkitIsTheImagesFault) {
  Set("FAKE_DRIVER_VERSION", "12080");
  Promise("runner.driver", ">=525.60.13");
  const CheckOutcome r = Check("driver.version");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-too-old-for-toolkit"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("CUDA 12.8"), HasSubstr("13.0")));
}

TEST_F(DriverVersion, NewerMinorOfTheToolkitAndNewerDriverAreHealthy) {
  Set("FAKE_DRIVER_VERSION", "12000");
  Set("FAKE_CUDART_VERSION", "12090");
  EXPECT_EQ(Check("driver.version").Outcome(), "passed");
  Set("FAKE_DRIVER_VERSION", "13000");
  Set("FAKE_CUDART_VERSION", "11080");
  EXPECT_EQ(Check("driver.version").Outcome(), "passed");
}

TEST_F(DriverVersion, ToolkitThatIsNotPromisedBindsNoDriver) {
  Set("FAKE_DRIVER_VERSION", "12080");
  Promise("image.toolkit", ">=12.0 <13");
  EXPECT_EQ(Check("driver.version").Outcome(), "passed");
}

TEST_F(DriverVersion, NvmlsMismatchIsReported) {
  Set("FAKE_NVML_INIT", "18");
  const CheckOutcome r = Check("driver.version");
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-module-mismatch"));
  EXPECT_THAT(r.Detail(), Mentions("nvmlInit: 18"));
}

TEST_F(DriverVersion, ModuleOfAnotherVersionThanTheLibraryIsReported) {
  const auto words = InMountNamespace(
      "mount -t tmpfs none /sys/module && mkdir /sys/module/nvidia && echo 470.82.01 "
      ">/sys/module/nvidia/version");
  if (words.empty()) GTEST_SKIP() << "needs a mount namespace";
  gate().Before(words);
  const CheckOutcome r = Check("driver.version");
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-module-mismatch"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), HasSubstr("kernel module 470.82.01, user library "));
}

struct InitCase {
  const char* code;
  const char* slug;
  const char* blame;
};

class DriverInit : public ShippedTest, public ::testing::WithParamInterface<InitCase> {};

TEST_P(DriverInit, CodeIsDecoded) {
  Set("FAKE_CUINIT", GetParam().code);
  const CheckOutcome r = Check("driver.devices");
  EXPECT_EQ(r.gate.exit_code, std::string(GetParam().blame) == "image" ? 1 : 3);
  EXPECT_THAT(r.Slugs(), ElementsAre(GetParam().slug));
  EXPECT_EQ(r.Blame(), GetParam().blame);
  EXPECT_THAT(r.Detail(), HasSubstr("cuInit: " + std::string(GetParam().code) + " CUDA_ERROR_"));
}

INSTANTIATE_TEST_SUITE_P(Codes, DriverInit,
                         ::testing::Values(InitCase{"3", "driver-init-failed", "runner"},
                                           InitCase{"34", "driver-stub-library", "image"},
                                           InitCase{"46", "device-busy", "runner"},
                                           InitCase{"100", "no-visible-device", "runner"},
                                           InitCase{"101", "no-visible-device", "runner"},
                                           InitCase{"803", "driver-compat-mismatch", "image"},
                                           InitCase{"804", "driver-compat-mismatch", "image"},
                                           InitCase{"999", "driver-unknown-error", "runner"}),
                         [](const auto& param) { return std::string("code") + param.param.code; });

using DriverDevices = ShippedTest;

TEST_F(DriverDevices, PassesOnThePromisedGpus) {
  Set("FAKE_DEVICE_COUNT", "2");
  Promise("runner.gpus", ">=2");
  Promise("runner.compute_capability", ">=9.0");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
}

TEST_F(DriverDevices, NamesTheVariableThatHidesTheGpus) {
  Set("FAKE_DEVICE_COUNT", "2");
  Set("CUDA_VISIBLE_DEVICES", "7");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_THAT(r.Slugs(), ElementsAre("no-visible-device"));
  EXPECT_THAT(r.Detail(), Mentions("CUDA_VISIBLE_DEVICES='7'", "bad entry: '7'", "2 GPU(s)"));
}

TEST_F(DriverDevices, TooFewGpusAndOldGpusAreTheRunnersFault) {
  Set("FAKE_CC", "6.1");
  Promise("runner.gpus", ">=2");
  Promise("runner.compute_capability", ">=7.0");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_THAT(r.Slugs(), ElementsAre("too-few-gpus", "compute-capability-outside-contract"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), HasSubstr("1 GPU(s) visible, >=2 promised"));
}

TEST_F(DriverDevices, EveryGpuIsHeldToThePromise) {
  Set("FAKE_DEVICE_COUNT", "2");
  Set("FAKE_CC", "9.0,6.1");
  Promise("runner.compute_capability", ">=7.0");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("compute-capability-outside-contract"));
  EXPECT_THAT(r.Detail(), HasSubstr("NVIDIA Fake 1"));
}

using DriverCanary = ShippedTest;

TEST_F(DriverCanary, EveryElementIsCompared) {
  CheckOutcome r = Check("driver.canary");
  EXPECT_EQ(r.Outcome(), "passed");
  for (const char* measured : {"cuinit", "context"}) EXPECT_GE(r.Measured(measured), 0) << measured;
  // A start is no speed that a case is held to.
  for (const auto& m : r.record["measurements"]) EXPECT_EQ(m["goal"], "") << m;
  Set("FAKE_WRONG_KERNEL", "cudnn_ci_canary");
  r = Check("driver.canary");
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("canary-failed"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), Mentions("1 of 1048653"));
}

TEST_F(DriverCanary, KernelThatWritesNothingDoesNotPassOnAnOldResult) {
  Set("FAKE_STALE_KERNEL", "cudnn_ci_canary");
  const CheckOutcome r = Check("driver.canary");
  EXPECT_THAT(r.Slugs(), ElementsAre("canary-failed"));
  EXPECT_THAT(r.Detail(), Mentions("1048653 of 1048653"));
}

TEST_F(DriverCanary, FailingCallIsNamed) {
  Set("FAKE_CONTEXT", "2");
  CheckOutcome r = Check("driver.canary");
  EXPECT_THAT(r.Slugs(), ElementsAre("canary-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("cuDevicePrimaryCtxRetain: 2 CUDA_ERROR_OUT_OF_MEMORY"));
  Set("FAKE_CONTEXT", "0");
  for (const std::string call : {"cuModuleLoadData", "cuMemAlloc_v2", "cuMemsetD8_v2", "cuLaunchKernel",
                                 "cuCtxSynchronize", "cuMemcpyDtoH_v2", "cuMemFree_v2"}) {
    Set("FAKE_CUDA_FAULT", "call:" + call + ":1:719");
    r = Check("driver.canary");
    EXPECT_THAT(r.Slugs(), ElementsAre("canary-failed")) << call << ::testing::PrintToString(r);
    EXPECT_THAT(r.Detail(), HasSubstr(call.substr(0, call.find("_v2")) + ": 719 CUDA_ERROR_LAUNCH_FAILED"));
  }
}

using DriverFacts = ShippedTest;

TEST_F(DriverFacts, GpusAreNumberedInPciOrder) {
  Set("FAKE_DEVICE_COUNT", "2");
  Set("FAKE_PCI", "reverse");
  Set("FAKE_COMPUTE_MODE", "3,2");
  Set("FAKE_FREE_MB", "100,200");
  const CheckOutcome r = Check("driver.load");
  EXPECT_EQ(r.Fact("gpu.count"), "2");
  EXPECT_EQ(r.Fact("gpu.0.name"), "NVIDIA Fake 1");
  EXPECT_EQ(r.Fact("gpu.0.pci_bus_id"), "0000:10:00.0");
  EXPECT_EQ(r.Fact("gpu.0.uuid"), "GPU-11111111-1111-1111-1111-000000000001");
  EXPECT_EQ(r.Fact("gpu.1.uuid"), "GPU-11111111-1111-1111-1111-000000000000");
  EXPECT_EQ(r.Fact("gpu.1.compute_capability"), "9.0");
  EXPECT_EQ(r.Fact("gpu.0.compute_mode"), "prohibited");
  EXPECT_EQ(r.Fact("gpu.1.compute_mode"), "exclusive_process");
  EXPECT_EQ(r.Fact("gpu.0.memory_free_bytes"), std::to_string(200 << 20));
  EXPECT_EQ(r.Fact("gpu.1.memory_free_bytes"), std::to_string(100 << 20));
  EXPECT_EQ(r.Fact("driver.cuda"), "13.0");
  EXPECT_THAT(r.Fact("driver.library.path"), HasSubstr("/libcuda.so.5"));
}

TEST_F(DriverFacts, SayWhyThereIsNoGpuAndKeepSecretsOut) {
  Set("FAKE_CUINIT", "999");
  Set("CI_LICENCE", "a-secret-value");
  Set("CUDA_VERSION", "13.0.2");
  const CheckOutcome r = Check("driver.load");
  EXPECT_EQ(r.Fact("gpu.count"), "0");
  EXPECT_THAT(r.Fact("gpu.error"), HasSubstr("999 CUDA_ERROR_UNKNOWN"));
  EXPECT_EQ(r.Fact("env.CUDA_VERSION"), "13.0.2");
  EXPECT_THAT(r.gate.report.dump(), Not(HasSubstr("a-secret-value")));
}

}  // namespace
}  // namespace cudnn_ci
