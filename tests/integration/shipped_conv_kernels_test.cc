// What kernels' names add to a case, and normal data beside the exact ones: against a fake cuDNN whose runs
// can be recorded.
#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kGraph[] = R"("api": "graph")";

class ConvKernels : public ConvTest {
 protected:
  CheckOutcome Forward(const std::string& params = Params("gemm")) {
    return Convolve("conv.forward", params);
  }
  // One list of the heuristics, in which engine 0 stands alone.
  CheckOutcome HeuristicsB() { return Forward(Params("heuristics_b", "float32", "made", kGraph)); }
};

TEST_F(ConvKernels, AreToldOfEveryRun) {
  for (const auto& [check, algo] :
       {std::pair<const char*, const char*>{"conv.forward", "implicit_precomp_gemm"},
        {"conv.backward_data", "algo_1"},
        {"conv.backward_filter", "algo_1"}}) {
    const CheckOutcome r = Convolve(check, Params(algo));
    ExpectPassed(r);
    EXPECT_EQ(Steps(r).back(), "kernel fake_kernel_1") << check;
  }
  Set("FAKE_CUDNN_KERNELS", "2/_ZN5cudnn10nchwToNhwcIfEEvPT_,_Z23implicit_convolve_sgemmIffEvPT_PT0_");
  const CheckOutcome r = Forward();
  ExpectPassed(r);
  EXPECT_EQ(Steps(r).back(), "kernels cudnn::nchwToNhwc<float>, implicit_convolve_sgemm<float, float>");
  const CheckOutcome sweep = Forward(Params("every", "float32", "made", kGraph));
  ExpectPassed(sweep);
  EXPECT_THAT(Choices(sweep),
              AllOf(HasSubstr(" TFLOP/s, kernel fake_kernel_0"), HasSubstr("kernel fake_kernel_6")));
}

TEST_F(ConvKernels, AreToldOfAWrongResult) {
  Set("FAKE_CUDNN_FAULT", "element:last");
  EXPECT_THAT(Forward().Detail(), HasSubstr("; kernel fake_kernel_2"));
  Set("FAKE_CUDNN_FAULT", "varies:last");
  EXPECT_THAT(Forward().Detail(), HasSubstr("; kernel fake_kernel_2"));
}

TEST_F(ConvKernels, RecordedRunsAreNoRuns) {
  ExpectPassed(Forward());
  EXPECT_EQ(AllAsked("cudnnConvolutionForward").size(), 4u) << "one that is judged and three that are timed";
}

// No note and no table says so of engine 0, whose exact result would be wrong.
TEST_F(ConvKernels, TransformsWithoutANoteAreKnownByThem) {
  Set("FAKE_CUDNN_FAULT", "element:middle:1e-4");
  EXPECT_THAT(HeuristicsB().Slugs(), Contains("wrong-value")) << "its name says nothing";
  for (const char* kernels :
       {"0/winogradForwardData4x4", "0/fft2d_r2c_32x32", "0/helper,winogradForwardData4x4"}) {
    Set("FAKE_CUDNN_KERNELS", kernels);
    Set("FAKE_CUDNN_FAULT", "element:middle:1e-4");
    const CheckOutcome r = HeuristicsB();
    ExpectPassed(r);
    EXPECT_THAT(Choices(r), HasSubstr("engine 0: passed, error 9.99e-05 of "));
    // Its bound is that of what it is, and no more.
    for (const char* fault : {"element:middle:0.45", "lost:middle", "unwritten:last", "guard:behind-y"}) {
      Set("FAKE_CUDNN_FAULT", fault);
      EXPECT_EQ(HeuristicsB().gate.exit_code, 1) << kernels << fault;
    }
  }
}

TEST_F(ConvKernels, AlgorithmsOfTheLegacyApiAreKnownByThemToo) {
  Set("FAKE_CUDNN_FAULT", "element:middle:1e-4");
  EXPECT_EQ(Forward().gate.exit_code, 1);
  Set("FAKE_CUDNN_KERNELS", "2/winogradForwardData4x4");
  const CheckOutcome r = Forward();
  ExpectPassed(r);
  EXPECT_NEAR(r.Measured("max_error"), 1e-4, 1e-6);
  EXPECT_GT(r.Measured("error_bound"), 1e-4);
}

