// conv.backward_data and conv.backward_filter from the matrix to the verdict, against a cuDNN that computes
// right and says what it was asked, and against the same one with one fault at a time.
#include <cudnn.h>

#include "golden_messages.h"
#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Gradient {
  const char* name;
  const char* check;
  const char* call;
  // Of the tensors of the shape "made": the result's last element, and what is beyond the end of an input.
  const char* last;
  const char* elements;
  const char* inputs[2];
};

void PrintTo(const Gradient& gradient, std::ostream* os) { *os << gradient.check; }

class ConvGradient : public ConvTest, public ::testing::WithParamInterface<Gradient> {
 protected:
  CheckOutcome Backward(const std::string& params = Params("algo_1")) {
    return Convolve(GetParam().check, params);
  }
};

TEST_P(ConvGradient, HealthyLibraryPassesInEveryTypeAndBothLayouts) {
  const CheckOutcome r = Check(GetParam().check,
                               R"("params": {"algo": "algo_1"}, "axes": {
      "dtype": ["float32", "float16", "bfloat16", "float64"], "layout": ["nchw", "nhwc"],
      "shape": ["made", "line", "volume"], "math": ["default", "fma"]})");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.report["totals"]["passed"], r.gate.report["totals"]["planned"]);
  EXPECT_EQ(r.Measured("workspace_bytes"), 100);
  EXPECT_EQ(r.Measured("max_error"), 0);
  EXPECT_EQ(r.Measured("error_bound"), 0);
}

TEST_P(ConvGradient, DescribesWhatTheParametersSay) {
  ExpectPassed(Backward(Params("algo_1", "float16", "made", R"("layout": "nhwc")")));
  const json asked = Asked(GetParam().call);
  EXPECT_EQ(asked["algorithm"], 1);
  EXPECT_EQ(asked["types"], json({CUDNN_DATA_HALF, CUDNN_DATA_HALF, CUDNN_DATA_HALF}));
  EXPECT_EQ(asked["compute"], CUDNN_DATA_FLOAT);
  EXPECT_EQ(asked["x"], json({2, 6, 9, 11}));
  EXPECT_EQ(asked["x_strides"], json({594, 1, 66, 6}));
  EXPECT_EQ(asked["w"], json({8, 3, 3, 5}));
  EXPECT_EQ(asked["w_format"], CUDNN_TENSOR_NHWC);
  EXPECT_EQ(asked["y"], json({2, 8, 5, 11}));
  EXPECT_EQ(asked["y_strides"], json({440, 1, 88, 8}));
  EXPECT_EQ(asked["pad"], json({1, 2}));
  EXPECT_EQ(asked["stride"], json({2, 1}));
  EXPECT_EQ(asked["groups"], 2);
  EXPECT_EQ(asked["alpha"], 1);
  EXPECT_EQ(asked["beta"], 0);
  EXPECT_EQ(asked["workspace_bytes"], 100);
  EXPECT_EQ(asked["misalignment"], json({0, 0, 0, 0}));
}

TEST_P(ConvGradient, EveryAlgorithmIsTheOneNamed) {
  const bool filter = std::string(GetParam().check) == "conv.backward_filter";
  const std::vector<std::pair<std::string, int>> data = {
      {"algo_0", 0}, {"algo_1", 1}, {"fft", 2}, {"fft_tiling", 3}, {"winograd_nonfused", 5}};
  const std::vector<std::pair<std::string, int>> of_filter = {
      {"algo_0", 0}, {"algo_1", 1}, {"algo_3", 3}, {"fft", 2}, {"winograd_nonfused", 5}};
  for (const auto& [name, number] : filter ? of_filter : data) {
    ExpectPassed(Backward(Params(name)));
    EXPECT_EQ(Asked(GetParam().call)["algorithm"], number) << name;
  }
  const CheckOutcome r = Backward(Params("every"));
  ExpectPassed(r);
  EXPECT_EQ(r.Measured("choices_passed"), 5);
}

TEST_P(ConvGradient, AutoTakesTheFirstProposalThatIsOffered) {
  Set("FAKE_CUDNN_PROPOSALS", "3/1/0,1/1/0,0/0/0");
  Set("FAKE_CUDNN_REFUSES", "3");
  ExpectPassed(Backward(Params("auto")));
  EXPECT_EQ(Asked(GetParam().call)["algorithm"], 1);
  EXPECT_EQ(Asked(GetParam().call)["math"], CUDNN_TENSOR_OP_MATH) << "the proposal's own";
}

