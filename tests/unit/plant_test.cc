// The library that self-test preloads, without the gate: what it changes, and that it changes nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "../install/command.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

class Plant : public testing::Test {
 protected:
  void SetUp() override {
    if (CUDNN_CI_SANITIZED) GTEST_SKIP() << "a sanitizer's runtime must be the first library that is loaded";
  }
  // The probe with "FAULT FUNCTION" planted; empty: nothing is.
  CommandResult Probe(const std::string& order, const std::string& arguments = "") const {
    const std::string variable = order.empty() ? "" : "CUDNN_CI_PLANT='" + order + " " + mark() + "' ";
    return RunCommand("LD_PRELOAD=" + Quoted(CUDNN_CI_PLANT) + " " + variable + "timeout 1 " +
                      Quoted(CUDNN_CI_PROBE) + arguments);
  }
  // The probe on a convolution.
  CommandResult Convolve(const std::string& order) const {
    return Probe(order, " " + Quoted(CUDNN_CI_PLANT_DRIVER) + " " + Quoted(CUDNN_CI_PLANT_FORWARD));
  }
  std::string mark() const { return scratch_.File("struck"); }
  bool Struck() const { return std::filesystem::exists(mark()); }

  Scratch scratch_;
};

constexpr char kUnchanged[] = "next=preloaded missing=null\ncos=1\n";

TEST_F(Plant, ChangesNothingWithoutAnOrder) {
  const CommandResult r = Probe("");
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.output, kUnchanged);
}

TEST_F(Plant, ChangesNoOtherFunction) {
  for (const char* order : {"crash cosh", "crash co", "hang sin", "wrong sin", "crash no_such_function",
                            "unknown cos", "crash"}) {
    const CommandResult r = Probe(order);
    EXPECT_EQ(r.status, 0) << order;
    EXPECT_EQ(r.output, kUnchanged) << order;
    EXPECT_FALSE(Struck()) << order;
  }
}

TEST_F(Plant, CrashesWhenTheFunctionIsCalled) {
  const CommandResult r = Probe("crash cos");
  EXPECT_EQ(WEXITSTATUS(r.status), 128 + SIGSEGV) << r.output;
  EXPECT_THAT(r.output, testing::StartsWith("next=preloaded missing=null\n"));
  EXPECT_TRUE(Struck());
}

// cuDNN's main library asks dlsym for a function of the same name, too, and is handed out the same one: what
// it does must be wrong by 1, not by as much as there are libraries between.
TEST_F(Plant, AConvolutionThatGoesThroughTwoLibrariesIsWrongOnce) {
  EXPECT_EQ(Convolve("").output, "first=5 other=5 again=5\n");
  EXPECT_FALSE(Struck());
  const CommandResult r = Convolve("wrong cudnnConvolutionForward");
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.output, "first=6 other=5 again=6\n") << "in the algorithm that was asked for first";
  EXPECT_EQ(std::filesystem::file_size(mark()), 2u) << "a byte each time";
}

TEST_F(Plant, HangsWhenTheFunctionIsCalled) {
  const CommandResult r = Probe("hang cos");
  EXPECT_EQ(WEXITSTATUS(r.status), 124) << r.output;
  EXPECT_TRUE(Struck());
}

}  // namespace
}  // namespace cudnn_ci
