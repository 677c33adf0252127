// conv.fused, from the matrix to the verdict, against a fake cuDNN that adds a bias and rectifies, or errs in
// it.
#include <cudnn.h>

#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kExecute[] = "cudnnBackendExecute";

class ConvFused : public ConvTest {
 protected:
  static std::string Fused(const std::string& dtype = "float32", const std::string& rest = "",
                           const std::string& shape = "made", const std::string& algo = "auto") {
    return Params(algo, dtype, shape, rest);
  }
  static std::string Epilogue(const std::string& name) { return "\"epilogue\": \"" + name + "\""; }
  CheckOutcome RunFused(const std::string& params = Fused()) { return Convolve("conv.fused", params); }
};

TEST_F(ConvFused, HealthyLibraryPassesInEveryTypeLayoutAndEpilogue) {
  const CheckOutcome r = Check("conv.fused", R"("axes": {
      "dtype": ["float32", "float16", "bfloat16", "float64"], "layout": ["nchw", "nhwc"],
      "epilogue": ["bias", "relu", "bias_relu"], "shape": ["made", "line", "volume", "uneven"]})");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.report["totals"]["passed"], r.gate.report["totals"]["planned"]);
  EXPECT_EQ(r.Measured("max_error"), 0);
}

TEST_F(ConvFused, EightBitTypesAndWiderResultsPass) {
  const CheckOutcome r = Check("conv.fused", R"("params": {"shape": "quads"}, "axes": {
      "dtype": ["int8", "float8_e4m3", "float8_e5m2"], "epilogue": ["bias", "relu", "bias_relu"],
      "output_dtype": ["same", "float32"]})");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  const CheckOutcome wide = Check("conv.fused", R"("params": {"shape": "quads", "dtype": "int8"}, "axes": {
      "epilogue": ["none", "bias", "relu", "bias_relu"], "output_dtype": ["int32", "float32"]})");
  EXPECT_EQ(wide.gate.exit_code, 0) << ::testing::PrintToString(wide);
  const CheckOutcome half =
      Check("conv.fused", R"("params": {"shape": "made", "output_dtype": "float32"}, "axes": {
      "dtype": ["float16", "bfloat16"], "epilogue": ["none", "bias_relu"]})");
  EXPECT_EQ(half.gate.exit_code, 0) << ::testing::PrintToString(half);
}

TEST_F(ConvFused, DescribesWhatTheParametersSay) {
  ExpectPassed(RunFused(Fused("float16")));
  json asked = Asked(kExecute);
  EXPECT_EQ(asked["types"], json({CUDNN_DATA_HALF, CUDNN_DATA_HALF, CUDNN_DATA_HALF}));
  EXPECT_EQ(asked["compute"], CUDNN_DATA_FLOAT);
  EXPECT_EQ(asked["x_strides"], json({594, 1, 66, 6})) << "channels last, if nothing is said";
  EXPECT_EQ(asked["sums"], CUDNN_DATA_FLOAT) << "what lies between the operations is not rounded";
  EXPECT_EQ(asked["biased"], CUDNN_DATA_FLOAT);
  EXPECT_EQ(asked["bias"], json({1, 8, 1, 1}));
  EXPECT_EQ(asked["bias_strides"], json({8, 1, 8, 8}));
  EXPECT_EQ(asked["bias_type"], CUDNN_DATA_HALF);
  EXPECT_EQ(asked["relu"], true);
  EXPECT_EQ(asked["alpha"], 1);
  EXPECT_EQ(asked["beta"], 0);

  ExpectPassed(RunFused(Fused("int8", Epilogue("bias") + R"(, "output_dtype": "int32")", "quads")));
  asked = Asked(kExecute);
  EXPECT_EQ(asked["types"], json({CUDNN_DATA_INT8, CUDNN_DATA_INT8, CUDNN_DATA_INT32}));
  EXPECT_EQ(asked["compute"], CUDNN_DATA_INT32);
  EXPECT_EQ(asked["sums"], CUDNN_DATA_INT32);
  EXPECT_EQ(asked["bias_type"], CUDNN_DATA_FLOAT);
  EXPECT_EQ(asked["relu"], false);

  ExpectPassed(RunFused(Fused("float64", Epilogue("relu") + R"(, "layout": "nchw")", "volume")));
  asked = Asked(kExecute);
  EXPECT_EQ(asked["sums"], CUDNN_DATA_DOUBLE);
  EXPECT_FALSE(asked.contains("bias"));
  EXPECT_EQ(asked["relu"], true);
}

