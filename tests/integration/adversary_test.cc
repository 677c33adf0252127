// What somebody found who wanted the gate to be wrong: files destroyed, strangers killed, green without
// cause.
#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

TEST(Adversary, AReportReplacesNoSpecialFileAndNoInput) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  ASSERT_EQ(mkfifo(run.Path("pipe").c_str(), 0600), 0);
  const GateResult to_pipe = run.Run({"--json", run.Path("pipe")});
  EXPECT_EQ(to_pipe.exit_code, 2);
  EXPECT_THAT(to_pipe.err, HasSubstr("no regular file"));
  struct stat st {};
  ASSERT_EQ(stat(run.Path("pipe").c_str(), &st), 0);
  EXPECT_TRUE(S_ISFIFO(st.st_mode));

  const std::string matrix = run.Read("matrix.json");
  const GateResult to_matrix = run.Run({"--json", "matrix.json"});
  EXPECT_EQ(to_matrix.exit_code, 2);
  EXPECT_THAT(to_matrix.err, HasSubstr("would replace the input"));
  EXPECT_EQ(run.Read("matrix.json"), matrix);
}

TEST(Adversary, TwoRunsDoNotShareAFolder) {
  GateRun run;
  run.Matrix(Entry("fixture.slow", R"("params": {"ms": 1500})"));
  const pid_t first = run.Start();
  for (int i = 0; i < 400 && run.Read("report/journal.jsonl").empty(); ++i) usleep(5000);
  const GateResult second = run.Run();
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("another run"));
  EXPECT_EQ(run.Wait(first).exit_code, 0) << "the first run's reports are its own";
}

TEST(Adversary, AProcessThatWasThereBeforeLivesOn) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  // As an entrypoint does it: a service in the background, then the gate in its place.
  run.Before({"/bin/sh", "-c", "sleep 30 & echo $! > service; exec \"$@\"", "sh"});
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 0);
  const pid_t service = static_cast<pid_t>(atoi(run.Read("service").c_str()));
  ASSERT_GT(service, 0);
  EXPECT_EQ(kill(service, 0), 0) << "a process that the gate had not started was killed";
  kill(service, SIGKILL);
}

TEST(Adversary, ASubjectsFolderThatIsNotThereIsTheImagesFault) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"), 20, R"(, "subjects": {"vendored": "path:/nowhere/at/all"})");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.report["root_cause"]["slug"], "subject-missing");
}

TEST(Adversary, AnAllowedSkipOfAnotherKindThanUnsupportedKeepsTheGateOpen) {
  GateRun run;
  run.Matrix(Entry("fixture.pass") + ", " +
             Entry("fixture.skip", R"("params": {"kind": "memory"}, "allow_skip": ["memory"])"));
  EXPECT_EQ(run.Run().exit_code, 0);
}

TEST(Adversary, AJournalWithoutItsBeginningIsRefused) {
  GateRun run;
  run.Matrix(Entry("fixture.pass") + ", " + Entry("fixture.fail"));
  run.Run({"--filter", "fixture.pass*"});
  const std::string journal = run.Read("report/journal.jsonl");
  run.Write("cut.jsonl", journal.substr(journal.find('\n') + 1));
  EXPECT_EQ(run.Command({"report", "cut.jsonl", "--output-dir", "again"}).exit_code, 2);
}

TEST(Adversary, ACheckThatNeedsADeviceIsNotTheImagesFaultWithoutOne) {
  GateRun run;
  run.Matrix(Entry("fixture.gpu_shared"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.report["root_cause"]["slug"], "device-lost");
}

TEST(Adversary, SecondsAreFinite) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  for (const char* value : {"nan", "inf", "1e300", "-1", "0", "1s"})
    EXPECT_EQ(run.Run({"--grace", value}).exit_code, 2) << value;
}

}  // namespace
}  // namespace cudnn_ci
