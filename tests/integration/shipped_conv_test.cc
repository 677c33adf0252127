// conv.forward from the matrix to the verdict against a cuDNN that computes right and says what it was
// asked, and against the same one with one fault at a time.
#include <cudnn.h>

#include <cmath>

#include "golden_messages.h"
#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConvForward : public ConvTest {
 protected:
  CheckOutcome Forward(const std::string& params = Params("implicit_gemm")) {
    return Convolve("conv.forward", params);
  }
};

TEST_F(ConvForward, HealthyLibraryPassesInEveryTypeAndBothLayouts) {
  const CheckOutcome r = Check("conv.forward",
                               R"("params": {"algo": "implicit_precomp_gemm"}, "axes": {
      "dtype": ["float32", "float16", "bfloat16", "float64"], "layout": ["nchw", "nhwc"],
      "shape": ["made", "line", "volume"]})");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.report["totals"]["passed"], r.gate.report["totals"]["planned"]);
  EXPECT_EQ(r.Measured("workspace_bytes"), 100);
  EXPECT_EQ(r.Measured("max_error"), 0);
  EXPECT_EQ(r.Measured("error_bound"), 0);
  EXPECT_EQ(r.Measured("milliseconds"), 1);
  EXPECT_GT(r.Measured("tflops"), 0);
  EXPECT_THAT(Steps(r), ElementsAre("workspace query", "reference", "upload", "convolve", "compare", "time",
                                    "kernel fake_kernel_1"));
}

TEST_F(ConvForward, DescribesWhatTheParametersSay) {
  ExpectPassed(Forward(Params("implicit_precomp_gemm", "float16", "made", R"("layout": "nhwc")")));
  const json asked = Asked();
  EXPECT_EQ(asked["types"], json({CUDNN_DATA_HALF, CUDNN_DATA_HALF, CUDNN_DATA_HALF}));
  EXPECT_EQ(asked["x"], json({2, 6, 9, 11}));
  EXPECT_EQ(asked["x_strides"], json({594, 1, 66, 6}));
  EXPECT_EQ(asked["w"], json({8, 3, 3, 5}));
  EXPECT_EQ(asked["w_format"], CUDNN_TENSOR_NHWC);
  EXPECT_EQ(asked["y"], json({2, 8, 5, 11}));
  EXPECT_EQ(asked["y_strides"], json({440, 1, 88, 8}));
  EXPECT_EQ(asked["pad"], json({1, 2}));
  EXPECT_EQ(asked["stride"], json({2, 1}));
  EXPECT_EQ(asked["dilation"], json({1, 1}));
  EXPECT_EQ(asked["groups"], 2);
  EXPECT_EQ(asked["alpha"], 1);
  EXPECT_EQ(asked["beta"], 0);
  EXPECT_EQ(asked["workspace_bytes"], 100);
  EXPECT_EQ(asked["misalignment"], json({0, 0, 0, 0}));
}

TEST_F(ConvForward, EveryAlgorithmIsTheOneNamed) {
  const std::pair<const char*, int> algorithms[] = {{"implicit_gemm", 0}, {"implicit_precomp_gemm", 1},
                                                    {"gemm", 2},          {"fft", 4},
                                                    {"fft_tiling", 5},    {"winograd_nonfused", 7}};
  for (const auto& [name, number] : algorithms) {
    ExpectPassed(Forward(Params(name)));
    EXPECT_EQ(Asked()["algorithm"], number) << name;
  }
}

TEST_F(ConvForward, MathIsTheOneNamed) {
  for (const auto& [name, number] : {std::pair<const char*, int>{"default", CUDNN_DEFAULT_MATH},
                                     {"tensor", CUDNN_TENSOR_OP_MATH},
                                     {"fma", CUDNN_FMA_MATH}}) {
    ExpectPassed(Forward(Params("gemm", "float32", "made", R"("math": ")" + std::string(name) + "\"")));
    EXPECT_EQ(Asked()["math"], number) << name;
  }
}

