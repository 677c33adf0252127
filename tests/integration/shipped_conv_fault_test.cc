// Whose fault a wrong convolution is: what repeating it shows, other algorithms, and another GPU, with a
// cuDNN that errs in one algorithm or in all, once or always, on one GPU or on both.
#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ConvBlame : public ConvTest {
 protected:
  ConvBlame() { Set("FAKE_CUDNN_FAULT", "element:middle"); }
  CheckOutcome Forward(const std::string& algo = "implicit_precomp_gemm") {
    return Convolve("conv.forward", Params(algo));
  }
  void UseGpus(int count) {
    Set("FAKE_DEVICE_COUNT", std::to_string(count));
    Set("FAKE_NAME", "NVIDIA Fake");  // of one model
    Set("FAKE_CUDNN_FAULT_EVERYWHERE", "1");
  }
};

TEST_F(ConvBlame, AnotherAlgorithmThatIsRightAccusesTheImage) {
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("(n=1,k=0,p=0,q=0)"), HasSubstr(", 0x"),
                                Mentions("2 of 2 repetitions", "implicit_gemm is right")));
}

TEST_F(ConvBlame, WithOneGpuAndNoOtherAlgorithmRightNobodyIsAccused) {
  Set("FAKE_CUDNN_FAULT_EVERYWHERE", "1");
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 6) << r.gate.out;
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value-unexplained"));
  EXPECT_THAT(r.Detail(), Mentions("wrong: implicit_gemm, gemm"));
}

TEST_F(ConvBlame, OtherBitsFromWhatPromisesTheSameAccuseTheGpu) {
  Set("FAKE_CUDNN_FAULT_RUNS", "1");
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 3) << r.gate.out;
  EXPECT_EQ(r.gate.report["root_cause"]["slug"], "gpu-computes-wrong");
  EXPECT_EQ(r.Outcome(), "failed") << "a right repetition makes no pass";
  EXPECT_THAT(r.Detail(), Mentions("0 of 2 repetitions"));
}

TEST_F(ConvBlame, OtherBitsFromWhatPromisesNoneAccuseTheLibrary) {
  Set("FAKE_CUDNN_FAULT_RUNS", "1");
  const CheckOutcome r = Convolve("conv.backward_data", Params("algo_0"));
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value"));
  EXPECT_THAT(r.Detail(), Mentions("0 of 2 repetitions", "not promise", "algo_0"));
}

TEST_F(ConvBlame, WrongOnOneGpuOnlyIsThatGpus) {
  UseGpus(2);
  Set("FAKE_CUDNN_FAULT_GPU", "0");
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 3) << r.gate.out;
  EXPECT_EQ(r.gate.report["root_cause"]["slug"], "gpu-computes-wrong");
  EXPECT_THAT(r.gate.report["root_cause"]["detail"].get<std::string>(),
              Mentions("gpu0 (GPU-", "gpu1 (GPU-", "passed", "1 of 880"));
}

TEST_F(ConvBlame, WrongOnBothGpusIsTheLibrarys) {
  UseGpus(2);
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 1) << r.gate.out;
  EXPECT_EQ(r.gate.report["root_cause"]["slug"], "fails-on-another-gpu");
  EXPECT_EQ(r.gate.report["root_cause"]["blame"], "image");
}

TEST_F(ConvBlame, WhatVariesOnOneGpuOnlyIsThatGpus) {
  Set("FAKE_CUDNN_FAULT", "varies:middle");
  UseGpus(2);
  Set("FAKE_CUDNN_FAULT_GPU", "0");
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 3) << r.gate.out;
  EXPECT_EQ(r.gate.report["root_cause"]["blame"], "runner");
  EXPECT_THAT(r.gate.report["root_cause"]["detail"].get<std::string>(), HasSubstr("880 elements differ"));
}

TEST_F(ConvBlame, WhatVariesOnBothGpusIsTheLibrarys) {
  Set("FAKE_CUDNN_FAULT", "varies:middle");
  UseGpus(2);
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 1) << r.gate.out;
  EXPECT_EQ(r.gate.report["root_cause"]["slug"], "fails-on-another-gpu");
  EXPECT_EQ(r.gate.report["root_cause"]["blame"], "image");
}

