// Convolutions through the graph API, from the matrix to the verdict, against a fake cuDNN with a few
// engines.
#include <cudnn.h>

#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kExecute[] = "cudnnBackendExecute";
constexpr const char* kChecks[] = {"conv.forward", "conv.backward_data", "conv.backward_filter"};

class ConvGraph : public ConvTest {
 protected:
  static std::string Graph(const std::string& algo = "auto", const std::string& dtype = "float32",
                           const std::string& shape = "made", const std::string& rest = "") {
    return Params(algo, dtype, shape, R"("api": "graph")" + (rest.empty() ? "" : ", " + rest));
  }
  CheckOutcome Forward(const std::string& params = Graph()) { return Convolve("conv.forward", params); }
  std::vector<int> Engines() const {
    std::vector<int> engines;
    for (const json& call : FirstRuns(kExecute)) engines.push_back(call["engine"]);
    return engines;
  }
};

TEST_F(ConvGraph, HealthyLibraryPassesInEveryTypeLayoutAndOperation) {
  for (const char* check : kChecks) {
    const CheckOutcome r = Check(check,
                                 R"("params": {"api": "graph"}, "axes": {
      "dtype": ["float32", "float16", "bfloat16", "float64"], "layout": ["nchw", "nhwc"],
      "shape": ["made", "line", "volume", "uneven"]})");
    EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
    EXPECT_EQ(r.gate.report["totals"]["passed"], r.gate.report["totals"]["planned"]);
    EXPECT_EQ(r.Measured("max_error"), 0);
  }
}

TEST_F(ConvGraph, DescribesWhatTheParametersSay) {
  for (const char* check : kChecks) {
    ExpectPassed(Convolve(check, Graph("auto", "float16", "made", R"("layout": "nhwc")")));
    const json asked = Asked(kExecute);
    EXPECT_EQ(asked["types"], json({CUDNN_DATA_HALF, CUDNN_DATA_HALF, CUDNN_DATA_HALF}));
    EXPECT_EQ(asked["compute"], CUDNN_DATA_FLOAT);
    EXPECT_EQ(asked["x"], json({2, 6, 9, 11}));
    EXPECT_EQ(asked["x_strides"], json({594, 1, 66, 6}));
    EXPECT_EQ(asked["w"], json({8, 3, 3, 5}));
    EXPECT_EQ(asked["w_strides"], json({45, 1, 15, 3}));
    EXPECT_EQ(asked["y"], json({2, 8, 5, 11}));
    EXPECT_EQ(asked["y_strides"], json({440, 1, 88, 8}));
    EXPECT_EQ(asked["x_alignment"], 16);
    EXPECT_EQ(asked["pad"], json({1, 2}));
    EXPECT_EQ(asked["pad_after"], json({1, 2}));
    EXPECT_EQ(asked["stride"], json({2, 1}));
    EXPECT_EQ(asked["dilation"], json({1, 1}));
    EXPECT_EQ(asked["groups"], 2);
    EXPECT_EQ(asked["alpha"], 1);
    EXPECT_EQ(asked["beta"], 0);
    EXPECT_EQ(asked["workspace_bytes"], 100);
  }
  ExpectPassed(Forward(Graph("auto", "float32", "uneven")));
  EXPECT_EQ(Asked(kExecute)["pad"], json({1, 1}));
  EXPECT_EQ(Asked(kExecute)["pad_after"], json({0, 0}));
  ExpectPassed(Forward(Graph("auto", "float64")));
  EXPECT_EQ(Asked(kExecute)["compute"], CUDNN_DATA_DOUBLE);
  EXPECT_EQ(Asked(kExecute)["alpha"], 1);
}

TEST_F(ConvGraph, AutoTakesTheHeuristicsFirstThenTheFallback) {
  ExpectPassed(Forward());
  EXPECT_EQ(Engines().front(), 1);
  Set("FAKE_CUDNN_REFUSES", "1,0");
  ExpectPassed(Forward());
  EXPECT_EQ(Engines().front(), 2) << "with the fallback's knobs, without which it is not offered";
  Set("FAKE_CUDNN_REFUSES", "0,1,2");
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_THAT(r.Skip("need"), Mentions("graph API, engine auto", "float32 nchw"));
  EXPECT_EQ(r.gate.exit_code, 4);
}