TEST_F(ConvForward, SumsInFloat32ExceptForFloat64) {
  for (const auto& [dtype, compute] : {std::pair<const char*, int>{"float32", CUDNN_DATA_FLOAT},
                                       {"float16", CUDNN_DATA_FLOAT},
                                       {"bfloat16", CUDNN_DATA_FLOAT},
                                       {"float64", CUDNN_DATA_DOUBLE}}) {
    ExpectPassed(Forward(Params("gemm", dtype)));
    EXPECT_EQ(Asked()["compute"], compute) << dtype;
    EXPECT_EQ(Asked()["beta"], 0) << dtype;
  }
}

TEST_F(ConvForward, AutoTakesTheFirstProposalThatIsOffered) {
  Set("FAKE_CUDNN_PROPOSALS", "2/1/0,1/1/0,0/0/0");
  Set("FAKE_CUDNN_REFUSES", "2");
  ExpectPassed(Forward(Params("auto")));
  EXPECT_EQ(Asked()["algorithm"], 1);
  EXPECT_EQ(Asked()["math"], CUDNN_TENSOR_OP_MATH) << "the proposal's own";
  ExpectPassed(Forward(Params("auto", "float32", "made", R"("math": "fma")")));
  EXPECT_EQ(Asked()["math"], CUDNN_FMA_MATH) << "the matrix's";
}

TEST_F(ConvForward, AutoPassesOverProposalsThatTheLibraryRulesOut) {
  Set("FAKE_CUDNN_PROPOSALS", "2/0/3000,0/0/0");
  ExpectPassed(Forward(Params("auto")));
  EXPECT_EQ(Asked()["algorithm"], 0);
}

TEST_F(ConvForward, ProposalThatIsThenNotOfferedIsAFailure) {
  Set("FAKE_CUDNN_FAULT", "call:cudnnConvolutionForward:1:3000");
  const CheckOutcome r = Forward(Params("auto"));
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("convolution-failed"));
  EXPECT_THAT(r.Detail(), Mentions("own proposal", "cudnnConvolutionForward: 3000"));
}

TEST_F(ConvForward, ProposalThatNeedsMoreWorkspaceThanItSaysIsAFinding) {
  Set("FAKE_CUDNN_PROPOSED_WORKSPACE", "99");
  const CheckOutcome r = Forward(Params("auto"));
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("workspace-understated"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), ContainsRegex("^cudnnGetConvolutionForwardAlgorithm_v7 .*\\b99 bytes.*\\b100; "
                                        "implicit_precomp_gemm"));
  // Math that it was not proposed for, and more than is needed.
  ExpectPassed(Forward(Params("auto", "float32", "made", R"("math": "fma")")));
  Set("FAKE_CUDNN_PROPOSED_WORKSPACE", "101");
  const CheckOutcome more = Forward(Params("auto"));
  ExpectPassed(more);
  EXPECT_EQ(more.Measured("proposed_workspace_bytes"), 101);
}

struct Fault {
  const char* name;
  const char* fault;
  const char* slug;
  const char* words;  // an argument of the finding
};

void PrintTo(const Fault& fault, std::ostream* os) { *os << fault.fault; }

class ConvFault : public ConvForward, public ::testing::WithParamInterface<Fault> {};