// Every check of this plugin that may find a wrong number asks.
TEST_F(ConvBlame, DrawsAndRefusalsAskAnotherGpuToo) {
  UseGpus(2);
  Set("FAKE_CUDNN_FAULT_GPU", "0");
  const CheckOutcome draw = Convolve("conv.random", R"("params": {"seed": 1, "draw": 3})");
  EXPECT_EQ(draw.gate.exit_code, 3) << draw.gate.out;
  EXPECT_EQ(draw.gate.report["root_cause"]["slug"], "gpu-computes-wrong");
  Set("FAKE_CUDNN_TAKES", "success");
  const CheckOutcome taken = Convolve("conv.refuses", R"("params": {"what": "zero_dimension"})");
  EXPECT_EQ(taken.gate.exit_code, 1) << taken.gate.out;
  EXPECT_THAT(taken.record["findings"].dump(), HasSubstr("fails-on-another-gpu"));
}

// Its table is of more use than its further choices, which would all fail.
TEST_F(ConvBlame, SweepThatLosesTheContextEndsWithItsTable) {
  // The first algorithm's run, its fill and its two repetitions; then another's.
  Set("FAKE_CUDA_FAULT", "call:cuCtxSynchronize:7+:700");
  const CheckOutcome r = Forward("every");
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value-unexplained", "context-broken"));
  EXPECT_THAT(r.Detail(), HasSubstr("; then implicit_precomp_gemm: cuCtxSynchronize: 700"));
  EXPECT_THAT(Choices(r), AllOf(HasSubstr("implicit_gemm: wrong"), ::testing::Not(HasSubstr("fft"))));
}

TEST_F(ConvBlame, AnEngineIsNotComparedWithItself) {
  Set("FAKE_CUDNN_FAULT_ENGINE", "1");
  const CheckOutcome r = Convolve("conv.forward", Params("auto", "float32", "made", R"("api": "graph")"));
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value"));
  EXPECT_THAT(r.Detail(), HasSubstr("engine 0 is right"));
}

TEST_F(ConvBlame, WithoutAnotherAlgorithmNobodyIsAccused) {
  Set("FAKE_CUDNN_FAULT_EVERYWHERE", "1");
  Set("FAKE_CUDNN_REFUSES", "0,2,4,5,7");
  const CheckOutcome r = Forward();
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value-unexplained"));
  EXPECT_THAT(r.Detail(), AllOf(Mentions("2 of 2 repetitions"), Not(HasSubstr("wrong: "))));
}

class ConvBroken : public ConvTest {};

// What a failed convolution has left in the context is not found by a later case: the process takes no more,
// though the next look at the context finds it well.
TEST_F(ConvBroken, ContextBehindAFailureEndsTheProcess) {
  Set("FAKE_CUDNN_LEAVES", "716");
  const GateResult r =
      Run(Entry("conv.forward", Params("gemm")) + ", " + Entry("conv.backward_data", Params("algo_1")),
          {"--jobs", "1"});
  EXPECT_EQ(r.exit_code, 1) << r.out;
  json forward, backward;
  for (const json& c : r.report["cases"]) {
    if (c["check"] == "conv.forward") forward = c;
    if (c["check"] == "conv.backward_data") backward = c;
  }
  ASSERT_FALSE(forward.is_null() || backward.is_null()) << r.out;
  EXPECT_EQ(forward["findings"][0]["slug"], "convolution-failed");
  EXPECT_THAT(forward["findings"][0]["detail"].get<std::string>(),
              AllOf(HasSubstr("answered cudnnConvolutionForward: 5000"),
                    HasSubstr("; then cuCtxSynchronize: CUresult 716")));
  EXPECT_EQ(backward["outcome"], "passed") << backward;
  const json first = forward["attempts"][0]["worker"];
  EXPECT_NE(backward["attempts"][0]["worker"], first);
  std::string why;
  for (const json& ended : r.Events("WorkerEnded"))
    if (ended["worker"] == first) why = ended["why"];
  EXPECT_THAT(why, HasSubstr("poisoned: cuCtxSynchronize: CUresult 716"));
}

}  // namespace
}  // namespace cudnn_ci