// What a program gets that takes the first proposal, or the first list of them, is told.
TEST_F(ConvGraph, ProposalsThatArePassedOverLeaveATrace) {
  const CheckOutcome first = Forward();
  ExpectPassed(first);
  EXPECT_THAT(first.record.dump(), ::testing::Not(HasSubstr("proposals_refused")));
  EXPECT_THAT(first.record.dump(), ::testing::Not(HasSubstr("proposal-refused")));
  Set("FAKE_CUDNN_PLANS_REFUSED", "1");
  const CheckOutcome second = Forward();
  ExpectPassed(second);
  EXPECT_EQ(Engines().front(), 0);
  EXPECT_EQ(second.Measured("proposals_refused"), 1);
  EXPECT_THAT(second.record["findings"].dump(),
              Mentions("proposal-refused", "1 refused", "heuristics A 0, engine 1: ", "3000"));
  // All that heuristics A names; the third that the fallback does is taken.
  Set("FAKE_CUDNN_PLANS_REFUSED", "2");
  Set("FAKE_CUDNN_GRAPH_FALLBACK", "0,1,2");
  const CheckOutcome fallback = Forward();
  ExpectPassed(fallback);
  EXPECT_EQ(Engines().front(), 2);
  EXPECT_EQ(fallback.Measured("proposals_refused"), 4);
}

TEST_F(ConvGraph, EveryListIsTheOneNamed) {
  for (const auto& [list, name, engine] :
       {std::tuple<const char*, const char*, int>{"heuristics_a", "heuristics A 0, engine 0", 0},
        {"heuristics_b", "heuristics B 0, engine 2", 2},
        {"fallback", "fallback 0, engine 1", 1}}) {
    Set("FAKE_CUDNN_GRAPH_A", "0");
    Set("FAKE_CUDNN_GRAPH_B", "2");
    Set("FAKE_CUDNN_GRAPH_FALLBACK", "1");
    const CheckOutcome r = Forward(Graph(list));
    ExpectPassed(r);
    EXPECT_THAT(Steps(r), ElementsAre("workspace query", name));
    EXPECT_THAT(Engines(), ElementsAre(engine));
  }
}

TEST_F(ConvGraph, EveryEngineIsAStep) {
  const CheckOutcome r = Forward(Graph("every"));
  ExpectPassed(r);
  EXPECT_EQ(Steps(r).size(), 1u + 20 + 2 + 1 + 1);
  // By index 0, 1, 3 and 6; then what heuristics A, B and the fallback name.
  EXPECT_THAT(Engines(), ElementsAre(0, 1, 3, 6, 1, 0, 0, 2));
  EXPECT_EQ(r.Measured("choices_passed"), 8);
  EXPECT_EQ(r.Measured("choices_unsupported"), 16);
}

TEST_F(ConvGraph, OneWrongEngineIsNamed) {
  Set("FAKE_CUDNN_FAULT", "element:middle");
  Set("FAKE_CUDNN_FAULT_ENGINE", "2");
  const CheckOutcome r = Forward(Graph("every"));
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value"));
  EXPECT_THAT(r.Detail(), HasSubstr("; fallback 0, engine 2, cuDNN 9.19.0"));
  EXPECT_EQ(r.Measured("choices_passed"), 7);
}

TEST_F(ConvGraph, TransformsAreKnownByTheirNotesAndByTheTable) {
  Set("FAKE_CUDNN_FAULT", "element:middle:1e-4");
  Set("FAKE_CUDNN_FAULT_ENGINE", "3");
  ExpectPassed(Forward(Graph("every")));
  Set("FAKE_CUDNN_FAULT_ENGINE", "6");
  ExpectPassed(Forward(Graph("every")));
  Set("FAKE_CUDNN_FAULT_ENGINE", "17");
  ExpectPassed(Convolve("conv.backward_filter", Graph("every")));
  Set("FAKE_CUDNN_FAULT_ENGINE", "0");
  EXPECT_THAT(Forward(Graph("every")).Slugs(), ::testing::Contains("wrong-value"));
}

