// The driver plugin against fake drivers: the causes that a code or an absent library hides, what is only
// worth a warning, and healthy machines of which nothing may be said.
#include <chrono>

#include "driver_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using DriverCauses = DriverTest;

TEST_F(DriverCauses, OnlyTheUtilityCapabilityIsNamed) {
  UseFakes({"nvml"});
  Set("NVIDIA_DRIVER_CAPABILITIES", "utility");
  const CheckOutcome r = Check("driver.load");
  if (r.Outcome() == "passed") GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-compute-not-mounted"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(),
              AllOf(HasSubstr("NVIDIA_DRIVER_CAPABILITIES='utility'"), HasSubstr("libnvidia-ml.so")));
}

// A library that the image brought answers nothing where there is no driver.
TEST_F(DriverCauses, AnNvmlThatDoesNotAnswerIsNoDriver) {
  UseFakes({"nvml"});
  Set("FAKE_NVML_INIT", "9");
  const CheckOutcome r = Check("driver.load");
  if (r.Outcome() == "passed" || r.Fact("driver.module_version") != "(none)")
    GTEST_SKIP() << "this machine has a driver";
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-library-missing"));
}

TEST_F(DriverCauses, MigWithoutAnInstance) {
  Set("FAKE_CUINIT", "100");
  Set("FAKE_MIG", "1");
  CheckOutcome r = Check("driver.devices");
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("mig-without-instance"));
  Set("FAKE_MIG_INSTANCES", "2");
  r = Check("driver.devices");
  EXPECT_THAT(r.Slugs(), ElementsAre("no-visible-device")) << "there are instances";
}

TEST_F(DriverCauses, AVariableThatHidesTheGpusComesBeforeMig) {
  Set("FAKE_MIG", "1");
  Set("CUDA_VISIBLE_DEVICES", "MIG-1,none");
  Set("FAKE_CUINIT", "100");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_THAT(r.Slugs(), ElementsAre("no-visible-device"));
  EXPECT_THAT(r.Detail(), Mentions("bad entry: 'none'"));
}

TEST_F(DriverCauses, ALimitOfAddressSpaceIsNamed) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs more than any limit";
  Set("FAKE_CUINIT", "2");
  CheckOutcome r = Check("driver.devices");
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-init-failed"));
  EXPECT_THAT(r.Detail(), Not(HasSubstr("ulimit")));
  gate().Before({"sh", "-c", "ulimit -v 67108864 && exec \"$@\"", "--"});
  r = Check("driver.devices");
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-init-failed"));
  EXPECT_THAT(r.Detail(), Mentions("cuInit: 2 CUDA_ERROR_OUT_OF_MEMORY", "65536 MiB (ulimit -Hv)"));
}

TEST_F(DriverCauses, TheHidingEntryIsNamedWithoutNvml) {
  UseFakes({"libcuda", "cudart13"});
  gate().Before({"env", "CUDA_VISIBLE_DEVICES="});
  const CheckOutcome r = Check("driver.devices");
  EXPECT_THAT(r.Slugs(), ElementsAre("no-visible-device"));
  EXPECT_THAT(r.Detail(), Mentions("CUDA_VISIBLE_DEVICES=''", "empty"));
}

TEST_F(DriverCauses, MpsServerThatDoesNotAnswer) {
  Set("FAKE_CUINIT", "805");
  Set("CUDA_MPS_PIPE_DIRECTORY", "/tmp/no-mps-here");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("mps-unreachable"));
  EXPECT_THAT(r.Detail(),
              AllOf(HasSubstr("805 CUDA_ERROR_MPS_CONNECTION_FAILED"), HasSubstr("/tmp/no-mps-here")));
}

TEST_F(DriverCauses, ProcessesOnABusyGpuAreNamed) {
  Set("FAKE_CUINIT", "46");
  Set("FAKE_PROCESSES", "4711:300");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_THAT(r.Slugs(), ElementsAre("device-busy"));
  EXPECT_THAT(r.Detail(), Mentions("4711"));
}

TEST_F(DriverCauses, FabricThatGetsReadyIsWaitedFor) {
  Set("FAKE_CUINIT", "802");
  Set("FAKE_CUINIT_FOR_S", "2");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r), ElementsAre("warning fabric-was-slow"));
  EXPECT_THAT(r.Detail(), ContainsRegex("\\b802 for [1-9][0-9]* s"));
  EXPECT_EQ(r.Fact("gpu.count"), "1");
}

TEST_F(DriverCauses, FabricThatStaysUnreadyIsWaitedForOnce) {
  Set("FAKE_CUINIT", "802");
  const auto start = std::chrono::steady_clock::now();
  const CheckOutcome r = Check("driver.devices");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("fabric-not-ready"));
  EXPECT_THAT(r.Detail(), Mentions("cuInit: 802", "30 s"));
  EXPECT_GE(seconds, 29);
  EXPECT_LT(seconds, 58) << "not by the facts and by the check again";
}

