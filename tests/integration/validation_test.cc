// Parameters that no machine could run: refused while planning, by the plugin that owns them, with the place
// in the matrix, whatever the command; and hooks that misbehave.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::Not;

class Validation : public testing::Test {
 protected:
  // The values of "by" stand in line 2.
  void Divide(const std::string& by, const std::string& how = "judge") {
    run_.Write("matrix.json",
               "{\"schema\":\"cudnn-ci/matrix/1\",\"name\":\"m\",\"checks\":[{\"check\":\"fixture.pass\"},\n"
               "{\"check\":\"fixture.divides\",\"params\":{\"n\":12,\"how\":\"" +
                   how + "\"},\"axes\":{\"by\":[" + by + "]}}]}");
  }
  GateRun run_;
};

constexpr const char* kFirst = "matrix.json:2:76: error: \"by\" of fixture.divides: 5 does not divide 12\n";
constexpr const char* kSecond = "matrix.json:2:78: error: \"by\" of fixture.divides: 7 does not divide 12\n";

TEST_F(Validation, EveryWayToPlanRefusesWhatIsImpossible) {
  Divide("4,5,7");
  const std::string matrix = run_.Path("matrix.json");
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"--dry-run"},
                                                    {"--stage", "static"},
                                                    {"--filter", "fixture.pass*"},
                                                    {"--shard", "1/5"}}) {
    const GateResult result = run_.Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr(kFirst));
    EXPECT_THAT(result.err, HasSubstr(kSecond));
    EXPECT_FALSE(run_.Exists("report/junit.xml"));
  }
  const GateResult list = run_.Command({"list", "--matrix", matrix});
  EXPECT_EQ(list.exit_code, 2);
  EXPECT_THAT(list.err, HasSubstr(kFirst));
  EXPECT_THAT(list.err, HasSubstr(kSecond));
}

TEST_F(Validation, WhatIsPossibleRuns) {
  Divide("4,6,12");
  const GateResult result = run_.Run();
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(result.Outcome("fixture.divides[by=6,how=judge,n=12]"), "passed");
}

TEST_F(Validation, AHookThatMisbehavesIsThePluginsFault) {
  for (const std::string how : {"crash", "throw", "expect"}) {
    Divide("4", how);
    const GateResult result = run_.Run();
    EXPECT_EQ(result.exit_code, 5) << how << result.out << result.err;
    EXPECT_EQ(result.Errors("plugin.load[file=fixture]"), "harness.plugin-load") << how;
    EXPECT_THAT(result.out, HasSubstr("how=" + how));
    EXPECT_EQ(result.Outcome("fixture.divides[by=4,how=" + how + ",n=12]"), "blocked");
  }
}

TEST_F(Validation, AHookThatHangsIsEnded) {
  Divide("4", "hang");
  const auto begin = std::chrono::steady_clock::now();
  const GateResult result = run_.Run({"--load-timeout", "1"});
  EXPECT_EQ(result.exit_code, 5) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("hung while it judged the parameters of fixture.divides"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_TRUE(run_.Left().empty());
}

TEST_F(Validation, ASignalEndsAHangingHook) {
  Divide("4", "hang");
  const pid_t pid = run_.Start({"--load-timeout", "600"});
  // Discovery takes milliseconds, the hook for ever: whenever the signal comes, the run must end by it.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  kill(pid, SIGTERM);
  EXPECT_EQ(run_.Wait(pid).exit_code, 143);
  EXPECT_TRUE(run_.Left().empty());
}

}  // namespace
}  // namespace cudnn_ci
