// "find": what cuDNN's legacy API finds by running its algorithms, against a fake one that runs them.
#include <cudnn.h>

#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFind[] = "cudnnFindConvolutionForwardAlgorithmEx";

class ConvFind : public ConvTest {
 protected:
  ConvFind() { Set("FAKE_CUDNN_FOUND", "2/1/0,1/0/0"); }
  CheckOutcome Forward(const std::string& params = Params("find")) {
    return Convolve("conv.forward", params);
  }
};

TEST_F(ConvFind, TakesTheFirstThatWasFound) {
  const CheckOutcome r = Forward();
  ExpectPassed(r);
  EXPECT_EQ(r.Measured("algorithm"), 2);
  EXPECT_EQ(Asked()["algorithm"], 2) << "cudnnGetConvolutionForwardAlgorithm_v7 would propose 1";
  EXPECT_EQ(Asked()["math"], CUDNN_TENSOR_OP_MATH) << "the answer's own";
  const std::vector<json> searched = AllAsked(kFind);
  ASSERT_EQ(searched.size(), 2u) << "each is run";
  EXPECT_EQ(searched[0]["workspace_bytes"], 100) << "what the hungriest asks for";
  EXPECT_EQ(searched[0]["x"], json({2, 6, 9, 11}));
  EXPECT_EQ(searched[0]["misalignment"], json({0, 0, 0, 0}));
}

TEST_F(ConvFind, IsThereInEveryOperationTypeAndLayout) {
  for (const char* check : {"conv.forward", "conv.backward_data", "conv.backward_filter"}) {
    Set("FAKE_CUDNN_FOUND", "1/0/0");
    const CheckOutcome r = Check(check, R"("params": {"algo": "find", "shape": "made"}, "axes": {
      "dtype": ["float32", "float16", "bfloat16", "float64"], "layout": ["nchw", "nhwc"]})");
    EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
    EXPECT_EQ(r.gate.report["totals"]["passed"], r.gate.report["totals"]["planned"]);
  }
}

TEST_F(ConvFind, PassesOverWhatDidNotRun) {
  Set("FAKE_CUDNN_FOUND", "2/0/3000,5/0/0,0/0/0");
  Set("FAKE_CUDNN_REFUSES", "5");
  const CheckOutcome r = Forward();
  ExpectPassed(r);
  EXPECT_EQ(Asked()["algorithm"], 0);
  Set("FAKE_CUDNN_FOUND", "2/0/3000");
  const CheckOutcome none = Forward();
  EXPECT_EQ(none.Skip("kind"), "unsupported");
  EXPECT_THAT(none.Skip("seen"), HasSubstr(kFind));
}

TEST_F(ConvFind, WhatTheSearchTouchesIsJudged) {
  Set("FAKE_CUDNN_FOUND", "2/1/0");  // once: what changes a byte twice has left it as it was
  for (const auto& [fault, slug] :
       {std::pair<const char*, const char*>{"guard:behind-workspace", "out-of-bounds-write"},
        {"input:w:last", "input-modified"}}) {
    Set("FAKE_CUDNN_FAULT", fault);
    const CheckOutcome r = Forward();
    EXPECT_EQ(r.gate.exit_code, 1);
    EXPECT_THAT(r.Slugs(), Each(slug)) << ::testing::PrintToString(r);
    EXPECT_THAT(r.Detail(), HasSubstr(std::string("; ") + kFind + ", cuDNN 9.19.0"));
  }
}

TEST_F(ConvFind, WrongNumbersOfWhatWasFoundAreFound) {
  Set("FAKE_CUDNN_FAULT", "element:middle");
  const CheckOutcome r = Forward();
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value"));
  EXPECT_THAT(r.Detail(), HasSubstr("; gemm, cuDNN 9.19.0"));
}

TEST_F(ConvFind, SearchThatFailsIsAFailure) {
  Set("FAKE_CUDNN_FAULT", std::string("call:") + kFind + ":1:5000");
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("convolution-failed"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr(kFind), HasSubstr("5000")));
}

TEST_F(ConvFind, IsTheLegacyApisAlone) {
  const CheckOutcome r = Forward(Params("find", "float32", "made", R"("api": "graph")"));
  EXPECT_EQ(r.gate.exit_code, 2);
  EXPECT_THAT(r.gate.err, Mentions("\"algo\"", "legacy API"));
}

}  // namespace
}  // namespace cudnn_ci
