// Machines that refuse system calls by which cudnn-ci keeps processes apart and ends them: what could not be
// hidden, ended or bounded is said, and no run is green in silence.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "error runner.isolation-lost" of each finding about the run.
std::vector<std::string> AboutTheRun(const GateResult& result) {
  std::vector<std::string> said;
  for (const json& event : result.Events("Finding")) {
    const json& f = event["finding"];
    if (event.value("id", "").empty())
      said.push_back(f["severity"].get<std::string>() + " " + f["blame"].get<std::string>() + "." +
                     f["slug"].get<std::string>());
  }
  return said;
}

std::string DetailOf(const GateResult& result, const std::string& slug) {
  for (const json& event : result.Events("Finding"))
    if (event["finding"]["slug"] == slug) return event["finding"]["detail"];
  return "";
}

GateResult RunWithout(GateRun* run, const std::string& call, const std::string& checks) {
  run->Matrix(checks);
  run->Before({CUDNN_CI_FIXTURES "/without", call});
  return run->Run();
}

TEST(Refused, PrctlIsSaidAndNotGreen) {
  GateRun run;
  const GateResult result = RunWithout(&run, "prctl", Entry("fixture.pass"));
  EXPECT_EQ(result.exit_code, 3) << result.out << result.err;
  EXPECT_EQ(result.Outcome("fixture.pass[i=0]"), "passed");
  EXPECT_THAT(AboutTheRun(result),
              ElementsAre("error runner.isolation-lost", "warning runner.isolation-incomplete"));
  EXPECT_THAT(DetailOf(result, "isolation-incomplete"),
              AllOf(HasSubstr("PR_SET_CHILD_SUBREAPER"), HasSubstr("PR_SET_PDEATHSIG")));
  // In one place of each report.
  EXPECT_THAT(result.out, HasSubstr("runner.isolation-incomplete: "));
  EXPECT_THAT(result.report["findings"].dump(), HasSubstr("isolation-incomplete"));
  EXPECT_THAT(result.junit, HasSubstr("<property name=\"warning\" value=\"runner.isolation-incomplete: "));
}

// The guardian hears of nobody's death, and looks.
TEST(Refused, PrctlLeavesNothingAliveBehindAKilledGate) {
  GateRun run;
  run.Matrix(Entry("fixture.fork_many", R"("params": {"count": 3})"));
  run.Before({CUDNN_CI_FIXTURES "/without", "prctl"});
  const pid_t pid = run.Start();
  for (int i = 0; i < 1000 && run.Left().size() < 6; ++i) usleep(10'000);
  ASSERT_EQ(run.Left().size(), 6u);
  kill(pid, SIGKILL);
  run.Wait(pid);
  EXPECT_THAT(run.LeftAfter(30), IsEmpty());
}

// What was left is named, and the run does not wait for it.
TEST(Refused, KillIsSaidAndWhatStillRunsIsNamed) {
  GateRun run;
  const GateResult result =
      RunWithout(&run, "kill", Entry("fixture.accompanied", R"("params": {"what": "child"})"));
  EXPECT_THAT(AboutTheRun(result), AllOf(Contains("warning runner.isolation-incomplete"),
                                         Contains("warning image.process-not-ended")));
  EXPECT_THAT(DetailOf(result, "process-not-ended"), HasSubstr(strerror(EPERM)));
  EXPECT_FALSE(run.Left().empty()) << "nothing was left, so nothing is shown";
}

// Where a call cannot be made, the run does without it, or it is said, or it is red: it never passes in
// silence on what it did not see.
TEST(Refused, NoCallIsMissedInSilence) {
  const struct {
    const char *call, *check, *said;  // of a run that is green
    int exit_code;
  } rows[] = {{"close_range", "fixture.pass", "", 0},
              {"prlimit64", "fixture.pass", "", 0},
              {"rt_sigtimedwait", "fixture.pass", "", 0},
              {"signalfd4", "fixture.pass", "signalfd: Operation not permitted", 0},
              {"setsid", "fixture.pass", "", 3},
              {"wait4", "fixture.pass", "", 6},
              {"setpgid", "fixture.runs_child", "", 5}};
  for (const auto& row : rows) {
    GateRun run;
    const GateResult result = RunWithout(
        &run, row.call,
        Entry(row.check, row.check == std::string("fixture.pass") ? "" : R"("params": {"what": "true"})"));
    EXPECT_EQ(result.exit_code, row.exit_code) << row.call << result.out << result.err;
    EXPECT_THAT(DetailOf(result, "isolation-incomplete"), HasSubstr(row.said)) << row.call;
  }
}

// As su and sudo: who started it may not end it.
TEST(Refused, AProgramThatBecomesRootIsNamedAndNotWaitedFor) {
  if (const std::string why = WhyNoOtherUser(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  const std::string program = run.Path("becomes_root");
  std::filesystem::copy_file(CUDNN_CI_FIXTURES "/becomes_root", program);
  chmod(run.folder().c_str(), 0777);
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  const std::string user = "setpriv --reuid 65534 --regid 65534 --clear-groups ";
  if (const int status = system((user + program + " once").c_str());
      WIFEXITED(status) && WEXITSTATUS(status) == 9)
    GTEST_SKIP() << "set-user-ID has no effect here";
  run.Before({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"});
  run.Matrix(Entry("fixture.runs_child", R"("params": {"what": "becomes_root"})"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.Outcome("fixture.runs_child[what=becomes_root]"), "passed") << result.out;
  EXPECT_THAT(AboutTheRun(result), ElementsAre("warning image.process-not-ended"));
  EXPECT_THAT(DetailOf(result, "process-not-ended"),
              AllOf(HasSubstr("becomes_root"), HasSubstr("user 0"), HasSubstr(strerror(EPERM))));
  EXPECT_EQ(run.Left().size(), 1u) << "the run waited for it";
}

}  // namespace
}  // namespace cudnn_ci