// Errors of 5x5 filters over many channels hide a lost product.
TEST_F(ConvKernels, ATransformWithoutABoundThatDecidesIsNoPass) {
  Set("FAKE_CUDNN_FAULT", "element:middle:0.2");
  Set("FAKE_CUDNN_KERNELS", "2/winogradForwardData9x9");
  const CheckOutcome r = Forward(Params("gemm", "float32", "winograd"));
  EXPECT_EQ(r.Skip("kind"), "unsupported") << ::testing::PrintToString(r);
  EXPECT_THAT(r.Skip("seen"), HasSubstr("not verifiable"));
}

TEST_F(ConvKernels, NamesMakeNoTransformExact) {
  Set("FAKE_CUDNN_FAULT", "element:middle:1e-4");
  Set("FAKE_CUDNN_KERNELS", "4/implicit_convolve_sgemm");
  ExpectPassed(Forward(Params("fft")));
}

// An algorithm may do what is not allowed in a recording, and what that leaves must not be the next run's.
TEST_F(ConvKernels, WhatCannotBeRecordedHasNoNames) {
  for (const char* records : {"no", "leaves"}) {
    Set("FAKE_CUDNN_RECORDS", records);
    const CheckOutcome r = Check("conv.forward", R"("params": {"shape": "made", "dtype": "float32"},
      "axes": {"algo": ["gemm", "implicit_gemm", "implicit_precomp_gemm"]})");
    EXPECT_EQ(r.gate.exit_code, 0) << records << ::testing::PrintToString(r);
    EXPECT_EQ(Steps(r).back(), "time");
    const CheckOutcome sweep = Forward(Params("every", "float32", "made", kGraph));
    ExpectPassed(sweep);
    EXPECT_THAT(Choices(sweep), Not(HasSubstr("kernel")));
  }
}

TEST_F(ConvKernels, AnOlderDriverHasNoNames) {
  UseFakes({"libcuda_old", "cudart13", "nvrtc", "cudnn"});  // the fake NVML is of another driver
  const CheckOutcome r = Forward();
  ExpectPassed(r);
  EXPECT_EQ(Steps(r).back(), "time");
  Set("FAKE_CUDNN_KERNELS", "0/winogradForwardData4x4");
  Set("FAKE_CUDNN_FAULT", "element:middle:1e-4");
  EXPECT_THAT(HeuristicsB().Slugs(), Contains("wrong-value")) << "as if there were no names";
}

TEST_F(ConvKernels, CallsThatFailLeaveNamesOutAndNothingElse) {
  for (const char* call :
       {"cuStreamCreate", "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphGetNodes",
        "cuGraphNodeGetType", "cuGraphKernelNodeGetParams_v2", "cuFuncGetName"}) {
    Set("FAKE_CUDA_FAULT", "call:" + std::string(call) + ":0:999");
    const CheckOutcome r = Forward();
    ExpectPassed(r);
    EXPECT_EQ(Steps(r).back(), "time") << call;
  }
  Set("FAKE_CUDA_FAULT", "none");
  for (const char* which : {"0", "1"}) {  // to the stream that is recorded
    Set("FAKE_CUDNN_FAULT", "call:cudnnSetStream:" + std::string(which) + ":5000");
    ExpectPassed(Check("conv.forward", R"("params": {"shape": "made", "dtype": "float32", "algo": "gemm"},
      "axes": {"layout": ["nchw", "nhwc"]})"));
  }
}

// Later cases would run beside what they wait for. No status makes a skip of it.
TEST_F(ConvKernels, AHandleThatDoesNotComeBackFromItsStreamIsAFailure) {
  for (const char* status : {"5000", "3000"}) {
    Set("FAKE_CUDNN_FAULT", "call:cudnnSetStream:2:" + std::string(status));
    for (const std::string& params : {Params("gemm"), Params("every", "float32", "made", kGraph)}) {
      const CheckOutcome r = Forward(params);
      EXPECT_EQ(r.gate.exit_code, 1) << params << ::testing::PrintToString(r);
      EXPECT_THAT(r.Slugs(), Contains("convolution-failed")) << params;
      EXPECT_THAT(r.Detail(), HasSubstr("cudnnSetStream: " + std::string(status))) << params;
    }
  }
}

// The seventh time that the driver is waited for, the first being the fills' of either kind of run and the
// last ones those of three runs, is behind the run that clears what the recording left.
TEST_F(ConvKernels, WhatABrokenRecordingLeavesInTheContextIsItsEngines) {
  Set("FAKE_CUDNN_RECORDS", "no");
  Set("FAKE_CUDA_FAULT", "call:cuCtxSynchronize:7:700");
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 1) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Slugs(), Contains("convolution-failed"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("gemm, cuDNN 9.19.0"), HasSubstr("cuCtxSynchronize: 700")));
}

