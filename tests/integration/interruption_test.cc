// Runs that are ended from outside: by signals, by limits, by a full disk. The reports stay whole or red.
#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "gate_run.h"
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

void Pause(double seconds) {
  const timespec t{static_cast<time_t>(seconds),
                   static_cast<long>((seconds - static_cast<int>(seconds)) * 1e9)};
  nanosleep(&t, nullptr);
}

std::string Numbers(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i ? ", " : "") + std::to_string(i);
  return "[" + list + "]";
}

const std::string kLong =
    Entry("fixture.pass", R"("axes": {"i": [1, 2, 3]})") + ", " +
    Entry("fixture.slow", R"("axes": {"i": [1, 2, 3, 4, 5, 6]}, "params": {"ms": 3000})");

// ---- stopped and continued ----

// Stops everything that the run has started, for a while, as a suspended machine or a frozen container does.
void StopForAWhile(const GateRun& run, double seconds) {
  const std::vector<pid_t> tree = run.Left();
  for (const pid_t pid : tree) kill(pid, SIGSTOP);
  Pause(seconds);
  for (const pid_t pid : tree) kill(pid, SIGCONT);
}

TEST(Stopped, ARunIsNotChargedForTheTimeInWhichNothingOfItRan) {
  GateRun run;
  run.Matrix(Entry("fixture.steady", R"("params": {"naps": 50})"), 3);  // takes 1 s
  const pid_t pid = run.Start();
  run.WaitForEvent("Step");
  StopForAWhile(run, 3.5);
  const GateResult result = run.Wait(pid);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("runner.run-paused: ")) << result.out;
  EXPECT_LT(result.Case("fixture.steady[naps=50]")["seconds"].get<double>(), 3);
}

TEST(Stopped, ACaseThatHangsTimesOutAfterThePauseToo) {
  GateRun run;
  run.Matrix(Entry("fixture.hang"), 3);
  const pid_t pid = run.Start();
  run.WaitForEvent("Step");
  StopForAWhile(run, 4);
  const GateResult result = run.Wait(pid);
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, testing::ContainsRegex("image.timed-out: [a-z ]*3.000 s")) << result.out;
}

// A stopped case in a run that is not is one that hangs.
TEST(Stopped, ACaseAloneIsCharged) {
  GateRun run;
  run.Matrix(Entry("fixture.steady"), 3);
  const pid_t pid = run.Start();
  run.WaitForEvent("Step");
  for (const pid_t worker : run.Left())
    if (worker != pid) kill(worker, SIGSTOP);
  const GateResult result = run.Wait(pid);
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("image.timed-out"));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("run-paused")));
}

// The job's clock went on: who gave the whole run a limit gets an end by then.
TEST(Stopped, ThePauseCountsTowardsTheTimeLimitOfTheWholeRun) {
  GateRun run;
  run.Matrix(Entry("fixture.steady", R"("params": {"naps": 500})"), 60);
  const pid_t pid = run.Start({"--time-limit", "5"});
  run.WaitForEvent("Step");
  StopForAWhile(run, 6);
  const GateResult result = run.Wait(pid);
  EXPECT_EQ(result.exit_code, 6) << result.out << result.err;
  EXPECT_EQ(result.report["root_cause"]["slug"], "time-limit");
}

class Signals : public testing::TestWithParam<int> {};