TEST_F(ConvFused, EveryFaultOfAnEpilogueHasItsFinding) {
  for (const auto& [fault, epilogue] : {std::pair<const char*, const char*>{"bias:lost", "bias"},
                                        {"bias:next", "bias"},
                                        {"bias:twice", "bias"},
                                        {"bias:lost", "bias_relu"},
                                        {"bias:next", "bias_relu"},
                                        {"relu:lost", "relu"},
                                        {"relu:lost", "bias_relu"},
                                        {"relu:first", "bias_relu"},
                                        {"lost:middle", "bias"}}) {
    Set("FAKE_CUDNN_FAULT", fault);
    for (const char* dtype : {"float32", "float16", "bfloat16", "float64"}) {
      const CheckOutcome r = RunFused(Fused(dtype, Epilogue(epilogue)));
      EXPECT_EQ(r.gate.exit_code, 1) << fault << dtype;
      EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value")) << fault << dtype << ::testing::PrintToString(r);
    }
  }
  EXPECT_THAT(RunFused(Fused("float32", Epilogue("bias"))).Detail(),
              ContainsRegex("^[1-9][0-9]* of [0-9]+ "));
}

TEST_F(ConvFused, EightBitFaultsAreSeenToo) {
  // No other engine has these types, so that none can be a witness.
  for (const char* dtype : {"int8", "float8_e4m3", "float8_e5m2"})
    for (const char* fault : {"bias:lost", "bias:next", "relu:lost"}) {
      Set("FAKE_CUDNN_FAULT", fault);
      EXPECT_THAT(RunFused(Fused(dtype, "", "quads")).Slugs(), ElementsAre("wrong-value-unexplained"))
          << dtype << fault;
    }
}

TEST_F(ConvFused, WiderResultThatIsHeldTo8BitsIsWrong) {
  Set("FAKE_CUDNN_FAULT", "saturated");
  for (const char* output : {"int32", "float32"})
    for (const char* epilogue : {"none", "bias", "bias_relu"}) {
      const std::string rest = Epilogue(epilogue) + ", \"output_dtype\": \"" + output + "\"";
      const CheckOutcome r = RunFused(Fused("int8", rest, "quads"));
      EXPECT_EQ(r.gate.exit_code, 6) << rest << ": no other engine has the type";
      EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value-unexplained")) << rest;
    }
  ExpectPassed(RunFused(Fused("int8", "", "quads")));
}

TEST_F(ConvFused, MemoryAroundAndInTheBiasIsGuarded) {
  for (const auto& [fault, slug] :
       {std::pair<const char*, const char*>{"guard:before-bias", "out-of-bounds-write"},
        {"guard:behind-bias", "out-of-bounds-write"},
        {"guard:behind-y", "out-of-bounds-write"},
        {"input:bias:last", "input-modified"},
        {"input:x:last", "input-modified"},
        {"read:behind-bias", "wrong-value"},
        {"unwritten:last", "output-not-written"}}) {
    Set("FAKE_CUDNN_FAULT", fault);
    const CheckOutcome r = RunFused(Fused("float32", Epilogue("bias")));
    EXPECT_EQ(r.gate.exit_code, 1) << fault;
    EXPECT_THAT(r.Slugs(), ElementsAre(slug)) << fault << ::testing::PrintToString(r);
  }
  Set("FAKE_CUDNN_FAULT", "input:bias:last");
  EXPECT_THAT(RunFused().Detail(), Mentions("bias", "byte 31"));
}