TEST_F(DriverCauses, MemoryHeldByOthersIsNoBrokenGpu) {
  Set("FAKE_CONTEXT", "2");
  Set("FAKE_FREE_MB", "300");
  Set("FAKE_PROCESSES", "4711:79000,4712:-1");
  CheckOutcome r = Check("driver.canary");
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("device-memory-held"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), Mentions("cuDevicePrimaryCtxRetain: 2 CUDA_ERROR_OUT_OF_MEMORY", "300 MiB",
                                   "process 4711: 79000 MiB", "process 4712"));
  // Plenty is free: then it is not memory.
  Set("FAKE_FREE_MB", "100000");
  r = Check("driver.canary");
  EXPECT_THAT(r.Slugs(), ElementsAre("canary-failed"));
  // Nobody tells what is free: the driver's word counts.
  UseFakes({"libcuda", "cudart13"});
  r = Check("driver.canary");
  EXPECT_THAT(r.Slugs(), ElementsAre("device-memory-held"));
}

TEST_F(DriverCauses, AnAllocationThatFailsForWantOfMemoryIsNoBrokenGpu) {
  Set("FAKE_FREE_MB", "1");
  const CheckOutcome r = Check("driver.canary");
  EXPECT_THAT(r.Slugs(), ElementsAre("device-memory-held"));
  EXPECT_THAT(r.Detail(), HasSubstr("cuMemAlloc: 2 CUDA_ERROR_OUT_OF_MEMORY"));
}

TEST_F(DriverCauses, AGpuThatSomebodyHasToHimselfIsBusy) {
  Set("FAKE_CONTEXT", "46");
  Set("FAKE_COMPUTE_MODE", "3");
  const CheckOutcome r = Check("driver.canary");
  EXPECT_THAT(r.Slugs(), ElementsAre("device-busy"));
  EXPECT_THAT(r.Detail(), HasSubstr("exclusive_process"));
}

// ---- what works and is worth knowing ----

struct Known {
  const char *name, *variable, *value, *said;
};
class DriverKnows : public DriverCauses, public ::testing::WithParamInterface<Known> {};

TEST_P(DriverKnows, ButPasses) {
  Set(GetParam().variable, GetParam().value);
  const CheckOutcome r = Check("driver.devices");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r), ElementsAre(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    All, DriverKnows,
    ::testing::Values(Known{"persistence", "FAKE_PERSISTENCE", "0", "note persistence-off"},
                      Known{"exclusive", "FAKE_COMPUTE_MODE", "3", "note exclusive-compute-mode"},
                      Known{"mig", "FAKE_MIG_PENDING", "1", "note mig-mode-pending"},
                      Known{"ecc", "FAKE_ECC", "2", "warning uncorrected-memory-errors"},
                      Known{"pages", "FAKE_REPAIR", "1", "warning memory-repair-pending"},
                      Known{"rows", "FAKE_REPAIR", "2", "warning memory-repair-pending"},
                      Known{"row", "FAKE_REPAIR", "3", "warning memory-repair-pending"},
                      Known{"cut", "CUDA_VISIBLE_DEVICES", "0,7", "warning visible-devices-cut"}),
    [](const auto& row) { return std::string(row.param.name); });

// ---- healthy machines ----

struct Healthy {
  const char* name;
  std::vector<std::string> fakes;
  std::map<std::string, std::string> variables;
};
class DriverIsHealthy : public DriverCauses, public ::testing::WithParamInterface<Healthy> {};

TEST_P(DriverIsHealthy, AndNothingIsSaid) {
  UseFakes(GetParam().fakes);
  for (const auto& [name, value] : GetParam().variables) Set(name, value);
  Promise("runner.driver", ">=525.60.13");
  Promise("runner.gpus", ">=1");
  for (const std::string check : {"driver.load", "driver.version", "driver.devices", "driver.canary"}) {
    const CheckOutcome r = Check(check);
    EXPECT_EQ(r.Outcome(), "passed") << check << ::testing::PrintToString(r);
    EXPECT_THAT(Said(r), IsEmpty()) << check;
  }
}

const std::vector<std::string> kAll = {"libcuda", "nvml", "cudart13"};
INSTANTIATE_TEST_SUITE_P(
    Machines, DriverIsHealthy,
    ::testing::Values(
        Healthy{"plain", kAll, {}}, Healthy{"without_nvml", {"libcuda", "cudart13"}, {}},
        Healthy{"nvml_that_fails", kAll, {{"FAKE_NVML_INIT", "999"}}},
        Healthy{"newer_driver", kAll, {{"FAKE_CUDART_VERSION", "12080"}, {"FAKE_DRIVER_VERSION", "13000"}}},
        Healthy{"minor_version_compatibility",
                kAll,
                {{"FAKE_CUDART_VERSION", "12080"}, {"FAKE_DRIVER_VERSION", "12020"}}},
        Healthy{"mig",
                kAll,
                {{"FAKE_NAME", "NVIDIA H200 MIG 1g.18gb"}, {"FAKE_MIG", "1"}, {"FAKE_MIG_INSTANCES", "7"}}},
        Healthy{"official_requirement",
                kAll,
                {{"NVIDIA_REQUIRE_CUDA", "cuda>=13.0 brand=unknown,driver>=535,driver<536"}}},
        Healthy{"requirement_of_an_unknown_property", kAll, {{"NVIDIA_REQUIRE_COLOUR", "colour=red"}}},
        Healthy{
            "visible_by_uuid", kAll, {{"CUDA_VISIBLE_DEVICES", "GPU-11111111-1111-1111-1111-000000000000"}}},
        Healthy{"two_gpus_the_other_way_round",
                kAll,
                {{"FAKE_DEVICE_COUNT", "2"}, {"CUDA_VISIBLE_DEVICES", "1, 0"}}}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace cudnn_ci