TEST_P(Signals, EndTheWorkersAndFinishEveryReport) {
  GateRun run;
  run.Matrix(kLong);
  const pid_t pid = run.Start({"--junit-profile", "strict"});
  run.WaitForEvent("AttemptStarted");
  kill(pid, GetParam());
  const GateResult result = run.Wait(pid);
  EXPECT_EQ(result.exit_code, 128 + GetParam());
  EXPECT_EQ(result.report["verdict"], "interrupted");
  EXPECT_EQ(result.report["cases"].size(), 9u);
  EXPECT_EQ(result.Events("RunFinished").size(), 1u);
  ExpectValidJunit(run.Path("report/junit.xml"));
  EXPECT_NE(result.junit.find("<error"), std::string::npos);
  EXPECT_THAT(run.LeftAfter(1), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(All, Signals, testing::Values(SIGINT, SIGTERM, SIGALRM), [](const auto& s) {
  return s.param == SIGINT ? "SIGINT" : s.param == SIGTERM ? "SIGTERM" : "SIGALRM";
});

TEST(Interruption, ASecondSignalKillsAtOnce) {
  GateRun run;
  run.Matrix(Entry("fixture.hang", R"("params": {"ignore_term": true})"), 100);
  const pid_t pid = run.Start({"--grace", "600"});
  run.WaitForEvent("Step");
  kill(pid, SIGINT);
  run.WaitForEvent("RunCancelled");
  kill(pid, SIGINT);
  const GateResult result = run.Wait(pid);  // ctest's limit is shorter than the grace
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.Events("RunFinished").size(), 1u);
  EXPECT_THAT(run.LeftAfter(1), IsEmpty());
}

TEST(Interruption, TheTimeLimitEndsTheRunUndetermined) {
  GateRun run;
  run.Matrix(kLong);
  const GateResult result = run.Run({"--time-limit", "3"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.report["root_cause"]["slug"], "time-limit");
  EXPECT_EQ(result.report["cases"].size(), 9u);
  // What is looked at after the last case has answered, though no time was left.
  for (const json& e : result.Events("Finding")) EXPECT_NE(e["finding"]["slug"], "subject-unreadable") << e;
}

TEST(Interruption, FailFastStartsNothingMoreAndReportsTheRestAsNotRun) {
  GateRun run;
  run.Matrix(Entry("fixture.fail") + ", " +
             Entry("fixture.pass", R"("axes": {"i": [1, 2, 3, 4, 5, 6, 7, 8]})"));
  const GateResult result = run.Run({"--fail-fast", "--jobs", "1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.report["root_cause"]["slug"], "expectation-failed");
  EXPECT_GE(result.report["totals"]["not_run"].get<int>(), 7);
  EXPECT_EQ(result.report["cases"].size(), 9u);
}

TEST(Interruption, FailFastGoesOnAfterAFailureThatDoesNotCloseTheGate) {
  GateRun run;
  run.Matrix(Entry("fixture.fail", R"("required": false)") + ", " +
                 Entry("fixture.fail", R"("params": {"i": 7})") + ", " +
                 Entry("fixture.pass", R"("axes": {"i": [1, 2, 3]})"),
             20,
             R"(, "waivers": [{"case": "fixture.fail[i=7]", "slug": "expectation-failed",
                 "reason": "known", "owner": "us", "expires": "2999-01-01"}])");
  const GateResult result = run.Run({"--fail-fast", "--jobs", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(result.report["totals"]["passed"], 3);
}

TEST(Interruption, ASignalEndsTheDiscoveryOfAPluginThatHangs) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/init_hang");
  run.Matrix(Entry("fixture.pass"));
  const pid_t pid = run.Start({"--load-timeout", "100"});
  Pause(0.5);
  kill(pid, SIGTERM);
  EXPECT_EQ(run.Wait(pid).exit_code, 143);  // ctest's limit is not much longer than the load timeout
  EXPECT_THAT(run.LeftAfter(1), IsEmpty());
}

TEST(Interruption, TheTimeLimitEndsADiscoveryThatHangs) {
  for (const char* plugin : {"/broken/facts_hang", "/broken/init_hang"}) {
    GateRun run;
    run.AddPlugins(std::string(CUDNN_CI_FIXTURES) + plugin);
    run.Matrix(Entry("fixture.pass"));
    // ctest's limit is shorter than these.
    run.Before({"timeout", "-s", "KILL", "40"});
    const GateResult result = run.Run({"--time-limit", "3", "--load-timeout", "100"});
    EXPECT_EQ(result.exit_code, 6) << result.out << result.err;
    EXPECT_EQ(result.report["root_cause"]["slug"], "time-limit") << plugin;
    EXPECT_EQ(result.report["root_cause"]["blame"], "undetermined") << plugin;
    EXPECT_THAT(result.junit, HasSubstr("time-limit"));
    EXPECT_THAT(run.LeftAfter(1), IsEmpty());
  }
}

// What has no report has no verdict either.
TEST(Interruption, ADryRunThatIsEndedSaysSoAndNothingElse) {
  GateRun run;
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/init_hang");
  run.Matrix(Entry("fixture.pass"));
  const pid_t pid = run.Start({"--load-timeout", "100", "--dry-run"});
  Pause(0.5);
  kill(pid, SIGTERM);
  const GateResult result = run.Wait(pid);
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(GateMessages(run).Row("SIGTERM", result.err), HasSubstr("interrupted"));
  EXPECT_FALSE(run.Exists("report/report.json"));
}

// One round: killed after `seconds`. True if a report was there.
bool Killed(double seconds) {
  GateRun run;
  run.Matrix(Entry("fixture.noop", R"("axes": {"i": [1, 2, 3, 4, 5]})") + ", " +
             Entry("fixture.slow", R"("axes": {"i": [1, 2, 3]}, "params": {"ms": 60})") + ", " +
             Entry("fixture.runs_child", R"("params": {"what": "sleep"})") + ", " +
             // Children that are no worker's any more: forked, in a session of their own, silent.
             Entry("fixture.accompanied", R"("axes": {"what": ["child", "daemon", "silent_daemon"]})") +
             ", " + Entry("fixture.hang"));
  std::filesystem::create_directory(run.Path("tmp"));
  run.Set("TMPDIR", run.Path("tmp"));
  const pid_t pid = run.Start({"--junit-profile", "strict"});
  Pause(seconds);
  kill(pid, SIGKILL);
  GateResult result = run.Wait(pid);
  // Nobody waits so long but on a machine that is overloaded: the guardian has to look at every process a few
  // times before it removes the folder.
  EXPECT_THAT(run.LeftAfter(30), IsEmpty()) << "killed after " << seconds;
  for (int i = 0; i < 3000 && !std::filesystem::is_empty(run.Path("tmp")); ++i) Pause(0.01);
  EXPECT_TRUE(std::filesystem::is_empty(run.Path("tmp"))) << "killed after " << seconds;
  if (!run.Exists("report/junit.xml")) {
    EXPECT_FALSE(run.Exists("report/report.json"));
    return false;
  }
  ExpectValidJunit(run.Path("report/junit.xml"));
  EXPECT_NE(result.junit.find("<error"), std::string::npos) << result.junit;
  if (result.Events("PlanEnd").empty()) return true;
  const GateResult rebuilt = run.Command({"report", "report/journal.jsonl", "--output-dir", "report"});
  EXPECT_NE(rebuilt.exit_code, 0);
  std::set<std::string> planned, reported;
  for (const json& e : result.Events("CasePlanned")) planned.insert(e["id"].get<std::string>());
  for (const json& c : rebuilt.report["cases"]) reported.insert(c["id"].get<std::string>());
  EXPECT_EQ(reported, planned);
  EXPECT_FALSE(rebuilt.report["complete"].get<bool>());
  return true;
}

TEST(Interruption, AfterSigkillTheReportIsRedOrAbsentAndNothingIsLeftAlive) {
  // Evenly over the run; CUDNN_CI_KILL_ROUNDS=500 looks closer.
  const char* wanted = getenv("CUDNN_CI_KILL_ROUNDS");
  const int rounds = wanted ? atoi(wanted) : 25;
  int reports = 0;
  for (int i = 0; i < rounds; ++i) reports += Killed(0.6 * i / rounds) ? 1 : 0;
  EXPECT_GT(reports, 0);
  RecordProperty("rounds", rounds);
  printf("%d rounds, %d with a report on disk\n", rounds, reports);
}

// Its scratch folder is made then, and whoever removes it is started.
TEST(Interruption, AfterSigkillInTheFirstMillisecondsNothingIsLeft) {
  constexpr int kRounds = 60;
  for (int i = 0; i < kRounds && !HasFailure(); ++i) Killed(12e-3 * i / kRounds);
}

// What a worker forks is hidden as the worker is: an ordinary user's guardian cannot read its environment.
TEST(Interruption, AfterSigkillAnOrdinaryUsersRunLeavesNothingHiddenAlive) {
  GateRun run;
  if (geteuid() == 0) {
    if (const std::string why = WhyNoOtherUser(); !why.empty()) GTEST_SKIP() << why;
    run.Before({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"});
    chmod(run.folder().c_str(), 0777);
  }
  run.Matrix(Entry("fixture.fork_many", R"("params": {"count": 3})"));
  const pid_t pid = run.Start();
  run.WaitForEvent("Step");
  Pause(0.3);
  if (geteuid() == 0) {  // harness, guardian, worker and what it forked, all of which root can see
    EXPECT_EQ(run.Left().size(), 6u);
  }
  kill(pid, SIGKILL);
  run.Wait(pid);
  EXPECT_THAT(run.LeftAfter(30), IsEmpty());
}

// A program of the image may stop whoever is to clean up.
TEST(Interruption, AfterSigkillAGuardianThatWasStoppedEndsWhatIsLeft) {
  GateRun run;
  std::filesystem::create_directory(run.Path("tmp"));
  run.Set("TMPDIR", run.Path("tmp"));
  run.Matrix(Entry("fixture.fork_many", R"("params": {"count": 3})"));
  const pid_t pid = run.Start();
  run.WaitForEvent("Step");
  Pause(0.3);
  int stopped = 0;
  for (const pid_t one : run.Left()) {
    std::ifstream file("/proc/" + std::to_string(one) + "/cmdline");
    const std::string arguments((std::istreambuf_iterator<char>(file)), {});
    if (arguments.find("--guard") != std::string::npos && kill(one, SIGSTOP) == 0) ++stopped;
  }
  ASSERT_EQ(stopped, 1);
  kill(pid, SIGKILL);
  run.Wait(pid);
  EXPECT_THAT(run.LeftAfter(30), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(run.Path("tmp")));
}

TEST(Reports, AreRebuiltFromTheJournalAsTheyWere) {
  GateRun run;
  run.Matrix(Entry("fixture.pass") + ", " + Entry("fixture.fail") + ", " + Entry("fixture.reports") + ", " +
             Entry("fixture.crash", R"("params": {"how": "segv"})"));
  const GateResult original = run.Run();
  const GateResult rebuilt = run.Command({"report", "report/journal.jsonl", "--output-dir", "again"});
  EXPECT_EQ(rebuilt.exit_code, original.exit_code);
  EXPECT_EQ(run.Read("again/report.json"), run.Read("report/report.json"));
  // But for the lines that say where the reports are.
  const auto without_paths = [](const std::string& text) {
    std::string kept;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.find("again/") == std::string::npos && line.find("report/j") == std::string::npos &&
          line.find("report/report.") == std::string::npos)
        kept += line + "\n";
    return kept;
  };
  EXPECT_TRUE(without_paths(run.Read("again/junit.xml")) == without_paths(run.Read("report/junit.xml")));
}

TEST(Reports, ThatCannotBeWrittenLeaveTheOthersIntact) {
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  run.Matrix(Entry("fixture.reports") + ", " +
             Entry("fixture.pass", R"("axes": {"i": )" + Numbers(100) + "}"));
  std::filesystem::create_directory(run.Path("small"));
  // Big enough for the probe and the first, empty report; full afterwards.
  const std::string script =
      "mount -t tmpfs -o size=16k none small && \"$@\"; code=$?; "
      "cp small/junit.xml junit.left 2>/dev/null; exit $code";
  run.Before({"unshare", "-m", "sh", "-c", script, "sh"});
  const GateResult result = run.Run({"--junit", "small/junit.xml", "--junit-profile", "strict"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err, HasSubstr("small/junit.xml: " + std::string(strerror(ENOSPC))));
  EXPECT_EQ(result.report["totals"]["passed"], 101);
  EXPECT_EQ(result.Events("RunFinished").size(), 1u);
  // What stays of the report is the one that was written before anything ran, or nothing.
  if (run.Exists("junit.left")) {
    ExpectValidJunit(run.Path("junit.left"));
    EXPECT_NE(run.Read("junit.left").find("<error"), std::string::npos);
  }
}

TEST(Reports, SurviveAClosedStandardOutput) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Before({"sh", "-c", "\"$@\" >/dev/full", "sh"});
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_EQ(result.report["totals"]["passed"], 1);
  EXPECT_NE(result.junit.find("fixture.pass"), std::string::npos);
}

}  // namespace
}  // namespace cudnn_ci
