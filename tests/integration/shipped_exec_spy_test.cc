// A program of the image that runs as the user of the gate, and tries to see into the gate's processes and to
// learn the word by which a forged report would be believed (tests/fixtures/spy.c).
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kToken[] = "0f1e2d3c4b5a69787766554433221100";

class ExecSpy : public ShippedTest {
 protected:
  void SetUp() override {
    UseFakes({});
    if (geteuid() != 0) return;
    // Root may look into everything.
    if (const std::string why = WhyNoOtherUser(); !why.empty()) GTEST_SKIP() << why;
    gate().Before({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"});
    chmod(gate().folder().c_str(), 0777);
  }
  // An entry that runs the program.
  std::string Spy() {
    const std::string token = kToken, nekot(token.rbegin(), token.rend());
    return Entry("exec.run", R"("name": "spy", "params": {"argv": [")" CUDNN_CI_FIXTURES R"(/spy", ")" +
                                 nekot + "\", \"" + gate().Path("report") +
                                 R"("], "output": ["spy: nothing"]})");
  }
  static std::string Fails() {
    return Entry("exec.run", R"("name": "fails", "params": {"argv": ["false"]})");
  }
  std::vector<std::string> WithToken() {
    gate().Write("word", std::string(kToken) + "\n");
    return {"--run-token", gate().Path("word")};
  }
};

TEST_F(ExecSpy, SeesNothingOfTheGatesProcessesAndOfTheToken) {
  const GateResult result = Run(Spy() + ", " + Fails(), WithToken());
  EXPECT_EQ(result.exit_code, 1) << result.out;
  ASSERT_EQ(result.report["totals"]["planned"], 2) << result.out << result.err;
  EXPECT_EQ(result.report["totals"]["passed"], 1) << result.out;
  EXPECT_THAT(result.out, Not(HasSubstr("spy: "))) << result.out;
}

TEST_F(ExecSpy, AProcessPerCaseHidesAsWell) {
  const GateResult result = Run(Spy(), {"--isolation", "process"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
}

// Whoever debugs with --isolation none wants to look into the worker; such a run is no verdict.
TEST_F(ExecSpy, SeesTheWorkerOfARunForADebugger) {
  const GateResult result = Run(Spy(), {"--isolation", "none"});
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(result.report.dump(), HasSubstr("mem cudnn-ci-worker"));
  EXPECT_THAT(result.report.dump(), Not(HasSubstr("mem cudnn-ci\\n")));
}

TEST_F(ExecSpy, TheTokenStandsAtTheEndOfTheRecordAloneAndItsFileIsGone) {
  const GateResult result =
      Run(Entry("exec.run", R"("name": "ok", "params": {"argv": ["true"]})"), WithToken());
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_FALSE(gate().Exists("word"));
  EXPECT_EQ(result.report["run"]["token"], kToken);
  EXPECT_THAT(result.junit, HasSubstr("<property name=\"run_token\" value=\"" + std::string(kToken)));
  EXPECT_EQ(result.journal.back()["token"], kToken);
  const std::string journal = gate().Read("report/journal.jsonl");
  const size_t last = journal.rfind('\n', journal.size() - 2);
  EXPECT_THAT(journal.substr(0, last), Not(HasSubstr(kToken)));
  EXPECT_EQ(result.journal[0]["token_sha256"],
            "71c6dabf6be1913cf3fe31871f69690ade6baa0867bf32cbfef5ac5e45c6056b");
}

}  // namespace
}  // namespace cudnn_ci