// A second one may need more than the first, whose look at the device's memory is the first two of these
// calls; the third is of an allocation.
TEST_F(ConvKernels, TheTrialOfATransformThatWasLearnedIsHeldToMemory) {
  Set("FAKE_CUDNN_FAULT", "element:middle:1e-4");
  Set("FAKE_CUDNN_KERNELS", "2/winogradForwardData4x4");
  ExpectPassed(Forward());
  Set("FAKE_CUDA_FAULT", "call:cuMemGetInfo_v2:4:999");
  EXPECT_THAT(Forward().Detail(), HasSubstr("cuMemGetInfo: 999"));
}

class ConvNormal : public ConvKernels {};

// Where the data are no integers alone: exact ones do not see it.
TEST_F(ConvNormal, WhatIsOffOnRandomDataAloneIsRedInSweepsAndDraws) {
  Set("FAKE_CUDNN_FAULT", "fractions:middle:1");
  for (const char* api : {"legacy", "graph"}) {
    const CheckOutcome r =
        Forward(Params("every", "float32", "made", R"("api": ")" + std::string(api) + "\""));
    EXPECT_EQ(r.gate.exit_code, 1) << api;
    EXPECT_THAT(r.Slugs(), AllOf(Not(IsEmpty()), Each("imprecise-value"))) << ::testing::PrintToString(r);
    EXPECT_EQ(r.Blame(), "image");
    EXPECT_THAT(r.Detail(), Mentions("random", "1 of 880", "first (n=1,k=0,p=0,q=0): expected ", ", allowed ",
                                     ", cuDNN 9.19.0"));
    EXPECT_THAT(Choices(r), Mentions(": wrong, imprecise"));
  }
  Set("FAKE_CUDNN_FAULT", "fractions:last:1");
  const CheckOutcome draw = Convolve("conv.random", R"("params": {"seed": 2, "draw": 5})");  // float64
  EXPECT_THAT(draw.Slugs(), ElementsAre("imprecise-value")) << ::testing::PrintToString(draw);
  ExpectPassed(Forward(Params("gemm")));  // one algorithm by name is not asked
}

TEST_F(ConvNormal, HealthyLibraryPassesInEveryTypeLayoutAndOperation) {
  for (const auto& [check, math] : {std::pair<const char*, const char*>{"conv.forward", "default"},
                                    {"conv.forward", "fma"},
                                    {"conv.backward_data", "fma"},
                                    {"conv.backward_filter", "default"}}) {
    const CheckOutcome r = Check(check, R"("params": {"algo": "every", "shape": "made", "math": ")" +
                                            std::string(math) + R"("}, "axes": {"api": ["legacy", "graph"],
          "dtype": ["float32", "float16", "bfloat16", "float64"], "layout": ["nchw", "nhwc"]},
          "allow_skip": ["unsupported"])");
    EXPECT_EQ(r.gate.report["totals"]["failed"], 0) << check << math << ::testing::PrintToString(r);
    EXPECT_GE(r.gate.report["totals"]["passed"].get<int>(), 12) << check << math;
  }
}

TEST_F(ConvNormal, TypesWithoutAPromiseAreNotJudged) {
  Set("FAKE_CUDNN_FAULT", "fractions:middle:1");
  ExpectPassed(Forward(Params("every", "float16", "made", kGraph)));
  EXPECT_THAT(Forward(Params("every", "float16", "made", R"("math": "fma")")).Slugs(),
              AllOf(Not(IsEmpty()), Each("imprecise-value")));
}

// By its name it is no tensor core's, and TF32's allowance is none of its.
TEST_F(ConvNormal, ANameTakesTheAllowanceOfTf32Away) {
  Set("FAKE_CUDNN_GRAPH_B", "1");
  Set("FAKE_CUDNN_FAULT", "none");
  Set("FAKE_CUDNN_KERNELS", "1/cutlass_tensorop_s1688fprop_optimized_tf32_128x128");
  ExpectPassed(HeuristicsB());
  Set("FAKE_CUDNN_KERNELS", "1/implicit_convolve_sgemm");
  EXPECT_THAT(HeuristicsB().Slugs(), ElementsAre("imprecise-value"));
}

}  // namespace
}  // namespace cudnn_ci
