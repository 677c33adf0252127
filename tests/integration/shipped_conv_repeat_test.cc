// Whether a convolution gives the same bits twice, and what is held to that: against a fake cuDNN whose
// results change when the same is asked again.
#include <cudnn.h>

#include <map>
#include <tuple>

#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kGraph[] = R"("api": "graph")";

class ConvRepeat : public ConvTest {
 protected:
  CheckOutcome Forward(const std::string& params) { return Convolve("conv.forward", params); }
};

TEST_F(ConvRepeat, ResultThatChangesIsTheRunnersWithItsBits) {
  Set("FAKE_CUDNN_FAULT", "varies:last");
  const CheckOutcome r = Forward(Params("implicit_precomp_gemm"));
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_EQ(r.Outcome(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre("not-repeatable")) << ::testing::PrintToString(r);
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), Mentions("1 of 880", "first (n=1,k=7,p=4,q=10): ", ", then ",
                                   "; implicit_precomp_gemm, cuDNN 9.19.0"));
}

TEST_F(ConvRepeat, IsSeenInEveryOperationTypeAndLayoutOfBothApis) {
  for (const auto& [check, algo] : {std::pair<const char*, const char*>{"conv.forward", "gemm"},
                                    {"conv.backward_data", "algo_1"},
                                    {"conv.backward_filter", "algo_1"}})
    for (const bool graph : {false, true}) {
      const std::string params = graph ? std::string(kGraph) : std::string(R"("algo": ")") + algo + "\"";
      const std::string axes = "\"params\": {" + params + R"(, "shape": "made"}, "axes": {
          "dtype": ["float32", "float16", "bfloat16", "float64"], "layout": ["nchw", "nhwc"]})";
      Set("FAKE_CUDNN_FAULT", "none");
      EXPECT_EQ(Check(check, axes).gate.exit_code, 0) << check << params;
      Set("FAKE_CUDNN_FAULT", "varies:middle");
      const CheckOutcome r = Check(check, axes);
      EXPECT_EQ(r.gate.exit_code, 3) << check << params;
      EXPECT_EQ(r.gate.report["totals"]["failed"], 8) << check << params;
    }
}

TEST_F(ConvRepeat, WhatRepeatsIsMeasured) {
  const CheckOutcome r = Forward(Params("implicit_precomp_gemm"));
  ExpectPassed(r);
  EXPECT_EQ(r.Measured("deterministic"), 1);
  EXPECT_EQ(r.Measured("differing_elements"), 0);
  EXPECT_EQ(r.Measured("algorithm"), 1);
  const CheckOutcome graph = Forward(Params("heuristics_b", "float32", "made", kGraph));
  ExpectPassed(graph);
  EXPECT_THAT(Choices(graph),
              AllOf(HasSubstr("heuristics B 0, engine 0: passed, error 0 of 0, workspace 0 B, 1 ms"),
                    ::testing::Not(HasSubstr("non-deterministic"))));
  const CheckOutcome one = Forward(Params("auto", "float32", "made", kGraph));
  ExpectPassed(one);
  EXPECT_EQ(one.Measured("engine"), 1);
}

// One that does nothing would have the time of a miracle, and the last one's bits.
TEST_F(ConvRepeat, RunThatLeavesWhatWasThereIsSeen) {
  for (const char* from : {"2", "3", "4"}) {  // the first of the repeated runs, the next, the last
    Set("FAKE_CUDNN_FAULT_FROM", from);
    for (const auto& [fault, count, first] : {std::tuple{"unwritten:all", "880 of 880", "(n=0,k=0,p=0,q=0)"},
                                              {"unwritten:middle", "1 of 880", "(n=1,k=0,p=0,q=0)"}})
      for (const std::string dtype : {"float32", "float16", "bfloat16", "float64"}) {
        Set("FAKE_CUDNN_FAULT", fault);
        const CheckOutcome r = Forward(Params("gemm", dtype));
        EXPECT_EQ(r.gate.exit_code, 1) << from << dtype;
        EXPECT_THAT(r.Slugs(), ElementsAre("output-not-written")) << from << dtype;
        EXPECT_THAT(r.Detail(), Mentions(count, first, "repeated", "; gemm")) << from << dtype;
      }
  }
  Set("FAKE_CUDNN_FAULT", "unwritten:all");
  Set("FAKE_CUDNN_FAULT_FROM", "3");
  const CheckOutcome sweep = Forward(Params("every"));
  EXPECT_THAT(sweep.Slugs(), ElementsAre("output-not-written"));
  EXPECT_THAT(Choices(sweep), HasSubstr("implicit_gemm: wrong, leaves elements unwritten"));
  const CheckOutcome varies = Convolve("conv.backward_filter", Params("algo_0"));
  EXPECT_THAT(varies.Slugs(), ElementsAre("output-not-written")) << "which may differ, and not be missing";
}

