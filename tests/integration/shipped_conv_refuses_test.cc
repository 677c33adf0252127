// conv.refuses, from the matrix to the verdict, against a fake cuDNN that refuses what cannot be, or errs.
#include <algorithm>

#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// What both APIs have to refuse whatever is run.
constexpr const char* kShapes[] = {"zero_dimension", "kernel_too_large", "channel_mismatch",
                                   "group_mismatch"};

class ConvRefuses : public ConvTest {
 protected:
  static std::string What(const std::string& what, const std::string& api = "legacy",
                          const std::string& rest = "") {
    return R"("params": {"what": ")" + what + R"(", "api": ")" + api + R"(", "dtype": "float32")" + rest +
           "}";
  }
  CheckOutcome Refuse(const std::string& params) { return Convolve("conv.refuses", params); }
};

TEST_F(ConvRefuses, HealthyLibraryRefusesEverythingInEveryOperation) {
  const CheckOutcome all = Check("conv.refuses",
                                 R"("params": {"dtype": "float32"}, "axes": {"api": ["legacy", "graph"],
      "operation": ["forward", "backward_data", "backward_filter"],
      "what": ["zero_dimension", "kernel_too_large", "channel_mismatch", "group_mismatch", "small_workspace"]})");
  EXPECT_EQ(all.gate.exit_code, 0) << ::testing::PrintToString(all);
  EXPECT_EQ(all.gate.report["totals"]["passed"], all.gate.report["totals"]["planned"]);
  ExpectPassed(Check("conv.refuses", R"("params": {"what": "group_mismatch", "layout": "nhwc"})"));
  ExpectPassed(Refuse(What("misaligned_pointer", "graph")));
  for (const char* api : {"legacy", "graph"}) ExpectPassed(Refuse(What("too_many_elements", api)));
}

TEST_F(ConvRefuses, EveryChoiceIsAsked) {
  const CheckOutcome r = Refuse(What("channel_mismatch"));
  ExpectPassed(r);
  EXPECT_THAT(Steps(r), ElementsAre("a valid convolution", "description", "implicit_gemm",
                                    "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling",
                                    "winograd", "winograd_nonfused", "a valid convolution, again"));
  EXPECT_EQ(AllAsked("cudnnConvolutionForward").size(), 2u + 6) << "less those that are not offered at all";
}

TEST_F(ConvRefuses, SuccessIsAFailure) {
  Set("FAKE_CUDNN_TAKES", "success");
  for (const char* api : {"legacy", "graph"}) {
    for (const char* what : kShapes) {
      const CheckOutcome r = Refuse(What(what, api));
      EXPECT_EQ(r.gate.exit_code, 1) << what << api;
      EXPECT_THAT(r.Slugs(), ElementsAre("impossible-accepted")) << what << api;
      EXPECT_EQ(r.Blame(), "image");
      EXPECT_THAT(r.Detail(), HasSubstr("answered success: ")) << what << api;
    }
    const CheckOutcome r = Refuse(What("small_workspace", api));
    EXPECT_THAT(r.Slugs(), ElementsAre("impossible-accepted")) << api;
    EXPECT_THAT(r.Detail(), Mentions("workspace", "answered success")) << api;
  }
  const CheckOutcome r = Refuse(What("misaligned_pointer", "graph"));
  EXPECT_THAT(r.Slugs(), ElementsAre("impossible-accepted"));
  EXPECT_THAT(
      r.Detail(),
      AllOf(StartsWith("heuristics A 0, engine 1, heuristics A 1, engine 0, fallback 0, engine 2 answered "),
            Mentions("success", "pointer", "16 bytes", "cuDNN 9.19.0")));
}

TEST_F(ConvRefuses, WorkspaceThatIsOverrunIsAFailure) {
  // A library that only looks whether there is a workspace.
  Set("FAKE_CUDNN_TAKES_WORKSPACE", "99:100");
  const CheckOutcome r = Refuse(What("small_workspace"));
  EXPECT_THAT(r.Slugs(), ElementsAre("impossible-accepted")) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("implicit_precomp_gemm, "), Not(HasSubstr("implicit_gemm"))))
      << "which asks for none";
}

// What a library asks for may be rounded up: what does with less has harmed nobody.
TEST_F(ConvRefuses, OneByteOfWorkspaceLessThatSufficesIsNoFailure) {
  Set("FAKE_CUDNN_TAKES_WORKSPACE", "99");
  const CheckOutcome r = Refuse(What("small_workspace"));
  ExpectPassed(r);
  EXPECT_EQ(r.gate.exit_code, 0);
}

TEST_F(ConvRefuses, CrashAndHangAreTheHarnesssToSee) {
  Set("FAKE_CUDNN_REFUSES", "1,2,4,5,7");  // one choice is left, for each is tried again without the others
  for (const char* api : {"legacy", "graph"}) {
    Set("FAKE_CUDNN_TAKES", "abort");
    const CheckOutcome crash = Refuse(What("channel_mismatch", api));
    EXPECT_EQ(crash.gate.exit_code, 1) << api;
    EXPECT_EQ(crash.Outcome(), "errored") << api;
    EXPECT_THAT(crash.Slugs(), Contains("crashed")) << api;
    Set("FAKE_CUDNN_TAKES", "hang");
    const CheckOutcome hang = Refuse(What("channel_mismatch", api) + R"(, "timeout_s": 3)");
    EXPECT_EQ(hang.gate.exit_code, 1) << api;
    EXPECT_THAT(hang.Slugs(), Contains("timed-out")) << api;
  }
}

