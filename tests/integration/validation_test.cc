// Parameters that no machine could run: refused while planning, by the plugin that owns them, with the place
// in the matrix, whatever the command; and hooks that misbehave.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

#include "gate_run.h"
#include "golden_messages.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

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
  EXPECT_THAT(result.out, testing::ContainsRegex("hung [a-z ]*fixture\\.divides"));
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

// Whatever a hook does: not green, not stuck, not the image's fault.
struct Hook {
  const char* how;
  int exit_code;
  const char* words;  // on stdout or stderr; of exit 5 the detail stands in a golden
};

class Hooks : public testing::TestWithParam<Hook> {};

TEST_P(Hooks, ThatMisbehaveAreNamedForIt) {
  const Hook& hook = GetParam();
  const std::string how = hook.how;
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/raw");
  run.Matrix(Entry("fixture.pass") + ", " +
             Entry("raw.judged", std::string(R"("params": {"how": ")") + hook.how + "\"}"));
  const auto begin = std::chrono::steady_clock::now();
  const GateResult result =
      run.Run({"--load-timeout", how == "stop" ? "2" : "50", "--filter", "fixture.*:raw.judged*"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120));
  EXPECT_EQ(result.exit_code, hook.exit_code) << result.out << result.err;
  EXPECT_THAT(result.out + result.err, HasSubstr(hook.words));
  if (hook.exit_code == 5) {
    EXPECT_EQ(result.Errors("plugin.load[file=raw]"), "harness.plugin-load") << result.out;
    EXPECT_EQ(result.Outcome("fixture.pass[i=0]"), "passed");
    const json c = result.Case("plugin.load[file=raw]");
    ASSERT_FALSE(c.is_null());
    const std::string detail = c["findings"][0]["detail"];
    EXPECT_THAT(detail, HasSubstr(hook.words));
    if (how != "close") {  // it ends before or after the harness sees the closed socket
      GoldenMessages golden("hooks.txt", {{CUDNN_CI_FIXTURES, "FIXTURES"}});
      golden.Row(how, detail.substr(0, detail.find(" (it printed: ")));
    }
  }
  EXPECT_TRUE(run.LeftAfter(2).empty());
}

const Hook kHooks[] = {
    {"exit", 5, ""},
    {"exit_later", 5, ""},
    {"kill", 5, ""},
    {"stop", 5, ""},
    {"throw", 5, ""},
    {"close", 5, "raw.judged[how=close]"},
    {"close_and_stay", 5, ""},
    {"fork", 5, ""},
    {"daemon", 5, ""},
    {"finding", 5, ""},
    {"skip", 5, ""},
    {"expect", 5, ""},
    {"poison", 5, ""},
    {"attach", 5, ""},
    {"forge", 5, ""},
    {"print", 5, ""},
    {"complain", 2, "of raw.judged: 0\n"},
    {"large", 2, "xxx"},
    {"bytes", 2, "not text"},
    {"unknown", 2, "\"nowhere.at.all\""},
    {"terminate_parent", 143, ""},
};
INSTANTIATE_TEST_SUITE_P(All, Hooks, testing::ValuesIn(kHooks),
                         [](const auto& hook) { return std::string(hook.param.how); });

}  // namespace
}  // namespace cudnn_ci
