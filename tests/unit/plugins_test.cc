// The driver plugin against fake drivers found through LD_LIBRARY_PATH. Tests that need the absence of a
// driver skip where there is one.
#include "plugin_process.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using DriverLoad = PluginTest;

TEST_F(DriverLoad, NamesTheMissingLibraryAndTheVariable) {
  REQUIRE_NO_DRIVER();
  const Report r = RunCheck("driver.load", {{"NVIDIA_VISIBLE_DEVICES", "void"}});
  EXPECT_EQ(r.Verdict(), "failed");
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("libcuda.so.1: cannot open shared object file"),
                                HasSubstr("/dev/nvidiactl"), HasSubstr("NVIDIA_VISIBLE_DEVICES='void'")));
}

TEST_F(DriverLoad, SeesThatOnlyTheUtilityCapabilityWasMounted) {
  REQUIRE_NO_DRIVER();
  const Report r = RunCheck("driver.load", {{"LD_LIBRARY_PATH", kFakeNvml}});
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-library-missing"));
  EXPECT_THAT(r.Detail(), HasSubstr("'utility'"));
}

TEST_F(DriverLoad, TellsTheToolkitsStubByItsAnswer) {
  REQUIRE_LIBRARY("stubs/libcuda.so");
  fs::copy_file(CUDA_LIBRARY_DIR "/stubs/libcuda.so", directory_ + "/libcuda.so.1");
  const Report r = RunCheck("driver.load", Here());
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-stub-library"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), HasSubstr("LD_LIBRARY_PATH entry " + directory_));
}

TEST_F(DriverLoad, TellsAStubByItsPath) {
  fs::create_directory(directory_ + "/stubs");
  fs::create_symlink(fs::canonical(kFakeDriver + "/libcuda.so.1"), directory_ + "/libcuda.so.1");
  EXPECT_EQ(RunCheck("driver.load", Here()).Verdict(), "passed");
  fs::copy_file(kFakeDriver + "/libcuda.so.1", directory_ + "/stubs/libcuda.so");
  fs::remove(directory_ + "/libcuda.so.1");
  fs::create_symlink("stubs/libcuda.so", directory_ + "/libcuda.so.1");
  EXPECT_THAT(RunCheck("driver.load", Here()).Slugs(), ElementsAre("driver-stub-library"));
}

TEST_F(DriverLoad, UnloadableLibraryIsNotAMissingOne) {
  Write("libcuda.so.1", std::string(100, 'x'));
  const Report r = RunCheck("driver.load", Here());
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-library-unloadable"));
  EXPECT_THAT(r.Detail(), HasSubstr("invalid ELF header"));
}

class DriverVersion : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"/proc/driver/nvidia/version", "/sys/module/nvidia/version"})
      if (fs::exists(file))
        GTEST_SKIP() << file << " speaks of a real driver, which the fake one does not match";
  }
};

TEST_F(DriverVersion, PassesWhenTheContractIsKept) {
  const Report r = RunCheck("driver.version", Fake(), {"contract:runner.driver=>=525.60.13"});
  EXPECT_EQ(r.Verdict(), "passed") << ::testing::PrintToString(r);
}