TEST_F(ConvRepeat, WhatIsLeftIsSeenBesideWhatDiffers) {
  Set("FAKE_CUDNN_FAULT", "unsteady");
  Set("FAKE_CUDNN_FAULT_FROM", "4");
  const CheckOutcome r = Forward(Params("gemm"));
  EXPECT_THAT(r.Slugs(), ElementsAre("output-not-written")) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Detail(), Mentions("1 of 880", "first (n=0,k=0,p=0,q=0)"));
}

TEST_F(ConvRepeat, ResultOfEightBitsThatIsLeftIsSeenToo) {
  const std::string params = Params("auto", "int8", "quads", std::string(kGraph) + R"(, "layout": "nhwc")");
  ExpectPassed(Forward(params));
  Set("FAKE_CUDNN_FAULT", "unwritten:all");
  Set("FAKE_CUDNN_FAULT_FROM", "4");
  EXPECT_THAT(Forward(params).Slugs(), ElementsAre("output-not-written"));
}

TEST_F(ConvRepeat, WorkspaceIsNoNumberEachTime) {
  Set("FAKE_CUDNN_FAULT", "read:workspace");
  Set("FAKE_CUDNN_FAULT_FROM", "4");  // whose workspace the run before it has set to 0
  EXPECT_THAT(Forward(Params("gemm")).Slugs(), ElementsAre("not-repeatable"));
}

TEST_F(ConvRepeat, WhatARepeatedRunWritesElsewhereIsSeen) {
  Set("FAKE_CUDNN_FAULT_FROM", "4");
  Set("FAKE_CUDNN_FAULT", "guard:behind-y");
  const CheckOutcome guard = Forward(Params("gemm"));
  EXPECT_THAT(guard.Slugs(), ElementsAre("out-of-bounds-write"));
  EXPECT_THAT(guard.Detail(), Mentions("1 bytes", "0 bytes after", "end of y", "repeated", "; gemm, cuDNN"));
  for (const char* place : {"first", "last"}) {
    Set("FAKE_CUDNN_FAULT", std::string("input:w:") + place);
    const CheckOutcome input = Forward(Params("gemm"));
    EXPECT_THAT(input.Slugs(), ElementsAre("input-modified")) << place;
    EXPECT_THAT(input.Detail(), Mentions("random w", "byte", "repeated")) << place;
  }
  Set("FAKE_CUDNN_FAULT", "guard:before-y");
  Set("FAKE_CUDNN_FAULT_FROM", "3");
  Set("FAKE_CUDNN_FAULT_RUNS", "3");
  const CheckOutcome sweep = Forward(Params("every", "float32", "made", kGraph));
  EXPECT_THAT(sweep.Slugs(), ElementsAre("out-of-bounds-write"));
  EXPECT_THAT(Choices(sweep), HasSubstr(": wrong, writes outside"));
}

// A row too many: it ends behind 4 KiB, in a workspace that is long enough to swallow it.
TEST_F(ConvRepeat, GuardsOfAResultHaveRoomForOneOfItsRows) {
  UseShapes(R"({"wide": {"x": [1, 4, 4, 400], "w": [4, 4, 1, 1]}})");
  Set("FAKE_CUDNN_WORKSPACE", "100000");
  Set("FAKE_CUDNN_FAULT", "guard:behind-y:6400");
  const CheckOutcome r = Forward(Params("gemm", "float32", "wide"));
  EXPECT_THAT(r.Slugs(), ElementsAre("out-of-bounds-write"));
  EXPECT_THAT(r.Detail(), Mentions("6399 bytes after", "end of y"));
}

TEST_F(ConvRepeat, TimeIsTheMedian) {
  Set("FAKE_CUDA_MILLISECONDS", "915");
  EXPECT_EQ(Forward(Params("gemm")).Measured("milliseconds"), 5);
  Set("FAKE_CUDA_MILLISECONDS", "93");
  EXPECT_THAT(Choices(Forward(Params("heuristics_b", "float32", "made", kGraph))), HasSubstr(", 6 ms"));
}

// Runs on random data: exact ones give one result in every order of summation.
TEST_F(ConvRepeat, IsLookedForOnOtherDataThanTheExactOnes) {
  ExpectPassed(Forward(Params("implicit_precomp_gemm")));
  EXPECT_EQ(FirstRuns("cudnnConvolutionForward").size(), 1u);
  EXPECT_EQ(AllAsked("cudnnConvolutionForward").size(), 4u);
}

// What only the repetition wants is no reason to skip.
TEST_F(ConvRepeat, WhereRandomDataHaveNoRoomTheExactOnesDo) {
  UseShapes(R"({"wide": {"x": [8, 16, 256, 256], "w": [1, 16, 1, 1], "stride": 256}})");
  const std::string wide = Params("implicit_precomp_gemm", "float32", "wide");
  Set("FAKE_FREE_MB", "300");  // 32 for the images, 256 for what cuDNN may want
  ExpectPassed(Forward(wide));
  EXPECT_GT(AllAsked("cudnnConvolutionForward").size(), 1u);
  EXPECT_EQ(FirstRuns("cudnnConvolutionForward").size(), AllAsked("cudnnConvolutionForward").size());
  Set("FAKE_FREE_MB", "340");
  ExpectPassed(Forward(wide));
  EXPECT_EQ(FirstRuns("cudnnConvolutionForward").size(), 1u);
  Set("FAKE_FREE_MB", "270");
  EXPECT_EQ(Forward(wide).Skip("kind"), "memory");
}

