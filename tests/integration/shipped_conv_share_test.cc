// A convolution in one of two warm workers of a GPU: it keeps to its share of the memory, and nothing of it
// is left out for the other's sake.
#include <gmock/gmock.h>

#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

class ConvShare : public ConvTest {
 protected:
  ConvShare() {
    UseShapes(
        R"({"made": {"x": [2, 6, 9, 11], "w": [8, 3, 3, 5], "pad": [1, 2], "stride": [2, 1], "groups": 2},
                  "wide": {"x": [1, 6, 1024, 1024], "w": [1, 6, 1, 1]}})");
    Set("FAKE_FREE_MB", "900");  // a share is 300 MiB, of which 256 are for what cuDNN may want
  }
  // Two cases, each with its attempts.
  std::vector<json> Pair(const std::string& algo, const std::string& shape, const std::string& workers) {
    const GateResult result = Run(Entry("conv.forward", Params(algo, "float32", shape)) + ", " +
                                      Entry("conv.forward", Params(algo, "float16", shape)),
                                  {"--workers-per-gpu", workers, "--jobs", "8"});
    EXPECT_EQ(result.exit_code, 0) << result.out;
    EXPECT_EQ(result.report["run"]["workers_per_gpu"], std::stoi(workers));
    std::vector<json> cases;
    for (const json& c : result.report["cases"])
      if (c["check"] == "conv.forward") cases.push_back(c);
    return cases;
  }
  static bool WasRunAlone(const json& one) {
    for (const json& attempt : one.value("attempts", json::array()))
      if (attempt["mode"] == "confirm") return true;
    return false;
  }
  static double Measured(const json& one, const std::string& name) {
    for (const json& m : one["measurements"])
      if (m["name"] == name) return m["value"];
    return -1;
  }
};

TEST_F(ConvShare, WhatFitsTheShareRunsOnASharedGpu) {
  for (const json& one : Pair("implicit_gemm", "made", "2")) {
    EXPECT_EQ(one["outcome"], "passed") << one;
    EXPECT_FALSE(WasRunAlone(one)) << one;
  }
}

TEST_F(ConvShare, ASweepLeavesNoChoiceOutForTheOthersSake) {
  Set("FAKE_CUDNN_WORKSPACE", "104857600");  // of every algorithm but the first
  const std::vector<json> alone = Pair("every", "made", "1"), shared = Pair("every", "made", "2");
  ASSERT_EQ(shared.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(WasRunAlone(shared[i])) << shared[i];
    EXPECT_FALSE(WasRunAlone(alone[i])) << alone[i];
    EXPECT_EQ(Measured(shared[i], "choices_passed"), Measured(alone[i], "choices_passed"));
    EXPECT_GT(Measured(shared[i], "choices_passed"), 1);
  }
}

// 24 MiB of images once, not twice, beside the 256.
TEST_F(ConvShare, NorItsRandomData) {
  const std::vector<json> cases = Pair("implicit_gemm", "wide", "2");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_TRUE(WasRunAlone(cases[0])) << cases[0];
  EXPECT_FALSE(WasRunAlone(cases[1])) << "in 16 bits both pairs fit";
}

}  // namespace
}  // namespace cudnn_ci
