// conv.forward from parameters to verdict, against a driver and a cuDNN made for the test: healthy ones
// pass, each fault has its finding, and what is not offered is skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "plugin_host.h"

namespace cudnn_ci::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using List = std::vector<int64_t>;

class ForwardTest : public ::testing::Test {
 protected:
  ForwardTest() {
    input_.params = {{"api", std::string("legacy")},   {"dtype", std::string("float32")},
                     {"layout", std::string("nchw")},  {"algo", std::string("implicit_gemm")},
                     {"math", std::string("default")}, {"shape", std::string("made")},
                     {"shape.x", List{2, 6, 9, 11}},   {"shape.w", List{8, 3, 3, 5}},
                     {"shape.pad", List{1, 2}},        {"shape.stride", List{2, 1}},
                     {"shape.dilation", List{1}},      {"shape.groups", int64_t{2}}};
  }
  ~ForwardTest() override {
    unsetenv("FAKE_CUDNN");
    unsetenv("FAKE_FREE_BYTES");
  }
  CheckReport Run(const char* fault = nullptr) {
    if (fault) setenv("FAKE_CUDNN", fault, 1);
    return RunCheck(CONV_PLUGIN, "forward", input_);
  }
  // The slugs found with this fault in the library; every detail must hold `words`.
  std::vector<std::string> Found(const char* fault, const std::string& words) {
    std::vector<std::string> slugs;
    const CheckReport report = Run(fault);
    EXPECT_EQ(report.load_error, "");
    EXPECT_THAT(report.uncaught, IsEmpty());
    EXPECT_EQ(report.Verdict(), "failed");
    for (const auto& f : report.findings) {
      EXPECT_EQ(f.severity, CCI_SEVERITY_ERROR) << f.slug;
      EXPECT_EQ(f.blame, CCI_BLAME_IMAGE) << f.slug;
      EXPECT_THAT(f.detail, HasSubstr(words));
      slugs.push_back(f.slug);
    }
    return slugs;
  }
  CheckInput input_;
};

void ExpectPassed(const CheckReport& r) {
  EXPECT_EQ(r.load_error, "");
  EXPECT_EQ(r.Verdict(), "passed");
  EXPECT_THAT(r.findings, IsEmpty());
  EXPECT_THAT(r.expectations, SizeIs(1));
  for (const auto& f : r.findings) ADD_FAILURE() << f.slug << ": " << f.detail;
  for (const auto& u : r.uncaught) ADD_FAILURE() << u;
}

TEST_F(ForwardTest, HealthyLibraryPassesInBothLayouts) {
  for (const char* layout : {"nchw", "nhwc"}) {
    input_.params["layout"] = std::string(layout);
    const CheckReport report = Run();
    ExpectPassed(report);
    EXPECT_THAT(report.steps,
                ElementsAre("workspace query", "reference", "upload", "convolve", "compare", "time"));
    std::map<std::string, double> measured;
    for (const auto& m : report.measurements) measured[m.name] = m.value;
    EXPECT_EQ(measured.at("workspace_bytes"), 100);
    EXPECT_EQ(measured.at("max_error"), 0);
    EXPECT_EQ(measured.at("error_bound"), 0);
    EXPECT_EQ(measured.at("milliseconds"), 1);
  }
}

TEST_F(ForwardTest, OneDimensionRunsAsHeightOne) {
  input_.params["shape.x"] = List{2, 6, 30};
  input_.params["shape.w"] = List{8, 3, 5};
  input_.params["shape.pad"] = List{2};
  input_.params["shape.stride"] = List{3};
  ExpectPassed(Run());
}

TEST_F(ForwardTest, AutoTakesTheFirstProposalThatIsOffered) {
  input_.params["algo"] = std::string("auto");
  const CheckReport report = Run();
  ExpectPassed(report);
  EXPECT_THAT(report.logs, ElementsAre(HasSubstr("implicit_precomp_gemm")));
  EXPECT_THAT(Found("unsupported", "its own proposal"), ElementsAre("convolution-failed"));
}

TEST_F(ForwardTest, EachFaultHasItsFinding) {
  EXPECT_THAT(Found("one wrong", "1 of 880 elements are wrong; first (n=1,k="), ElementsAre("wrong-value"));
  EXPECT_THAT(Found("slightly off", "none is allowed"), ElementsAre("wrong-value"));
  EXPECT_THAT(Found("nothing written", "880 of 880 elements were never written"),
              ElementsAre("output-not-written"));
  EXPECT_THAT(Found("writes behind y", "the first 0 bytes behind the end of y"),
              ElementsAre("out-of-bounds-write"));
  EXPECT_THAT(Found("writes before y", "the last 1 bytes before the start of y"),
              ElementsAre("out-of-bounds-write"));
  EXPECT_THAT(Found("writes behind workspace", "behind the end of workspace"),
              ElementsAre("out-of-bounds-write"));
  EXPECT_THAT(Found("reads behind x", "got no number"), ElementsAre("wrong-value"));
  EXPECT_THAT(Found("changes x", "x differs from byte 1"), ElementsAre("input-modified"));
  EXPECT_THAT(Found("changes w", "w differs from byte "), ElementsAre("input-modified"));
  EXPECT_THAT(Found("fails", "5000 CUDNN_STATUS_OTHER: words of the library"),
              ElementsAre("convolution-failed"));
  unsetenv("FAKE_CUDNN");
  ExpectPassed(Run());  // and none leaves a trace
}

TEST_F(ForwardTest, TransformsHaveABoundOfTheirOwn) {
  input_.params["algo"] = std::string("fft");
  setenv("FAKE_CUDNN", "slightly off", 1);
  ExpectPassed(Run());
  EXPECT_THAT(Found("far off", "allowed before rounding"), ElementsAre("wrong-value"));
}

TEST_F(ForwardTest, WhatIsNotOfferedIsSkippedInTheLibrarysWords) {
  input_.params["algo"] = std::string("gemm");
  const CheckReport report = Run();
  EXPECT_EQ(report.Verdict(), "skipped");
  ASSERT_THAT(report.skips, SizeIs(1));
  EXPECT_EQ(report.skips[0].kind, CCI_SKIP_UNSUPPORTED);
  EXPECT_THAT(report.skips[0].need, HasSubstr("algorithm gemm for float32 nchw"));
  EXPECT_THAT(report.skips[0].seen, HasSubstr("3000 CUDNN_STATUS_NOT_SUPPORTED: words of the library"));
  input_.params["algo"] = std::string("implicit_gemm");
  EXPECT_EQ(Run("unsupported").Verdict(), "skipped");
}

TEST_F(ForwardTest, TooLittleDeviceMemoryIsASkipOfItsOwnKind) {
  setenv("FAKE_FREE_BYTES", "200000000", 1);
  const CheckReport report = Run();
  ASSERT_THAT(report.skips, SizeIs(1));
  EXPECT_EQ(report.skips[0].kind, CCI_SKIP_MEMORY);
  EXPECT_THAT(report.skips[0].seen, HasSubstr("191 MiB free"));
}

TEST_F(ForwardTest, AShapeThatMakesNoSenseIsNamed) {
  input_.params["shape.w"] = List{8, 3, 30, 5};
  const CheckReport report = Run();
  EXPECT_THAT(report.uncaught, ElementsAre(HasSubstr("x=2x6x9x11 w=8x3x30x5")));
}

}  // namespace
}  // namespace cudnn_ci::testing