TEST_F(DriverVersion, DriverBelowTheContractIsTheRunnersFault) {
  const Report r =
      RunCheck("driver.version", Fake({{"FAKE_NVML_DRIVER", "470.82.01"}, {"FAKE_DRIVER_VERSION", "11040"}}),
               {"contract:runner.driver=>=525.60.13", "fact:toolkit.version=13.0"});
  EXPECT_EQ(r.Verdict(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-below-contract")) << "the image is not to blame as well";
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_EQ(r.Detail(), "driver 470.82.01 found, >=525.60.13 promised");
}

TEST_F(DriverVersion, DriverThatKeepsTheContractButNotTheToolkitIsTheImagesFault) {
  const Report r = RunCheck("driver.version", Fake({{"FAKE_DRIVER_VERSION", "12080"}}),
                            {"contract:runner.driver=>=525.60.13", "fact:toolkit.version=13.0"});
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-too-old-for-toolkit"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("CUDA 12.8"), HasSubstr("13.0")));
}

TEST_F(DriverVersion, NewerMinorOfTheToolkitAndNewerDriverAreHealthy) {
  EXPECT_EQ(
      RunCheck("driver.version", Fake({{"FAKE_DRIVER_VERSION", "12000"}}), {"fact:toolkit.version=12.9"})
          .Verdict(),
      "passed");
  EXPECT_EQ(RunCheck("driver.version", Fake(), {"fact:toolkit.version=11.8"}).Verdict(), "passed");
}

TEST_F(DriverVersion, ToolkitThatIsNotPromisedBindsNoDriver) {
  EXPECT_EQ(RunCheck("driver.version", Fake({{"FAKE_DRIVER_VERSION", "12080"}}),
                     {"contract:image.toolkit=>=12.0 <13", "fact:toolkit.version=13.0"})
                .Verdict(),
            "passed");
}

TEST_F(DriverVersion, NvmlsMismatchIsReported) {
  const Report r = RunCheck("driver.version", Fake({{"FAKE_NVML_INIT", "18"}}));
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-module-mismatch"));
  EXPECT_THAT(r.Detail(), HasSubstr("Driver/library version mismatch"));
}

struct InitCase {
  const char* code;
  const char* slug;
  const char* blame;
};

class DriverInit : public ::testing::TestWithParam<InitCase> {};

TEST_P(DriverInit, CodeIsDecoded) {
  const Report r = RunCheck("driver.devices", Fake({{"FAKE_CUINIT", GetParam().code}}));
  EXPECT_EQ(r.Verdict(), "failed");
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
                                           InitCase{"802", "fabric-not-ready", "runner"},
                                           InitCase{"803", "driver-compat-mismatch", "image"},
                                           InitCase{"804", "driver-compat-mismatch", "image"},
                                           InitCase{"999", "driver-unknown-error", "runner"}),
                         [](const auto& param) { return std::string("code") + param.param.code; });

TEST(DriverDevices, PassesOnThePromisedGpus) {
  const Report r = RunCheck("driver.devices", Fake({{"FAKE_DEVICE_COUNT", "2"}}),
                            {"contract:runner.gpus=>=2", "contract:runner.compute_capability=>=7.0"});
  EXPECT_EQ(r.Verdict(), "passed") << ::testing::PrintToString(r);
}

TEST(DriverDevices, NamesTheVariableThatHidesTheGpus) {
  Report r = RunCheck("driver.devices", Fake({{"FAKE_DEVICE_COUNT", "2"}, {"CUDA_VISIBLE_DEVICES", ""}}));
  EXPECT_THAT(r.Slugs(), ElementsAre("no-visible-device"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("CUDA_VISIBLE_DEVICES=''"), HasSubstr("NVML sees 2 GPU(s)")));
  r = RunCheck("driver.devices", Fake({{"FAKE_DEVICE_COUNT", "2"}, {"CUDA_VISIBLE_DEVICES", "7"}}));
  EXPECT_THAT(r.Detail(), HasSubstr("first bad entry: '7'"));
}

TEST(DriverDevices, TooFewGpusAndOldGpusAreTheRunnersFault) {
  const Report r = RunCheck("driver.devices", Fake({{"FAKE_CC", "6.1"}}),
                            {"contract:runner.gpus=>=2", "contract:runner.compute_capability=>=7.0"});
  EXPECT_THAT(r.Slugs(), ElementsAre("too-few-gpus", "compute-capability-outside-contract"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), HasSubstr("1 GPU(s) visible, >=2 promised"));
}

TEST(DriverCanary, EveryElementIsCompared) {
  EXPECT_EQ(RunCheck("driver.canary", Fake()).Verdict(), "passed");
  const Report r = RunCheck("driver.canary", Fake({{"FAKE_CANARY", "wrong"}}));
  EXPECT_THAT(r.Slugs(), ElementsAre("canary-failed"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), HasSubstr("1 of 1048653 elements are wrong"));
}

TEST(DriverCanary, FailingContextNamesTheCall) {
  const Report r = RunCheck("driver.canary", Fake({{"FAKE_CONTEXT", "2"}}));
  EXPECT_THAT(r.Slugs(), ElementsAre("canary-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("cuDevicePrimaryCtxRetain: 2 CUDA_ERROR_OUT_OF_MEMORY"));
}

TEST(DriverFacts, GpusAreNumberedInPciOrder) {
  const Report r = RunCheck("driver.--facts", Fake({{"FAKE_DEVICE_COUNT", "2"}, {"FAKE_PCI", "reverse"}}));
  EXPECT_EQ(r.Fact("gpu.count"), "2");
  EXPECT_EQ(r.Fact("gpu.0.name"), "NVIDIA Fake 1");
  EXPECT_EQ(r.Fact("gpu.0.pci_bus_id"), "0000:10:00.0");
  EXPECT_EQ(r.Fact("gpu.0.uuid"), "GPU-11111111-1111-1111-1111-000000000001");
  EXPECT_EQ(r.Fact("gpu.1.uuid"), "GPU-11111111-1111-1111-1111-000000000000");
  EXPECT_EQ(r.Fact("gpu.1.compute_capability"), "9.0");
  EXPECT_EQ(r.Fact("driver.version"), "580.65.06");
  EXPECT_EQ(r.Fact("driver.cuda"), "13.0");
  EXPECT_EQ(r.Fact("driver.library.path"), fs::canonical(kFakeDriver + "/libcuda.so.1").string());
}

TEST(DriverFacts, SayWhyThereIsNoGpuAndKeepSecretsOut) {
  const Report r = RunCheck(
      "driver.--facts", Fake({{"FAKE_CUINIT", "999"}, {"CI_TOKEN", "secret"}, {"CUDA_VERSION", "13.0.2"}}));
  EXPECT_THAT(r.Fact("gpu.error"), HasSubstr("999 CUDA_ERROR_UNKNOWN"));
  EXPECT_EQ(r.Fact("env.CUDA_VERSION"), "13.0.2");
  for (const auto& record : r.records) EXPECT_THAT(record, Not(Contains(HasSubstr("secret"))));
}

}  // namespace
}  // namespace cudnn_ci
