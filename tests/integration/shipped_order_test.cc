// Which of the shipped checks share a process on a GPU, against fake libraries.
#include <map>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using Order = ShippedTest;

// All convolutions wait for cudnn.init, and only products wait for toolkit.gemm. So toolkit.gemm is one of
// the concurrent cases, and cudnn.init has the GPU first where both can begin.
TEST_F(Order, TheFirstProductHasAWorkerOfTheConcurrentCases) {
  gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // its plugins are not a third party's
  UseShapes(R"({"small": {"x": [1, 2, 5, 5], "w": [2, 2, 3, 3]}})");
  const GateResult result = Run(
      Entry("toolkit.launch") + ", " + Entry("toolkit.gemm") + ", " + Entry("cudnn.init") + ", " +
          Entry("gemm.matmul", R"("params": {"dtype": "float32", "size": "24x18x40"})") + ", " +
          Entry(
              "conv.forward",
              R"("params": {"layout": "nchw", "dtype": "float32", "algo": "implicit_gemm", "shape": "small"})"),
      {"--time-limit", "60"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  std::map<std::string, int64_t> workers;
  for (const json& e : result.Events("AttemptStarted")) {
    const std::string id = e["id"];
    workers[id.substr(0, id.find('['))] = e["worker"];
  }
  std::map<int64_t, std::string> plugins;
  for (const json& e : result.Events("WorkerStarted")) plugins[e["worker"]] = e["plugin"];
  EXPECT_EQ(workers.at("driver.canary"), workers.at("toolkit.launch"));
  EXPECT_EQ(plugins[workers.at("toolkit.gemm")], "conv,gemm,toolkit");
  EXPECT_EQ(plugins[workers.at("gemm.matmul")], "conv,gemm,toolkit");
}

}  // namespace
}  // namespace cudnn_ci
