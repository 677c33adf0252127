// conv.random, from the matrix to the verdict, against the fake cuDNN.
#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ConvRandom : public ConvTest {
 protected:
  CheckOutcome Draw(int draw, const std::string& rest = "") {
    return Convolve("conv.random", R"("params": {"seed": 1, "draw": )" + std::to_string(draw) + "}" + rest);
  }
  static std::string FirstStep(const CheckOutcome& r) { return r.record["steps"][0]; }
};

TEST_F(ConvRandom, RunsWhatTheStepSays) {
  const CheckOutcome r = Draw(5);
  ExpectPassed(r);
  EXPECT_EQ(r.record["id"], "conv.random[draw=5,seed=1,subject=system]");
  EXPECT_EQ(FirstStep(r),
            "forward float16 nchw, graph API, default math, x=4x2x10x5x13 w=2x1x3x3x3 pad=1x1x0 stride=1x2x2 "
            "dilation=1x1x2 groups=2");
  const json asked = Asked("cudnnBackendExecute");
  EXPECT_EQ(asked["x"], json({4, 2, 10, 5, 13}));
  EXPECT_EQ(asked["w"], json({2, 1, 3, 3, 3}));
  EXPECT_EQ(asked["pad"], json({1, 1, 0}));
  EXPECT_EQ(asked["pad_after"], json({1, 1, 0}));
  EXPECT_EQ(asked["stride"], json({1, 2, 2}));
  EXPECT_EQ(asked["dilation"], json({1, 1, 2}));
  EXPECT_EQ(asked["groups"], 2);
}

TEST_F(ConvRandom, RunsUnevenPadsAsDrawn) {
  const CheckOutcome r = Draw(48);
  ExpectPassed(r);
  EXPECT_THAT(FirstStep(r), HasSubstr("w=5x8x5x2 pad=1x1 pad_after=1x0"));
  const json asked = Asked("cudnnBackendExecute");
  EXPECT_EQ(asked["pad"], json({1, 1}));
  EXPECT_EQ(asked["pad_after"], json({1, 0}));
}

TEST_F(ConvRandom, RunsTheGradientThatWasDrawn) {
  const CheckOutcome r = Convolve("conv.random", R"("params": {"seed": 2, "draw": 5})");
  ExpectPassed(r);
  EXPECT_THAT(FirstStep(r), StartsWith("backward_data float64 nhwc, legacy API"));
  EXPECT_EQ(Asked("cudnnConvolutionBackwardData")["x"], json({2, 28, 12, 7}));
}

TEST_F(ConvRandom, WrongNumbersAreNamedWithTheCaseThatMakesThemAgain) {
  Set("FAKE_CUDNN_FAULT", "element:last");
  const CheckOutcome r = Draw(3);
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value"));
  EXPECT_THAT(r.record["reproduce"].get<std::string>(),
              HasSubstr("--case 'conv.random[draw=3,seed=1,subject=system]'"));
  EXPECT_THAT(FirstStep(r), HasSubstr("x=2x8x13x48 w=1x8x1x2"));
}

TEST_F(ConvRandom, IsSkippedWithoutItsApi) {
  Set("FAKE_CUDNN_REFUSES", "0,1");
  const CheckOutcome r = Draw(4);
  EXPECT_EQ(r.Skip("kind"), "unsupported") << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.exit_code, 4);
}

TEST_F(ConvRandom, DrawsShareAProcess) {
  const CheckOutcome r = Check("conv.random", R"("params": {"seed": 1}, "axes": {"draw": [2, 3]})");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  const std::vector<json> asked = AllAsked("cudnnBackendExecute");
  ASSERT_GE(asked.size(), 2u);
  EXPECT_EQ(asked.front()["pid"], asked.back()["pid"]);
}

}  // namespace
}  // namespace cudnn_ci