TEST_P(ConvGradient, EveryFaultHasItsFinding) {
  const auto behind = [&](const char* tensor) { return std::string("guard:behind-") + tensor; };
  const std::string elements = std::string("1 of ") + GetParam().elements + " elements ";
  const std::vector<std::tuple<std::string, std::string, std::string>> faults = {
      {"element:first", "wrong-value", elements},
      {"element:last", "wrong-value", std::string("first ") + GetParam().last},
      {"flip:middle:0", "wrong-value", elements},
      {"lost:middle", "wrong-value", elements},
      {"swap:channels", "wrong-value", "elements"},
      {"swap:images", "wrong-value", "elements"},
      {"unwritten:last", "output-not-written", elements},
      {behind("x"), "out-of-bounds-write", "first 0 bytes"},
      {behind("w"), "out-of-bounds-write", "first 0 bytes"},
      {behind("y"), "out-of-bounds-write", "first 0 bytes"},
      {behind("workspace"), "out-of-bounds-write", "of workspace"},
      {std::string("input:") + GetParam().inputs[0] + ":last", "input-modified", "at byte"},
      {std::string("input:") + GetParam().inputs[1] + ":last", "input-modified", "at byte"},
      {std::string("read:behind-") + GetParam().inputs[0], "wrong-value", "got NaN"},
      {std::string("read:behind-") + GetParam().inputs[1], "wrong-value", "got NaN"},
      {"read:workspace", "wrong-value", "got NaN"},
      {std::string("call:") + GetParam().call + ":1:5000", "convolution-failed", "5000 CUDNN_STATUS_OTHER"}};
  GoldenMessages golden("conv_faults.txt", {{CUDNN_CI_FAKES, "FAKES"}});
  for (const auto& [fault, slug, words] : faults) {
    Set("FAKE_CUDNN_FAULT", fault);
    const CheckOutcome r = Backward();
    EXPECT_EQ(r.gate.exit_code, 1) << fault;
    EXPECT_THAT(r.Slugs(), ElementsAre(slug)) << fault << ::testing::PrintToString(r);
    EXPECT_THAT(r.Detail(), HasSubstr(words)) << fault;
    // What lies behind a byte outside of a tensor differs.
    if (slug != "out-of-bounds-write") golden.Row(fault, r.Detail());
  }
}

TEST_P(ConvGradient, ShorterTypeIsFoundWhereTheMathForbidsIt) {
  Set("FAKE_CUDNN_FAULT", "inputs:tf32");
  ExpectPassed(Backward());
  EXPECT_THAT(Backward(Params("algo_1", "float32", "made", R"("math": "fma")")).Slugs(),
              ElementsAre("wrong-value"));
}

TEST_P(ConvGradient, TransformsHaveTheirBounds) {
  Set("FAKE_CUDNN_FAULT", "element:middle:1e-4");
  ExpectPassed(Backward(Params("fft")));
  Set("FAKE_CUDNN_FAULT", "element:middle:0.44");
  const std::string params = Params("winograd_nonfused", "float32", "winograd_of_many");
  const CheckOutcome r = Backward(params);
  ExpectPassed(r);
  EXPECT_EQ(r.Measured("error_bound"), 0.45);
  Set("FAKE_CUDNN_FAULT", "lost:middle");
  EXPECT_THAT(Backward(params).Slugs(), ElementsAre("wrong-value"));
}

TEST_P(ConvGradient, WhatIsNotOfferedIsSkippedInTheLibrarysWords) {
  Set("FAKE_CUDNN_REFUSES", "1");
  const CheckOutcome r = Backward();
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_THAT(r.Skip("need"), HasSubstr("algorithm algo_1 for float32 nchw"));
  EXPECT_THAT(r.Skip("seen"), HasSubstr("3000 CUDNN_STATUS_NOT_SUPPORTED"));
}

TEST_P(ConvGradient, Int8HasNone) {
  const CheckOutcome r = Backward(Params("algo_1", "int8"));
  EXPECT_EQ(r.gate.exit_code, 2);
  EXPECT_THAT(r.gate.err, Mentions("\"dtype\"", "int8"));
}

INSTANTIATE_TEST_SUITE_P(All, ConvGradient,
                         ::testing::Values(Gradient{"Data",
                                                    "conv.backward_data",
                                                    "cudnnConvolutionBackwardData",
                                                    "(n=1,c=5,h=8,w=10)",
                                                    "1188",
                                                    {"w", "y"}},
                                           Gradient{"Filter",
                                                    "conv.backward_filter",
                                                    "cudnnConvolutionBackwardFilter",
                                                    "(k=7,c=2,r=2,s=4)",
                                                    "360",
                                                    {"x", "y"}}),
                         [](const auto& gradient) { return std::string(gradient.param.name); });

}  // namespace
}  // namespace cudnn_ci
