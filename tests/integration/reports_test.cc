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
  EXPECT_EQ(run.Run({"--time-limit", "2"}).exit_code, 6);
  ExpectValid(run);
  const pid_t pid = run.Start();
  run.WaitForEvent("AttemptStarted");
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

// One image, by its digest, so that nothing is unknown about it.
const std::vector<std::string> kImage = {"--subject-image", "team/image@sha256:" + std::string(64, 'a')};

std::vector<std::string> Plus(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The folders of a whole run and of its four shards, merged: "'whole' 'merged'".
std::string WholeAndMerged(GateRun* run, const std::vector<std::string>& more) {
  const std::vector<std::string> arguments = Plus(kImage, more);
  const int exit_code = run->Run(arguments).exit_code;
  std::filesystem::rename(run->Path("report"), run->Path("whole"));
  std::vector<std::string> words = {"report", "--output-dir", "merged"};
  for (const char* number : {"3", "1", "4", "2"}) {
    run->Run(Plus(arguments, {"--shard", std::string(number) + "/4"}));
    const std::string folder = std::string("shard-") + number;
    std::filesystem::rename(run->Path("report"), run->Path(folder));
    words.push_back(folder + "/journal.jsonl");
  }
  const GateResult merged = run->Command(words);
  EXPECT_EQ(merged.exit_code, exit_code) << merged.err << merged.out;
  EXPECT_EQ(Ask("validate '" CUDNN_CI_SOURCE_DIR "/harness/report/schemas' '" + run->Path("merged") + "'"),
            0);
  return "'" + run->Path("whole") + "' '" + run->Path("merged") + "'";
}

TEST(Reports, AreTheSameOfARunAndOfItsShardsTogether) {
  GateRun run;
  run.Set("FIXTURE_STACK", "cudnn=fixture-image");
  run.Matrix(kOutcomes, 20, kWaivers);
  const std::string folders = WholeAndMerged(&run, {});
  EXPECT_EQ(Ask("same " + folders), 0);
  // The merged run has a record of its own, from which the same reports come again.
  const std::string before = run.Read("merged/report.json");
  run.Command({"report", "merged/journal.jsonl"});
  EXPECT_EQ(run.Read("merged/report.json"), before);
}

TEST(Reports, AreTheSameOfAGreenRunOnTwoDevicesAndOfItsShards) {
  GateRun run;
  run.UseFakeGpus(2);
  run.Matrix(Entry("fixture.pass", R"("axes": {"i": [1, 2, 3, 4, 5, 6, 7]})") + ", " +
             Entry("fixture.gpu_shared") + ", " + Entry("driver.canary"));
  EXPECT_EQ(Ask("same " + WholeAndMerged(&run, {"--device", "all"})), 0);
  EXPECT_EQ(json::parse(run.Read("merged/report.json"))["verdict"], "passed");
}

}  // namespace
}  // namespace cudnn_ci
