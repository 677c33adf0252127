// Launches that are recorded instead of run, on a fake driver whose graphs hold names.
#include "common/launch_capture.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LaunchCaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(driver_.Load()) << driver_.error();
    ASSERT_EQ(driver_.StreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    record_ = reinterpret_cast<decltype(record_)>(dlsym(library, "FakeCudaRecord"));
    break_ = reinterpret_cast<decltype(break_)>(dlsym(library, "FakeCudaBreakRecording"));
    ASSERT_TRUE(record_ && break_);
  }
  void TearDown() override { unsetenv("FAKE_CUDA_FAULT"); }
  CapturedLaunches Launching(const std::vector<std::string>& kernels) {
    return CaptureLaunches(driver_, stream_, [&] {
      for (const std::string& kernel : kernels) record_(stream_, kernel.c_str());
      return true;
    });
  }

  DriverApi driver_;
  CUstream stream_ = nullptr;
  void (*record_)(void*, const char*) = nullptr;
  void (*break_)(void*) = nullptr;
};

TEST_F(LaunchCaptureTest, NamesEachKernelOnceInTheOrderOfLaunches) {
  const CapturedLaunches captured = Launching({"two", "memset", "one", "two", "late three"});
  EXPECT_TRUE(captured.tried && captured.whole && !captured.broken);
  EXPECT_THAT(captured.symbols, ElementsAre("two", "one", "three"));
  EXPECT_THAT(Launching({"four"}).symbols, ElementsAre("four")) << "of this recording alone";
}

TEST_F(LaunchCaptureTest, WhatHasKernelsOfItsOwnOrIsTooMuchIsNotWhole) {
  const CapturedLaunches nested = Launching({"one", "graph"});
  EXPECT_THAT(nested.symbols, ElementsAre("one"));
  EXPECT_FALSE(nested.whole || nested.broken);
  EXPECT_FALSE(Launching(std::vector<std::string>(70, "one")).whole);
}

TEST_F(LaunchCaptureTest, WhatIsNotAllowedEndsTheRecordingAndNothingElse) {
  const CapturedLaunches broken = CaptureLaunches(driver_, stream_, [&] { return break_(stream_), true; });
  EXPECT_TRUE(broken.tried && broken.broken);
  EXPECT_FALSE(broken.whole);
  EXPECT_THAT(broken.symbols, IsEmpty());
  const auto failing = [&] {
    record_(stream_, "one");
    return false;
  };
  EXPECT_TRUE(CaptureLaunches(driver_, stream_, failing).broken);
  const CapturedLaunches thrown =
      CaptureLaunches(driver_, stream_, []() -> bool { throw std::runtime_error("no"); });
  EXPECT_TRUE(thrown.broken);
  EXPECT_THAT(Launching({"one"}).symbols, ElementsAre("one")) << "every recording was ended";
}

TEST_F(LaunchCaptureTest, TheDefaultStreamIsNotRecorded) {
  bool launched = false;
  EXPECT_FALSE(CaptureLaunches(driver_, nullptr, [&] { return launched = true; }).tried);
  EXPECT_FALSE(launched);
}

TEST_F(LaunchCaptureTest, ACallThatFailsLeavesNamesOut) {
  for (const char* call : {"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphGetNodes",
                           "cuGraphNodeGetType", "cuGraphKernelNodeGetParams_v2", "cuFuncGetName"}) {
    setenv("FAKE_CUDA_FAULT", ("call:" + std::string(call) + ":0:999").c_str(), 1);
    const CapturedLaunches captured = Launching({"one"});
    EXPECT_THAT(captured.symbols, IsEmpty()) << call;
    EXPECT_FALSE(captured.whole) << call;
    unsetenv("FAKE_CUDA_FAULT");
    EXPECT_THAT(Launching({"one"}).symbols, ElementsAre("one")) << "after " << call;
  }
}

TEST_F(LaunchCaptureTest, ADriverWithoutNamesIsNotAsked) {
  DriverApi older;  // in which nothing is bound
  EXPECT_FALSE(CaptureLaunches(older, stream_, [] { return true; }).tried);
}

TEST(KernelNameTest, IsShortAndReadable) {
  EXPECT_EQ(KernelNameOf("sm80_xmma_fprop_implicit_gemm_f32"), "sm80_xmma_fprop_implicit_gemm_f32");
  EXPECT_EQ(KernelNameOf("_Z4gemmIfLi128EEviPKT_"), "gemm<float, 128>");
  EXPECT_EQ(KernelNameOf("_ZN5cudnn8winograd20winogradForwardData4IffEEvPT_"),
            "cudnn::winograd::winogradForwardData4<float, float>");
  EXPECT_EQ(KernelNameOf("_ZN12_GLOBAL__N_14gemmEPf"), "(anonymous namespace)::gemm");
  EXPECT_EQ(KernelNameOf("_Z"), "_Z") << "no mangled name";
  EXPECT_EQ(KernelNameOf(""), "");
  EXPECT_EQ(KernelNameOf(std::string(100000, 'k')).size(), 160u);
}

}  // namespace
}  // namespace cudnn_ci