TEST_P(ConvFault, HasItsFinding) {
  Set("FAKE_CUDNN_FAULT", GetParam().fault);
  const CheckOutcome r = Forward(Params("implicit_precomp_gemm"));
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_EQ(r.Outcome(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre(GetParam().slug)) << ::testing::PrintToString(r);
  EXPECT_EQ(r.Blame(), "image");
  // The first run shows it, before that on random data.
  GoldenMessages golden("conv_faults.txt", {{CUDNN_CI_FAKES, "FAKES"}});
  EXPECT_THAT(golden.Row(GetParam().fault, r.Detail()), HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    All, ConvFault,
    ::testing::Values(
        Fault{"FirstElement", "element:first", "wrong-value", "(n=0,k=0,p=0,q=0)"},
        Fault{"MiddleElement", "element:middle", "wrong-value", "first (n=1,k=0,p=0,q=0)"},
        Fault{"LastElement", "element:last", "wrong-value", "first (n=1,k=7,p=4,q=10)"},
        Fault{"SmallError", "element:last:1e-5", "wrong-value", "(n=1,k=7,p=4,q=10)"},
        Fault{"FlippedBit", "flip:middle:0", "wrong-value", "1 of 880"},
        Fault{"LostProduct", "lost:middle", "wrong-value", "1 of 880"},
        Fault{"SwappedChannels", "swap:channels", "wrong-value", "first (n=0,k=0,p=0,q="},
        Fault{"SwappedImages", "swap:images", "wrong-value", "first (n=0,k=0,p=0,q="},
        Fault{"NothingWritten", "unwritten:all", "output-not-written", "880 of 880"},
        Fault{"FirstUnwritten", "unwritten:first", "output-not-written", "1 of 880"},
        Fault{"LastUnwritten", "unwritten:last", "output-not-written", "first (n=1,k=7,p=4,q=10)"},
        Fault{"FirstOfX", "input:x:first", "input-modified", "byte 0"},
        Fault{"LastOfX", "input:x:last", "input-modified", "byte 4751"},
        Fault{"FirstOfW", "input:w:first", "input-modified", "byte 0"},
        Fault{"LastOfW", "input:w:last", "input-modified", "byte 1439"},
        Fault{"ReadsBeforeX", "read:before-x", "wrong-value", "got NaN"},
        Fault{"ReadsBehindX", "read:behind-x", "wrong-value", "got NaN"},
        Fault{"ReadsBeforeW", "read:before-w", "wrong-value", "got NaN"},
        Fault{"ReadsBehindW", "read:behind-w", "wrong-value", "got NaN"},
        Fault{"ReadsItsWorkspace", "read:workspace", "wrong-value", "got NaN"},
        Fault{"OtherOutputSize", "output-size", "convolution-failed", "answered 2 8 5 12, expected 2 8 5 11"},
        Fault{"Fails", "call:cudnnConvolutionForward:1:5000", "convolution-failed",
              "5000 CUDNN_STATUS_OTHER"}),
    [](const auto& fault) { return std::string(fault.param.name); });

// A byte outside of a tensor: where it lies, as a regular expression. What lies behind it differs.
struct Guarded {
  const char* name;
  const char* place;
  const char* words;
};

void PrintTo(const Guarded& guarded, std::ostream* os) { *os << guarded.place; }

class ConvGuard : public ConvForward, public ::testing::WithParamInterface<Guarded> {};

TEST_P(ConvGuard, NamesTheByteThatWasWritten) {
  Set("FAKE_CUDNN_FAULT", std::string("guard:") + GetParam().place);
  const CheckOutcome r = Forward(Params("implicit_precomp_gemm"));
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_EQ(r.Outcome(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre("out-of-bounds-write")) << ::testing::PrintToString(r);
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), ContainsRegex(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    All, ConvGuard,
    ::testing::Values(Guarded{"BeforeX", "before-x", "1 bytes before[a-z ]* of x"},
                      Guarded{"FarBeforeX", "before-x:4096", "4096 bytes before[a-z ]* of x"},
                      Guarded{"BehindX", "behind-x", "0 bytes after[a-z ]* of x"},
                      Guarded{"BeforeW", "before-w", "1 bytes before[a-z ]* of w"},
                      Guarded{"BehindW", "behind-w", "0 bytes after[a-z ]* of w"},
                      Guarded{"BeforeY", "before-y", "1 bytes before[a-z ]* of y"},
                      Guarded{"BehindY", "behind-y", "0 bytes after[a-z ]* of y"},
                      Guarded{"BeforeWorkspace", "before-workspace", "1 bytes before[a-z ]* of workspace"},
                      Guarded{"BehindWorkspace", "behind-workspace", "0 bytes after[a-z ]* of workspace"},
                      Guarded{"FarBehindWorkspace", "behind-workspace:4096",
                              "4095 bytes after[a-z ]* of workspace"}),
    [](const auto& guarded) { return std::string(guarded.param.name); });

TEST_F(ConvForward, EveryCallThatFailsIsAFailure) {
  for (const std::string call :
       {"cudnnCreateTensorDescriptor", "cudnnSetTensorNdDescriptor", "cudnnCreateFilterDescriptor",
        "cudnnSetFilterNdDescriptor", "cudnnCreateConvolutionDescriptor", "cudnnSetConvolutionNdDescriptor",
        "cudnnSetConvolutionGroupCount", "cudnnSetConvolutionMathType",
        "cudnnGetConvolutionNdForwardOutputDim", "cudnnGetConvolutionForwardWorkspaceSize"}) {
    Set("FAKE_CUDNN_FAULT", "call:" + call + ":0:2000");
    const CheckOutcome r = Forward();
    EXPECT_EQ(r.gate.exit_code, 1) << call;
    EXPECT_THAT(r.Slugs(), ElementsAre("convolution-failed")) << call;
    EXPECT_THAT(r.Detail(), HasSubstr(call + ": 2000 CUDNN_STATUS_OTHER")) << call;
  }
}

TEST_F(ConvForward, FaultOfOneElementIsFoundInEveryTypeAndLayout) {
  Set("FAKE_CUDNN_FAULT", "element:last");
  const CheckOutcome r = Check("conv.forward",
                               R"("params": {"algo": "gemm", "shape": "made"}, "axes": {
      "dtype": ["float32", "float16", "bfloat16", "float64"], "layout": ["nchw", "nhwc"]})");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_EQ(r.gate.report["totals"]["failed"], 8);
}

// TF32 in place of float32 is allowed by default, and forbidden by FMA math.
TEST_F(ConvForward, ShorterTypeIsFoundWhereTheMathForbidsIt) {
  for (const auto& [fault, dtype] : {std::pair<const char*, const char*>{"inputs:tf32", "float32"},
                                     {"sums:float16", "float32"},
                                     {"sums:float16", "float16"},
                                     {"sums:bfloat16", "bfloat16"},
                                     {"sums:float32", "float64"}}) {
    Set("FAKE_CUDNN_FAULT", "none");
    ExpectPassed(Forward(Params("gemm", dtype, "made", R"("math": "fma")")));
    Set("FAKE_CUDNN_FAULT", fault);
    ExpectPassed(Forward(Params("gemm", dtype)));
    const CheckOutcome r = Forward(Params("gemm", dtype, "made", R"("math": "fma")"));
    EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value")) << fault << " as " << dtype;
  }
}

TEST_F(ConvForward, Int8IsComparedChannelsLast) {
  const std::string nhwc = R"("layout": "nhwc")";
  ExpectPassed(Forward(Params("implicit_precomp_gemm", "int8", "quads", nhwc)));
  EXPECT_EQ(Asked()["types"], json({CUDNN_DATA_INT8, CUDNN_DATA_INT8, CUDNN_DATA_INT8}));
  EXPECT_EQ(Asked()["compute"], CUDNN_DATA_INT32);
  EXPECT_EQ(Asked()["alpha"], 1);
  // There is no other algorithm that could be right.
  for (const auto& [fault, slug] :
       {std::pair<const char*, const char*>{"element:last", "wrong-value-unexplained"},
        {"unwritten:last", "output-not-written"},
        {"guard:behind-y", "out-of-bounds-write"}}) {
    Set("FAKE_CUDNN_FAULT", fault);
    EXPECT_THAT(Forward(Params("implicit_precomp_gemm", "int8", "quads", nhwc)).Slugs(), ElementsAre(slug));
  }
  Set("FAKE_CUDNN_FAULT", "none");
  EXPECT_EQ(Forward(Params("implicit_precomp_gemm", "int8", "quads")).Skip("kind"), "unsupported");
}

TEST_F(ConvForward, UnevenPadsAreNamedAsWhatTheLegacyApiLacks) {
  const CheckOutcome r = Forward(Params("implicit_gemm", "float32", "uneven"));
  EXPECT_EQ(r.Skip("kind"), "unsupported") << ::testing::PrintToString(r);
  EXPECT_THAT(r.Skip("seen"), Mentions("cause padding; ", "legacy API"));
  EXPECT_THAT(r.Skip("need"), HasSubstr("pad=1x1 pad_after=0x0"));
}

// Data with few channels in an image, of which every one is used.
TEST_F(ConvForward, WinogradWithLargeFiltersIsJudgedOnDataThatSuitIt) {
  const std::string params = Params("winograd_nonfused", "float32", "winograd_of_many");
  Set("FAKE_CUDNN_FAULT", "element:middle:0.44");
  const CheckOutcome r = Forward(params);
  ExpectPassed(r);
  EXPECT_EQ(r.Measured("error_bound"), 0.45);
  for (const char* fault : {"element:middle:0.46", "lost:middle"}) {
    Set("FAKE_CUDNN_FAULT", fault);
    EXPECT_THAT(Forward(params).Slugs(), ElementsAre("wrong-value")) << fault;
  }
}

TEST_F(ConvForward, EveryAlgorithmIsAStepOfOneCase) {
  const CheckOutcome r = Forward(Params("every"));
  ExpectPassed(r);
  EXPECT_THAT(Steps(r), ElementsAre("workspace query", "implicit_gemm", "implicit_precomp_gemm", "gemm",
                                    "direct", "fft", "fft_tiling", "winograd", "winograd_nonfused"));
  std::vector<int> algorithms;
  for (const json& call : FirstRuns("cudnnConvolutionForward")) algorithms.push_back(call["algorithm"]);
  EXPECT_THAT(algorithms, ElementsAre(0, 1, 2, 4, 5, 7));
  EXPECT_EQ(r.Measured("choices_passed"), 6);
  EXPECT_EQ(r.Measured("choices_unsupported"), 2);
}

TEST_F(ConvForward, OneWrongAlgorithmOfManyIsNamed) {
  Set("FAKE_CUDNN_FAULT", "guard:behind-workspace");  // of those that have one
  Set("FAKE_CUDNN_REFUSES", "1,4,5,7");
  const CheckOutcome r = Forward(Params("every"));
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Detail(), HasSubstr("; gemm, cuDNN 9.19.0"));
}

TEST_F(ConvForward, OneFailingAlgorithmDoesNotHideTheOthers) {
  Set("FAKE_CUDNN_FAULT", "call:cudnnConvolutionForward:4:5000");  // the first one runs three times
  const CheckOutcome r = Forward(Params("every"));
  EXPECT_THAT(r.Slugs(), ElementsAre("convolution-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("implicit_precomp_gemm: cuDNN 9.19.0"));
  EXPECT_EQ(r.Measured("choices_passed"), 5);
}

TEST_F(ConvForward, NoAlgorithmAtAllIsNoPass) {
  Set("FAKE_CUDNN_REFUSES", "0,1,2,4,5,7");
  const CheckOutcome r = Forward(Params("every"));
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_THAT(r.Skip("seen"),
              AllOf(HasSubstr("8 unsupported"), HasSubstr("3000 CUDNN_STATUS_NOT_SUPPORTED")));
  EXPECT_EQ(r.gate.exit_code, 4);
}

TEST_F(ConvForward, CasesThatShareAProcessDoNotDisturbEachOther) {
  const CheckOutcome r =
      Check("conv.forward", R"("axes": {"shape": ["made", "line"], "dtype": ["float64", "float32"],
      "algo": ["gemm", "implicit_gemm"]})",
            {"--jobs", "1"});
  ExpectPassed(r);
}

TEST_F(ConvForward, OnlyTransformsHaveABound) {
  for (const char* exact : {"implicit_gemm", "implicit_precomp_gemm", "gemm"}) {
    Set("FAKE_CUDNN_FAULT", "element:middle:1e-5");
    EXPECT_THAT(Forward(Params(exact)).Slugs(), ElementsAre("wrong-value")) << exact;
  }
  for (const char* transform : {"fft", "fft_tiling"}) {
    Set("FAKE_CUDNN_FAULT", "element:middle:1e-4");
    ExpectPassed(Forward(Params(transform)));
    Set("FAKE_CUDNN_FAULT", "element:middle:1.5e-4");
    const CheckOutcome r = Forward(Params(transform));
    EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value")) << transform;
    EXPECT_THAT(r.Detail(), HasSubstr("rounding 0.00012"));
  }
}

// A bound that one lost product does not exceed decides nothing: neither a pass nor an alarm.
TEST_F(ConvForward, ResultThatNoBoundCanJudgeIsNoPass) {
  for (const char* fault : {"element:middle:0", "element:middle:1", "element:middle:3"}) {
    Set("FAKE_CUDNN_FAULT", fault);
    const CheckOutcome r = Forward(Params("winograd_nonfused", "float32", "winograd"));
    EXPECT_EQ(r.Outcome(), "skipped") << fault << ::testing::PrintToString(r);
    EXPECT_EQ(r.gate.exit_code, 4) << "a skip that nobody allowed";
    EXPECT_EQ(r.Skip("kind"), "unsupported");
    EXPECT_THAT(r.Skip("need"), HasSubstr("bound below 0.5"));
    EXPECT_THAT(r.Skip("seen"), AllOf(HasSubstr("winograd_nonfused"), HasSubstr("not verifiable")));
  }
  const CheckOutcome r = Check("conv.forward", Params("winograd_nonfused", "float32", "winograd") +
                                                   R"(, "allow_skip": ["unsupported"])");
  EXPECT_EQ(r.gate.exit_code, 1) << "nothing is left that proves the type and shape";
}

TEST_F(ConvForward, WhatCanBeJudgedWithoutABoundIsJudged) {
  for (const auto& [fault, slug] :
       {std::pair<const char*, const char*>{"unwritten:last", "output-not-written"},
        {"guard:behind-y", "out-of-bounds-write"},
        {"input:x:last", "input-modified"},
        {"read:workspace", "wrong-value"}}) {
    Set("FAKE_CUDNN_FAULT", fault);
    const CheckOutcome r = Forward(Params("winograd_nonfused", "float32", "winograd"));
    EXPECT_EQ(r.Outcome(), "failed") << fault;
    EXPECT_THAT(r.Slugs(), ElementsAre(slug)) << fault;
  }
}

TEST_F(ConvForward, AutoPrefersAProposalThatCanBeJudged) {
  Set("FAKE_CUDNN_PROPOSALS", "7/0/0,1/0/0");
  ExpectPassed(Forward(Params("auto", "float32", "winograd")));
  EXPECT_EQ(Asked()["algorithm"], 1);
  Set("FAKE_CUDNN_PROPOSALS", "7/0/0");
  const CheckOutcome r = Forward(Params("auto", "float32", "winograd"));
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_THAT(r.Skip("seen"), HasSubstr("not verifiable"));
}

TEST_F(ConvForward, WhatIsNotOfferedIsSkippedInTheLibrarysWords) {
  Set("FAKE_CUDNN_REFUSES", "2");
  CheckOutcome r = Forward(Params("gemm"));
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_THAT(r.Skip("need"), Mentions("algorithm gemm", "float32 nchw"));
  EXPECT_THAT(r.Skip("seen"), Mentions("3000 CUDNN_STATUS_NOT_SUPPORTED: words"));
  Set("FAKE_CUDNN_FAULT", "call:cudnnConvolutionForward:1:3000");
  r = Forward();
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_EQ(r.gate.exit_code, 4) << "and a skip that nobody allowed closes the gate";
}

TEST_F(ConvForward, BrokenStackIsNoMissingSupport) {
  for (const char* code : {"3005", "3006", "3008", "3009"}) {
    Set("FAKE_CUDNN_FAULT", "call:cudnnConvolutionForward:1:" + std::string(code));
    EXPECT_THAT(Forward().Slugs(), ElementsAre("convolution-failed")) << code;
  }
}

TEST_F(ConvForward, TooLittleDeviceMemoryIsASkipOfItsOwnKind) {
  Set("FAKE_FREE_MB", "200");
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.Skip("kind"), "memory") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("resource"), "device-memory");
  EXPECT_THAT(r.Skip("seen"), HasSubstr("201 MiB free"));
}

