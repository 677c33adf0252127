// Which of the shipped checks has the GPU first, against fake libraries.
#include <map>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;

class Order : public ShippedTest {
 protected:
  // The checks in the order of their first attempts on a GPU, and the worker of the last attempt of each.
  static std::vector<std::string> OnGpu(const GateResult& result, std::map<std::string, int64_t>* workers) {
    std::vector<std::string> order;
    for (const json& e : result.Events("AttemptStarted")) {
      const std::string id = e["id"], check = id.substr(0, id.find('['));
      if (!e.contains("device")) continue;
      (*workers)[check] = e["worker"];
      if (order.empty() || order.back() != check) order.push_back(check);
    }
    return order;
  }
};

// All convolutions wait for cudnn.init, and nothing but products for toolkit.gemm: that is one of the
// concurrent cases, and its context is theirs.
TEST_F(Order, CudnnInitialisesBeforeTheFirstProduct) {
  gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // whose plugins are no third party's
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
  EXPECT_THAT(OnGpu(result, &workers), ElementsAre("driver.canary", "toolkit.launch", "cudnn.init",
                                                   "toolkit.gemm", "conv.forward", "gemm.matmul"));
  EXPECT_EQ(workers["driver.canary"], workers["toolkit.launch"]);
  EXPECT_EQ(workers["toolkit.gemm"], workers["gemm.matmul"]);
  EXPECT_NE(workers["toolkit.launch"], workers["toolkit.gemm"]);
}

}  // namespace
}  // namespace cudnn_ci
