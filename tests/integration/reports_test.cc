// The reports as other programs see them: valid against their schemas, and the same whenever plan and
// outcomes are.
#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

// Runs reports.py; what it says is left on stderr.
int Ask(const std::string& arguments) {
  const std::string command =
      "python3 -B '" CUDNN_CI_SOURCE_DIR "/tests/integration/reports.py' " + arguments;
  return WEXITSTATUS(system(command.c_str()));
}

void ExpectValid(const GateRun& run) {
  EXPECT_EQ(Ask("validate '" CUDNN_CI_SOURCE_DIR "/harness/report/schemas' '" + run.Path("report") + "'"), 0);
}

// Every way to end, but those that take time. Of one kind no more failures than are confirmed alone each.
const std::string kOutcomes =
    Entry("fixture.pass", R"("axes": {"i": [1, 2, 3]})") + ", " + Entry("fixture.fail") + ", " +
    Entry("fixture.skip", R"("params": {"kind": "memory"}, "allow_skip": ["memory"])") + ", " +
    Entry("fixture.skip", R"("params": {"kind": "absent"})") + ", " +
    Entry("fixture.crash", R"("params": {"how": "exit3"})") + ", " + Entry("fixture.throws") + ", " +
    Entry("fixture.reports") + ", " + Entry("fixture.warn") + ", " + Entry("fixture.nothing") + ", " +
    Entry("fixture.finding", R"("params": {"slug": "image"}, "required": false)") + ", " +
    Entry("fixture.fail_shared", R"("axes": {"i": [1, 2]})") + ", " +
    Entry("fixture.convolution", R"("axes": {"i": [1, 2, 3, 4]})");
const std::string kWaivers = R"(, "waivers": [
    {"case": "fixture.fail[*", "slug": "expectation-failed", "reason": "known", "owner": "me", "expires": "2999-01-01"},
    {"case": "fixture.nowhere", "slug": "crashed", "reason": "old", "owner": "me", "expires": "2020-01-01"}])";

TEST(Schemas, HoldForEveryOutcome) {
  GateRun run;
  run.Set("FIXTURE_STACK", "cudnn=fixture-image");
  run.Matrix(kOutcomes + ", " + Entry("fixture.hostile"), 20, kWaivers);
  const GateResult result = run.Run({"--retries", "1"});
  std::set<std::string> outcomes;
  for (const json& c : result.report["cases"]) outcomes.insert(c["outcome"]);
  EXPECT_THAT(outcomes, testing::UnorderedElementsAre("passed", "failed", "skipped", "blocked", "errored"));
  ExpectValid(run);
}

TEST(Schemas, HoldForAPassAndForEveryEndOfARun) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  EXPECT_EQ(run.Run().exit_code, 0);
  ExpectValid(run);
  EXPECT_EQ(run.Run({"--filter", "fixture.p*", "--report-only", "--shard", "1/1"}).exit_code, 0);
  ExpectValid(run);
  run.Matrix(Entry("fixture.fail") + ", " + Entry("fixture.slow", R"("params": {"ms": 100})"));
  EXPECT_EQ(run.Run({"--fail-fast", "--jobs", "1"}).exit_code, 1);
  ExpectValid(run);
  run.Matrix(Entry("fixture.slow", R"("params": {"ms": 9000})"));
  EXPECT_EQ(run.Run({"--time-limit", "0.5"}).exit_code, 6);
  ExpectValid(run);
  const pid_t pid = run.Start();
  for (int i = 0; i < 400 && run.Read("report/journal.jsonl").find("AttemptStarted") == std::string::npos;
       ++i)
    usleep(5000);
  kill(pid, SIGTERM);
  EXPECT_EQ(run.Wait(pid).exit_code, 143);
  ExpectValid(run);
}

TEST(Schemas, HoldForFakeDevicesAndReportsMadeAgain) {
  GateRun run;
  run.UseFakeGpus(2);
  run.Matrix(Entry("fixture.gpu_shared"));
  run.Run({"--device", "all"});
  ExpectValid(run);
  const std::string before = run.Read("report/report.json");
  run.Command({"report", "report/journal.jsonl"});
  EXPECT_EQ(run.Read("report/report.json"), before) << "the journal holds all that a report says";
  ExpectValid(run);
}

TEST(Reports, AMeasurementThatIsNoNumberIsNoZero) {
  GateRun run;
  run.Matrix(Entry("fixture.reports"));
  const GateResult result = run.Run();
  const json reports = result.Case("fixture.reports");
  for (const json& m : reports["measurements"]) {
    if (m["name"] != "not_a_number") continue;
    EXPECT_TRUE(m["value"].is_null());
    EXPECT_EQ(m["text"], "nan");
    return;
  }
  ADD_FAILURE() << "the measurement is not there";
}

TEST(Reports, AreTheSameForTheSamePlanAndOutcomes) {
  GateRun run;
  run.Set("FIXTURE_STACK", "cudnn=fixture-image");
  run.Matrix(kOutcomes, 20, kWaivers);
  std::string folders;
  int number = 0;
  for (const char* jobs : {"1", "1", "2", "7", "7", "16"}) {
    run.Run({"--jobs", jobs});
    const std::string kept = run.Path("kept" + std::to_string(++number));
    std::filesystem::rename(run.Path("report"), kept);
    folders += " '" + kept + "'";
  }
  EXPECT_EQ(Ask("same" + folders), 0);
}

}  // namespace
}  // namespace cudnn_ci