struct Impossible {
  const char* name;
  const char* shape;
  const char* field;
  const char* argument;
};

void PrintTo(const Impossible& shape, std::ostream* os) { *os << shape.shape; }

class ImpossibleShape : public ConvForward, public ::testing::WithParamInterface<Impossible> {};

TEST_P(ImpossibleShape, StopsThePlanAndReachesNoGpu) {
  UseShapes("{\"made\": {" + std::string(GetParam().shape) + "}}");
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 2) << r.gate.out << r.gate.err;
  EXPECT_TRUE(r.gate.report.is_null());
  EXPECT_THAT(r.gate.err, AllOf(HasSubstr("matrix.json:1:"),
                                Mentions('"' + std::string(GetParam().field) + '"', GetParam().argument)));
  EXPECT_EQ(gate().Read("cudnn.log"), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, ImpossibleShape,
    ::testing::Values(
        Impossible{"Zero", R"("x": [1, 0, 4, 4], "w": [8, 1, 3, 3])", "x", "2^31-1"},
        Impossible{"KernelTooLarge", R"("x": [1, 3, 4, 4], "w": [8, 3, 5, 4])", "w", "5 elements"},
        Impossible{"Groups", R"("x": [1, 6, 4, 4], "w": [8, 2, 3, 3], "groups": 4)", "x", "c=6"},
        Impossible{"Channels", R"("x": [1, 6, 4, 4], "w": [8, 6, 3, 3], "groups": 2)", "w", "c/groups = 3"},
        Impossible{"Elements", R"("x": [65536, 1, 1, 1], "w": [32768, 1, 1, 1])", "x", "y 2^31"},
        Impossible{"Reduction", R"("x": [1, 2097089, 1, 1], "w": [1, 2097089, 1, 1])", "w",
                   "2097089 products"}),
    [](const auto& shape) { return std::string(shape.param.name); });