TEST_F(ConvRefuses, ContextThatIsBrokenByARefusalIsAFailure) {
  // Of the first convolution two, then before and after the first that has to be refused.
  Set("FAKE_CUDA_FAULT", "call:cuCtxSynchronize:4:700");
  const CheckOutcome r = Refuse(What("channel_mismatch"));
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("unusable-after-refusal")) << ::testing::PrintToString(r);
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("implicit_gemm answered "),
                                HasSubstr("; then cuCtxSynchronize: 700 CUDA_ERROR"),
                                HasSubstr("17 channels"), HasSubstr("cuDNN 9.19.0")));
}

TEST_F(ConvRefuses, LibraryThatIsOfNoUseAfterwardsIsAFailure) {
  const std::string propose = "call:cudnnGetConvolutionForwardAlgorithm_v7:";
  for (const char* answer : {"5000", "3000"}) {
    Set("FAKE_CUDNN_FAULT", propose + "2:" + answer);
    const CheckOutcome r = Refuse(What("zero_dimension"));
    EXPECT_EQ(r.gate.exit_code, 1) << answer;
    EXPECT_THAT(r.Slugs(), ElementsAre("unusable-after-refusal")) << answer;
    EXPECT_THAT(r.Detail(), Mentions("description answered cudnnSetTensorNdDescriptor: 2000",
                                     "; then cudnnGetConvolutionForwardAlgorithm_v7: "))
        << answer;
  }
}

TEST_F(ConvRefuses, LibraryThatRefusesEverythingPassesNothing) {
  Set("FAKE_CUDNN_FAULT", "call:cudnnGetConvolutionForwardAlgorithm_v7:0:5000");
  EXPECT_THAT(Refuse(What("zero_dimension")).Slugs(), ElementsAre("convolution-failed"));
  Set("FAKE_CUDNN_FAULT", "call:cudnnGetConvolutionForwardAlgorithm_v7:0:3000");
  const CheckOutcome r = Refuse(What("zero_dimension"));
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_EQ(r.gate.exit_code, 4);
  Set("FAKE_CUDNN_FAULT", "none");
  Set("FAKE_CUDA_FAULT", "call:cuMemsetD32_v2:1:700");
  EXPECT_THAT(Refuse(What("zero_dimension")).Slugs(), ElementsAre("convolution-failed"));
}

// It is asked for only where heuristics A names nothing that will do.
TEST_F(ConvRefuses, RefusalOfTheFallbacksListIsOne) {
  Set("FAKE_CUDNN_TAKES", "success");
  Set("FAKE_CUDNN_GRAPH_A", "19");  // which is not offered
  EXPECT_THAT(Refuse(What("channel_mismatch", "graph")).Slugs(), ElementsAre("impossible-accepted"));
  Set("FAKE_CUDNN_FALLBACK_REFUSES", "1");
  const CheckOutcome r = Refuse(What("channel_mismatch", "graph"));
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  ExpectPassed(r);
}

TEST_F(ConvRefuses, NothingThatCanBeAskedIsNoPass) {
  Set("FAKE_CUDNN_WORKSPACE", "0");
  for (const char* api : {"legacy", "graph"}) {
    const CheckOutcome r = Refuse(What("small_workspace", api));
    EXPECT_EQ(r.Skip("kind"), "unsupported") << api;
    EXPECT_EQ(r.gate.exit_code, 4) << api;
  }
}

TEST_F(ConvRefuses, ManyElementsThatTheLibraryTakesNeedTheirMemory) {
  Set("FAKE_CUDNN_TAKES", "success");
  Set("FAKE_FREE_MB", "2000");
  const CheckOutcome r = Refuse(What("too_many_elements"));
  EXPECT_EQ(r.Skip("kind"), "memory") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("resource"), "device-memory");
  EXPECT_THAT(r.Skip("need"), ::testing::ContainsRegex("^[0-9]+ MiB "));
}

TEST_F(ConvRefuses, MemoryThatTheDriverSaysIsFreeAndRefusesIsWantingAllTheSame) {
  Set("FAKE_CUDNN_TAKES", "success");
  Set("FAKE_CUDA_REFUSE_ABOVE_KB", "8192");
  const CheckOutcome r = Refuse(What("too_many_elements"));
  EXPECT_EQ(r.Skip("kind"), "memory") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("resource"), "device-memory");
  EXPECT_THAT(r.Skip("need"), ::testing::ContainsRegex("^[0-9]+ MiB "));
  EXPECT_THAT(r.Skip("seen"), AllOf(HasSubstr("cuMemAlloc: 2 CUDA_ERROR_OUT_OF_MEMORY"), HasSubstr(" free")));
}

TEST_F(ConvRefuses, WhatAnApiCannotBeAskedStopsThePlan) {
  const CheckOutcome pointer = Refuse(What("misaligned_pointer"));
  EXPECT_EQ(pointer.gate.exit_code, 2);
  EXPECT_THAT(pointer.gate.err, Mentions("\"what\"", "graph API"));
  const CheckOutcome elements =
      Refuse(What("too_many_elements", "graph", R"(, "operation": "backward_data")"));
  EXPECT_EQ(elements.gate.exit_code, 2);
  EXPECT_THAT(elements.gate.err, Mentions("\"operation\"", "forward"));
}

TEST_F(ConvRefuses, EachCaseHasAProcessOfItsOwn) {
  const CheckOutcome r =
      Check("conv.refuses",
            R"("params": {"dtype": "float32"}, "axes": {"what": ["channel_mismatch", "group_mismatch"]})");
  EXPECT_EQ(r.gate.exit_code, 0);
  std::vector<json> pids;
  for (const json& call : AllAsked("cudnnConvolutionForward"))
    if (std::find(pids.begin(), pids.end(), call["pid"]) == pids.end()) pids.push_back(call["pid"]);
  EXPECT_EQ(pids.size(), 2u);
}

}  // namespace
}  // namespace cudnn_ci
