// What the shipped checks say of themselves, as the harness hears it: whatever checks of a kind have in
// common.
#include <gmock/gmock.h>

#include "worker_client.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

std::vector<CheckInfo> ChecksOf(const std::string& plugin) {
  WorkerClient worker(CUDNN_CI_STAGE_PLUGINS "/" + plugin + ".cci.so");
  return worker.DescribeChecks();
}

std::vector<std::string> NamesOf(const std::vector<CheckInfo>& checks) {
  std::vector<std::string> names;
  for (const CheckInfo& check : checks) names.push_back(check.name);
  return names;
}

TEST(ShippedChecks, EveryConvolutionIsAskedAboutElsewhereAndStandsBehindTheHandles) {
  const std::vector<CheckInfo> checks = ChecksOf("conv");
  EXPECT_THAT(NamesOf(checks), IsSupersetOf({"conv.forward", "conv.backward_data", "conv.backward_filter",
                                             "conv.random", "conv.refuses"}));
  for (const CheckInfo& check : checks) {
    EXPECT_TRUE(check.second_opinion) << check.name;
    EXPECT_TRUE(check.per_subject) << check.name;
    EXPECT_EQ(check.layer, Layer::kConvolution) << check.name;
    EXPECT_EQ(check.devices, Devices::kOne) << check.name;
    EXPECT_THAT(check.prerequisites, ElementsAre("cudnn.init")) << check.name;
    EXPECT_EQ(check.timeout_s, 60) << check.name;
    EXPECT_FALSE(check.summary.empty()) << check.name;
    // What a refusal leaves behind no other case shall meet.
    EXPECT_EQ(check.shareable, check.name != "conv.refuses") << check.name;
  }
}

TEST(ShippedChecks, EveryFrameworkOnAGpuStandsBehindADriverThatRunsAKernel) {
  const std::vector<CheckInfo> checks = ChecksOf("framework");
  EXPECT_THAT(NamesOf(checks), IsSupersetOf({"framework.torch", "framework.cupy", "framework.torch_decoy",
                                             "framework.onnxruntime_decoy"}));
  for (const CheckInfo& check : checks) {
    EXPECT_EQ(check.layer, Layer::kFramework) << check.name;
    EXPECT_TRUE(check.per_subject) << check.name;
    EXPECT_TRUE(check.validates) << check.name;
    if (check.name == "framework.versions") continue;  // which reads metadata
    const bool all = check.name.find("_gpus") != std::string::npos;
    EXPECT_EQ(check.devices, all ? Devices::kAll : Devices::kOne) << check.name;
    EXPECT_EQ(check.shareable, !all) << check.name;
    EXPECT_THAT(check.prerequisites, ElementsAre("driver.canary")) << check.name;
    EXPECT_EQ(check.timeout_s, 300) << check.name;
    EXPECT_FALSE(check.summary.empty()) << check.name;
  }
}

}  // namespace
}  // namespace cudnn_ci