TEST_F(ConvFused, EveryEngineIsJudgedAndOneThatErrsIsNamed) {
  const CheckOutcome all = RunFused(Fused("float32", "", "made", "every"));
  ExpectPassed(all);
  // Of 11 by index 0, 1 and 4; then what heuristics A, B and the fallback name.
  EXPECT_EQ(all.Measured("choices_passed"), 7);
  EXPECT_EQ(Steps(all).size(), 1u + 11 + 2 + 1 + 1);
  Set("FAKE_CUDNN_FAULT", "bias:lost");
  Set("FAKE_CUDNN_FAULT_ENGINE", "2");
  const CheckOutcome one = RunFused(Fused("float32", "", "made", "every"));
  EXPECT_EQ(one.gate.exit_code, 1);
  EXPECT_THAT(one.Slugs(), Each("wrong-value"));
  EXPECT_THAT(one.Detail(), HasSubstr("fallback 0, engine 2, cuDNN 9.19.0"));
}

TEST_F(ConvFused, ExactBitsAreAskedOfEnginesThatTransformInAConvolutionAlone) {
  // Number 4 is an FFT there, and here another engine, whatever its number.
  Set("FAKE_CUDNN_FAULT", "element:middle:1e-4");
  Set("FAKE_CUDNN_FAULT_ENGINE", "4");
  EXPECT_THAT(RunFused(Fused("float32", Epilogue("bias"), "made", "every")).Slugs(),
              ElementsAre("wrong-value"));
}

TEST_F(ConvFused, WhatIsNotOfferedIsASkipThatNamesTheStatus) {
  Set("FAKE_CUDNN_REFUSES", "0,1,2");
  const CheckOutcome r = RunFused(Fused("int8", R"("output_dtype": "int32")", "quads"));
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_THAT(r.Skip("need"), Mentions("graph API, engine auto", "int8 to int32 nhwc", "+ bias + relu"));
  EXPECT_EQ(r.gate.exit_code, 4);
  Set("FAKE_CUDNN_REFUSES", "");
  Set("FAKE_CUDNN_FINALIZE", std::to_string(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) + ":3000");
  EXPECT_THAT(RunFused().Skip("seen"), HasSubstr("cudnnBackendFinalize(pointwise operation): 3000"));
}

TEST_F(ConvFused, FmaMathShowsAShorterTypeBehindAnEpilogueToo) {
  const std::string fma = R"("math": "fma")";
  ExpectPassed(RunFused(Fused("float32", fma)));
  Set("FAKE_CUDNN_FAULT", "inputs:tf32");
  EXPECT_THAT(RunFused(Fused("float32", fma)).Slugs(), ElementsAre("wrong-value"));
  ExpectPassed(RunFused(Fused("float32")));
}

TEST_F(ConvFused, IsThereInCudnn8) {
  UseFakes({"libcuda", "nvml", "cudart12", "nvrtc12"});
  UseSubjects("{\"mine\": \"path:" + FakeFolder("cudnn8") + "\"}");
  ExpectPassed(RunFused());
}

TEST_F(ConvFused, WhatCannotBeStopsThePlanWithItsPlace) {
  const auto refused = [&](const char* check, const std::string& params, const std::string& key,
                           const std::string& argument) {
    const CheckOutcome r = Convolve(check, params);
    EXPECT_EQ(r.gate.exit_code, 2) << params;
    EXPECT_THAT(r.gate.err, ::testing::ContainsRegex(":[0-9]+:[0-9]+: error: "));
    EXPECT_THAT(r.gate.err, Mentions('"' + key + '"', argument));
  };
  refused("conv.fused", Fused("float16", R"("output_dtype": "int32")"), "output_dtype", "int8");
  refused("conv.fused", Fused("float32", R"("output_dtype": "float32")"), "output_dtype", "float32");
  refused("conv.fused", Fused("float64", R"("output_dtype": "float32")"), "output_dtype", "float64");
  refused("conv.fused", Fused("float32", Epilogue("none")), "epilogue", "conv.fused");
  refused("conv.fused", Fused("float32", R"("api": "legacy")"), "api", "\"legacy\"");
  refused("conv.fused", Fused("float32", "", "made", "gemm"), "algo", "\"gemm\"");
  for (const char* check : {"conv.forward", "conv.backward_data", "conv.backward_filter"})
    refused(check, Fused("float32", Epilogue("bias")), "epilogue", check);
}

}  // namespace
}  // namespace cudnn_ci