TEST_F(ConvGraph, FmaMathLeavesOutWhatIsNotedAsShorterAndFindsWhatIsNot) {
  const std::string fma = R"("math": "fma")";
  ExpectPassed(Forward(Graph("auto", "float32", "made", fma)));
  EXPECT_EQ(Engines().front(), 0) << "not engine 1, which is heuristics A's first choice";
  Set("FAKE_CUDNN_FAULT", "inputs:tf32");
  EXPECT_THAT(Forward(Graph("auto", "float32", "made", fma)).Slugs(), ElementsAre("wrong-value"));
  ExpectPassed(Forward());
  // Tensor cores take these as they are.
  Set("FAKE_CUDNN_FAULT", "none");
  for (const char* dtype : {"float16", "bfloat16"}) {
    ExpectPassed(Forward(Graph("auto", dtype, "made", fma)));
    EXPECT_EQ(Engines().front(), 1) << dtype;
  }
}

TEST_F(ConvGraph, EightBitTypesAreComparedChannelsLast) {
  const std::string nhwc = R"("layout": "nhwc")";
  for (const char* dtype : {"int8", "float8_e4m3", "float8_e5m2"}) {
    Set("FAKE_CUDNN_FAULT", "none");
    ExpectPassed(Forward(Graph("auto", dtype, "quads", nhwc)));
    // No other engine has the type, so that none can be a witness.
    for (const auto& [fault, slug] :
         {std::pair<const char*, const char*>{"flip:last:3", "wrong-value-unexplained"},
          {"lost:middle", "wrong-value-unexplained"},
          {"unwritten:last", "output-not-written"},
          {"unwritten:all", "output-not-written"}}) {
      Set("FAKE_CUDNN_FAULT", fault);
      EXPECT_THAT(Forward(Graph("auto", dtype, "quads", nhwc)).Slugs(), ElementsAre(slug)) << dtype << fault;
    }
  }
  Set("FAKE_CUDNN_FAULT", "none");
  for (const char* check : {"conv.backward_data", "conv.backward_filter"})
    ExpectPassed(Convolve(check, Graph("auto", "float8_e4m3", "quads", nhwc)));
}

TEST_F(ConvGraph, EveryFaultHasItsFinding) {
  for (const auto& [fault, slug] : {std::pair<const char*, const char*>{"element:last", "wrong-value"},
                                    {"swap:channels", "wrong-value"},
                                    {"swap:images", "wrong-value"},
                                    {"lost:middle", "wrong-value"},
                                    {"unwritten:first", "output-not-written"},
                                    {"guard:before-y", "out-of-bounds-write"},
                                    {"guard:behind-workspace", "out-of-bounds-write"},
                                    {"input:x:last", "input-modified"},
                                    {"input:w:last", "input-modified"},
                                    {"read:behind-w", "wrong-value"},
                                    {"read:workspace", "wrong-value"}}) {
    Set("FAKE_CUDNN_FAULT", fault);
    const CheckOutcome r = Forward();
    EXPECT_EQ(r.gate.exit_code, 1) << fault;
    EXPECT_THAT(r.Slugs(), ElementsAre(slug)) << fault << ::testing::PrintToString(r);
  }
}

TEST_F(ConvGraph, EveryCallThatFailsIsAFailure) {
  for (const std::string call : {"cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
                                 "cudnnBackendFinalize", "cudnnBackendGetAttribute", "cudnnBackendExecute"}) {
    Set("FAKE_CUDNN_FAULT", "call:" + call + ":0:5000");
    const CheckOutcome r = Forward();
    EXPECT_EQ(r.gate.exit_code, 1) << call;
    EXPECT_THAT(r.Slugs(), ElementsAre("convolution-failed")) << call;
    EXPECT_THAT(r.Detail(), AllOf(HasSubstr(call), HasSubstr("5000 CUDNN_STATUS_OTHER"))) << call;
  }
  for (const int type : {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
                         CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR}) {
    Set("FAKE_CUDNN_FAULT", "none");
    Set("FAKE_CUDNN_FINALIZE", std::to_string(type) + ":3008");
    EXPECT_THAT(Forward().Slugs(), ElementsAre("convolution-failed")) << type;
  }
}

TEST_F(ConvGraph, ProposalThatIsThenNotOfferedIsAFailure) {
  Set("FAKE_CUDNN_FAULT", "call:cudnnBackendExecute:1:3000");
  const CheckOutcome r = Forward();
  EXPECT_THAT(r.Slugs(), ElementsAre("convolution-failed"));
  EXPECT_THAT(r.Detail(), Mentions("cudnnBackendExecute(heuristics A 0, engine 1)", "3000"));
}