// Atomics, by the documentation: recorded, and not held to it.
TEST_F(ConvRepeat, AlgorithmsThatNeedNotRepeatAreRecordedAsSuch) {
  Set("FAKE_CUDNN_FAULT", "varies:first");
  for (const auto& [check, algo] : {std::pair<const char*, const char*>{"conv.backward_data", "algo_0"},
                                    {"conv.backward_filter", "algo_0"},
                                    {"conv.backward_filter", "algo_3"}}) {
    const CheckOutcome r = Convolve(check, Params(algo));
    ExpectPassed(r);
    EXPECT_EQ(r.Measured("deterministic"), 0) << algo;
    EXPECT_EQ(r.Measured("differing_elements"), 1) << algo;
  }
  for (const char* algo : {"implicit_gemm", "implicit_precomp_gemm", "gemm", "fft", "winograd_nonfused"})
    EXPECT_THAT(Forward(Params(algo)).Slugs(), ElementsAre("not-repeatable")) << algo;
}

TEST_F(ConvRepeat, EnginesThatAreNotedAsSuchAreRecordedToo) {
  Set("FAKE_CUDNN_FAULT", "varies:first");
  Set("FAKE_CUDNN_FAULT_ENGINE", "0");
  Set("FAKE_CUDNN_NOTES", "0/" + std::to_string(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
  const CheckOutcome r = Forward(Params("heuristics_b", "float32", "made", kGraph));
  ExpectPassed(r);
  EXPECT_THAT(Choices(r), AllOf(HasSubstr("engine 0: passed, error 0 of 0, workspace 0 B, 1 ms, "),
                                ContainsRegex(" TFLOP/s, non-deterministic[^:]*: 1 elements")));
}

TEST_F(ConvRepeat, OneEngineOfManyIsNamed) {
  Set("FAKE_CUDNN_FAULT", "varies:first");
  Set("FAKE_CUDNN_FAULT_ENGINE", "6");
  const CheckOutcome r = Forward(Params("every", "float32", "made", kGraph));
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("not-repeatable"));
  EXPECT_THAT(r.Detail(), HasSubstr("; engine 6, cuDNN 9.19.0"));
  EXPECT_EQ(r.Measured("choices_passed"), 7);
  EXPECT_THAT(Choices(r), HasSubstr("engine 6: wrong, gives different bits"));
}

// What is wrong is run again to be judged, twice, and then by another algorithm: not to see whether it varies
// on random data.
TEST_F(ConvRepeat, WhatIsWrongIsNotRunOnRandomData) {
  Set("FAKE_CUDNN_FAULT", "element:first");
  EXPECT_THAT(Forward(Params("gemm")).Slugs(), ElementsAre("wrong-value"));
  std::map<json, int> runs;
  for (const json& call : AllAsked("cudnnConvolutionForward")) ++runs[call["pid"]];
  for (const auto& [pid, count] : runs) EXPECT_EQ(count, 4) << pid;
  EXPECT_FALSE(runs.empty());
  EXPECT_EQ(FirstRuns("cudnnConvolutionForward").size(), 4 * runs.size());
}

TEST_F(ConvRepeat, CallThatFailsWhenItComesAgainIsAFailure) {
  for (const char* status : {"3000", "5000"}) {
    Set("FAKE_CUDNN_FAULT", std::string("call:cudnnConvolutionForward:3:") + status);
    const CheckOutcome r = Forward(Params("gemm"));
    EXPECT_EQ(r.gate.exit_code, 1) << status;
    EXPECT_THAT(r.Slugs(), ElementsAre("convolution-failed")) << status;
    EXPECT_THAT(r.Detail(), Mentions("repeated", "cudnnConvolutionForward: ", status));
  }
}

// The driver says so of the context, and of no kernel.
TEST_F(ConvRepeat, KernelThatFailsIsNamed) {
  Set("FAKE_CUDA_FAULT", "call:cuEventSynchronize:3:700");  // the first of the second algorithm's
  const CheckOutcome r = Forward(Params("every"));
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), Each("convolution-failed")) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("implicit_precomp_gemm, cuDNN 9.19.0"),
                                HasSubstr("cuEventSynchronize: 700 CUDA_ERROR_ILLEGAL_ADDRESS"),
                                HasSubstr("x=2x6x9x11")));
  Set("FAKE_CUDA_FAULT", "call:cuEventSynchronize:1:700");
  EXPECT_THAT(Forward(Params("gemm")).Detail(), HasSubstr("gemm, cuDNN 9.19.0"));
}

}  // namespace
}  // namespace cudnn_ci