// 2^31 elements are too many for the legacy API's descriptors alone.
TEST_F(ConvForward, TheGraphApiTakesMoreElementsThanAnIntCounts) {
  UseShapes(R"({"made": {"x": [65536, 1, 1, 1], "w": [32768, 1, 1, 1]}})");
  const auto planned = [this](const std::string& api) {
    return Check("conv.forward", Params("auto", "float16", "made", R"("api": ")" + api + '"'), {"--dry-run"});
  };
  const CheckOutcome graph = planned("graph");
  EXPECT_EQ(graph.gate.exit_code, 0) << graph.gate.err;
  EXPECT_THAT(graph.gate.out, HasSubstr("api=graph,dtype=float16,layout=nchw,math=default,shape=made"));
  const CheckOutcome legacy = planned("legacy");
  EXPECT_EQ(legacy.gate.exit_code, 2);
  EXPECT_THAT(legacy.gate.err, AllOf(HasSubstr("matrix.json:1:"), Mentions("\"x\"", "2^31 elements")));
  UseShapes(R"({"made": {"x": [1048576, 1, 1, 1], "w": [1048576, 1, 1, 1]}})");
  EXPECT_THAT(planned("graph").gate.err, Mentions("\"x\"", "2^40 elements"));
}

TEST_F(ConvForward, LibraryThatAbortsIsACrashOfTheImage) {
  Set("FAKE_CUDNN_FAULT", "call:cudnnConvolutionForward:1:abort");
  const CheckOutcome r = Forward();
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("crashed"));
  EXPECT_EQ(r.Blame(), "image");
}

}  // namespace
}  // namespace cudnn_ci