TEST_F(ConvGraph, PlanThatWasBuiltAndIsThenNotOfferedIsAFailure) {
  Set("FAKE_CUDNN_FAULT", "call:cudnnBackendExecute:1:3000");
  const CheckOutcome r = Forward(Graph("every"));
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("convolution-failed"));
  EXPECT_THAT(r.Detail(), Mentions("cudnnBackendExecute(engine 0)", "built", "3000"));
}

TEST_F(ConvGraph, EngineThatFailsLeavesNoInputsToTheNext) {
  Set("FAKE_CUDNN_FAULT", "input:x:last");
  Set("FAKE_CUDNN_FAULT_ENGINE", "1");
  Set("FAKE_CUDNN_AFTERWARDS", "5000");
  const CheckOutcome r = Forward(Graph("every"));
  EXPECT_THAT(r.Slugs(), ::testing::Each("convolution-failed")) << "and not the next ones' input-modified";
  EXPECT_EQ(r.Measured("choices_passed"), 6);
}

TEST_F(ConvGraph, EngineThatWantsANewerDriverIsUnsupportedWhereOthersRun) {
  Set("FAKE_CUDNN_FINALIZE", std::to_string(CUDNN_BACKEND_ENGINE_DESCRIPTOR) + ":3005");
  const CheckOutcome some = Forward(Graph("every"));  // the heuristics' engines come finalized
  ExpectPassed(some);
  EXPECT_EQ(some.Measured("choices_passed"), 4);
  EXPECT_EQ(some.Measured("choices_unsupported"), 20);
  EXPECT_THAT(Choices(some), HasSubstr("engine 0, engine 1, engine 2"));
  Set("FAKE_CUDNN_FINALIZE", std::to_string(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) + ":3005");
  const CheckOutcome none = Forward(Graph("every"));
  EXPECT_EQ(none.gate.exit_code, 1);
  EXPECT_THAT(none.Slugs(), ElementsAre("convolution-failed"));
  EXPECT_THAT(none.Detail(), HasSubstr("3005"));
}

TEST_F(ConvGraph, MemoryThatRunsOutIsOneEnginesAlone) {
  Set("FAKE_CUDNN_WORKSPACE", "8388608");
  Set("FAKE_CUDA_REFUSE_ABOVE_KB", "4096");
  ExpectPassed(Forward(Graph("every")));
  EXPECT_THAT(Engines(), ElementsAre(0, 0, 0)) << "the one without a workspace";
  const CheckOutcome one = Forward(Graph("fallback"));
  EXPECT_EQ(one.Skip("kind"), "memory") << ::testing::PrintToString(one);
  EXPECT_EQ(one.Skip("resource"), "device-memory");
  EXPECT_THAT(one.Skip("seen"), HasSubstr("2 CUDA_ERROR_OUT_OF_MEMORY"));
  const CheckOutcome automatic = Forward();
  EXPECT_EQ(automatic.Skip("kind"), "memory") << ::testing::PrintToString(automatic);
  EXPECT_EQ(automatic.Skip("resource"), "device-memory");
}

TEST_F(ConvGraph, IsThereInCudnn8) {
  UseFakes({"libcuda", "nvml", "cudart12", "nvrtc12"});
  UseSubjects("{\"mine\": \"path:" + FakeFolder("cudnn8") + "\"}");
  ExpectPassed(Forward());
  ExpectPassed(Convolve("conv.backward_filter", Graph("every")));
  // ARCH_MISMATCH of cuDNN 8, which is 3007 of cuDNN 9.
  Set("FAKE_CUDNN_FAULT", "call:cudnnBackendFinalize:0:6");
  EXPECT_EQ(Forward().Skip("kind"), "unsupported");
}

TEST_F(ConvGraph, WhatAnApiDoesNotHaveStopsThePlan) {
  const auto refused = [&](const std::string& params, const char* key, const char* api) {
    const CheckOutcome r = Forward(params);
    EXPECT_EQ(r.gate.exit_code, 2) << params;
    EXPECT_THAT(r.gate.err, Mentions(key, api));
  };
  refused(Graph("gemm"), "\"algo\"", "legacy API");
  refused(Graph("auto", "float32", "made", R"("math": "tensor")"), "\"math\"", "legacy API");
  refused(Params("heuristics_a"), "\"algo\"", "graph API");
  refused(Params("auto", "float8_e5m2"), "\"dtype\"", "graph API");
}

}  // namespace
}  // namespace cudnn_ci
