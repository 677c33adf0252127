// A convolution that a library does not offer: what is said of why, against a fake cuDNN whose engines refuse
// with the codes they are told.
#include <cudnn.h>

#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ConvUnsupported : public ConvTest {
 protected:
  CheckOutcome Graph(const std::string& algo = "auto", const std::string& dtype = "float32") {
    return Convolve("conv.forward", Params(algo, dtype, "made", R"("api": "graph")"));
  }
  CheckOutcome Legacy(const std::string& algo = "auto", const std::string& shape = "made") {
    return Convolve("conv.forward", Params(algo, "float32", shape));
  }
};

TEST_F(ConvUnsupported, EveryEngineIsAskedWhereNoneIsProposed) {
  Set("FAKE_CUDNN_REFUSES", "0,1,2,3,6");
  Set("FAKE_CUDNN_REFUSALS", "4/3007,5/3007,7/3004,8/3011,9/4004");
  const CheckOutcome r = Graph();
  EXPECT_EQ(r.Skip("kind"), "unsupported") << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.exit_code, 4);
  EXPECT_THAT(r.Skip("seen"), Mentions("memory 1, type or architecture 2, layout 1, padding 1, not said 15; ",
                                       "cuDNN 9.19.0"));
  EXPECT_THAT(r.Skip("seen"), Mentions("; 20 asked", ": memory 1 (engine 9: ",
                                       "architecture 2 (engine 4: cudnnBackendFinalize(engine): 3007",
                                       "layout 1 (engine 7: cudnnBackendFinalize(engine): 3004",
                                       "not said 15 (engine 0: cudnnBackendFinalize(engine): 3000"));
}

TEST_F(ConvUnsupported, AnEngineThatIsOfferedAndNotProposedIsToldWithItsWorkspace) {
  Set("FAKE_CUDNN_REFUSES", "0,1,2");
  Set("FAKE_CUDNN_WORKSPACE", "8388607");
  const CheckOutcome r = Graph();
  EXPECT_EQ(r.Skip("kind"), "unsupported") << ::testing::PrintToString(r);
  EXPECT_THAT(r.Skip("seen"), Mentions("asked 2, not said 18; "));
  EXPECT_THAT(r.Skip("seen"), HasSubstr("(engine 3: workspace 8388607 B, "));
}

TEST_F(ConvUnsupported, WhatIsOnlyNotInstalledIsNoLackOfSupport) {
  Set("FAKE_CUDNN_REFUSES", "0,1,2,3,6");
  Set("FAKE_CUDNN_REFUSALS", "7/3008");
  const CheckOutcome r = Graph();
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("convolution-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("answered cudnnBackendFinalize(engine): 3008"));
  // Where others are there, the engine may as well not be meant for it.
  Set("FAKE_CUDNN_REFUSES", "0,1,2");
  EXPECT_EQ(Graph().Skip("kind"), "unsupported");
}

TEST_F(ConvUnsupported, OnlyWhatProposesAsksTheOthers) {
  Set("FAKE_CUDNN_REFUSES", "0,1,2,3,4,5,6,7");
  EXPECT_THAT(Legacy().Skip("seen"), Mentions("; 8 asked ", ": not said 8 (implicit_gemm: "));
  const std::string named = Legacy("gemm").Skip("seen");
  EXPECT_THAT(named, Mentions("not said; ", "cuDNN 9.19.0"));
  EXPECT_THAT(named, Not(HasSubstr(" asked ")));
  EXPECT_THAT(Legacy("auto", "uneven").Skip("seen"), StartsWith("cause padding; "));
}

TEST_F(ConvUnsupported, ASweepSaysTheVersionAndTheCauses) {
  Set("FAKE_CUDNN_REFUSES", "0,1,2,3,6");
  Set("FAKE_CUDNN_REFUSALS", "4/3007");
  const CheckOutcome r = Graph("every");
  EXPECT_EQ(r.Skip("kind"), "unsupported") << ::testing::PrintToString(r);
  EXPECT_THAT(r.Skip("seen"), Mentions("type or architecture 1, not said 19; ", "cuDNN 9.19.0 ("));
  EXPECT_THAT(r.Skip("seen"), HasSubstr("): 20 unsupported; "));
}

TEST_F(ConvUnsupported, EachStepOfASweepThatRanHasItsTimeAndItsWork) {
  const CheckOutcome r = Legacy("every");
  ExpectPassed(r);
  EXPECT_THAT(Choices(r), HasSubstr("implicit_gemm: passed, error 0 of 0, workspace 0 B, "));
  EXPECT_THAT(Choices(r), ::testing::ContainsRegex("gemm: passed, [^\n]* B, [^ ]+ ms, [^ ]+ TFLOP/s"));
}

}  // namespace
}  // namespace cudnn_ci
