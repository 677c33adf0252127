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
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

TEST(Adversary, AReportReplacesNoSpecialFileAndNoInput) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  ASSERT_EQ(mkfifo(run.Path("pipe").c_str(), 0600), 0);
  const GateResult to_pipe = run.Run({"--json", run.Path("pipe")});
  EXPECT_EQ(to_pipe.exit_code, 2);
  EXPECT_THAT(to_pipe.err, HasSubstr(run.Path("pipe") + ": "));
  GateMessages golden(run);
  golden.Row("a FIFO", to_pipe.err);
  struct stat st {};
  ASSERT_EQ(stat(run.Path("pipe").c_str(), &st), 0);
  EXPECT_TRUE(S_ISFIFO(st.st_mode));

  const std::string matrix = run.Read("matrix.json");
  const GateResult to_matrix = run.Run({"--json", "matrix.json"});
  EXPECT_EQ(to_matrix.exit_code, 2);
  EXPECT_THAT(golden.Row("the matrix", to_matrix.err), HasSubstr("matrix.json"));
  EXPECT_EQ(run.Read("matrix.json"), matrix);
}

TEST(Adversary, AnInputOrAForeignFileIsNeverReplaced) {
  GateRun run;
  run.Write("parent.json",
            R"({"schema": "cudnn-ci/matrix/1", "name": "parent", "checks": [{"check": "fixture.pass"}]})");
  run.Write("matrix.json",
            R"({"schema": "cudnn-ci/matrix/1", "name": "test", "extends": "parent.json", "checks": []})");
  run.Write("report.xml", "somebody's report");
  std::filesystem::create_directory(run.Path("plugins"));
  std::filesystem::copy(CUDNN_CI_FIXTURES "/fixture", run.Path("plugins"));
  const std::string plugin = "plugins/fixture.cci.so";
  GateMessages golden(run);
  for (const std::string& victim : {std::string("parent.json"), std::string("report.xml"), plugin}) {
    const std::string before = run.Read(victim);
    ASSERT_FALSE(before.empty()) << victim;
    for (const char* option : {"--json", "--junit"}) {
      const GateResult result = run.Run({option, victim, "--plugin-dir", "plugins"});
      EXPECT_EQ(result.exit_code, 2) << victim;
      EXPECT_THAT(golden.Row(option + (" " + victim), result.err), HasSubstr(victim + ": "));
      EXPECT_TRUE(run.Read(victim) == before) << victim;
    }
  }
}

// One of the reports cannot be written: an earlier one beside it would be taken for this run's.
TEST(Adversary, AForeignFileUnderOneReportsNameLeavesNoOldOneUnderAnothers) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  ASSERT_EQ(run.Run().exit_code, 0);
  run.Write("report/report.json", "somebody's");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(GateMessages(run).Row("report.json", result.err), HasSubstr("report/report.json: "));
  EXPECT_EQ(run.Read("report/report.json"), "somebody's");
  EXPECT_FALSE(run.Exists("report/junit.xml"));
}

// A page of somebody's that has always lain there must not close the gate for a report nobody asked for.
TEST(Adversary, AForeignPageUnderTheNameOfReportHtmlStaysAndTheReportIsLeftOut) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  std::filesystem::create_directory(run.Path("report"));
  run.Write("report/report.html", "<p>somebody's</p>");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  GateMessages golden(run);
  EXPECT_THAT(golden.Row("a run", result.err), HasSubstr(" report/report.html "));
  EXPECT_THAT(result.out, Not(HasSubstr("report.html")));
  const GateResult again = run.Command({"report", "report/journal.jsonl"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(golden.Row("the report of a journal", again.err), HasSubstr(" report/report.html "));
  EXPECT_EQ(run.Run({"--html", "report/report.html"}).exit_code, 2) << "asked for";
  EXPECT_EQ(run.Read("report/report.html"), "<p>somebody's</p>");
}

TEST(Adversary, AForeignFileThatAppearsDuringTheRunIsNotReplaced) {
  GoldenMessages golden("gate.txt");
  for (const std::string name : {"report.json", "junit.xml"}) {
    GateRun run;
    run.Matrix(Entry("fixture.held"));
    const pid_t pid = run.Start();
    run.WaitForEvent("AttemptStarted");
    run.Write("theirs", "somebody's");
    std::filesystem::rename(run.Path("theirs"), run.Path("report/" + name));
    run.Release();
    const GateResult result = run.Wait(pid);
    EXPECT_EQ(result.exit_code, 5) << result.out;
    EXPECT_EQ(run.Read("report/" + name), "somebody's");
    EXPECT_THAT(result.err, HasSubstr("report/" + name + ": "));
    golden.Row(name, result.err);
    EXPECT_THAT(run.Read("report/" + std::string(name == "junit.xml" ? "report.json" : "junit.xml")),
                HasSubstr("report-not-written"));
  }
}

TEST(Adversary, AReportUnderTheNameOfALockIsRefusedAndTheLockStays) {
  GateRun run;
  run.Matrix(Entry("fixture.held"));
  const pid_t pid = run.Start();
  run.WaitForEvent("AttemptStarted");
  const std::string lock = "report/.junit.xml.cudnn-ci-lock";
  GateMessages golden(run);
  for (const char* option : {"--junit", "--json"}) {
    const GateResult result = run.Command({"--matrix", "matrix.json", option, lock});
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(golden.Row(option, result.err), HasSubstr(" " + lock + ": "));
    EXPECT_TRUE(run.Exists(lock));
    // A command line that cannot be parsed loses no lock either.
    EXPECT_EQ(run.Command({"--matrix", "matrix.json", option, lock, "--nonsense"}).exit_code, 2);
    EXPECT_TRUE(run.Exists(lock));
  }
  run.Release();
  EXPECT_EQ(run.Wait(pid).exit_code, 0);
  EXPECT_FALSE(run.Exists(lock));
}

TEST(Adversary, AnAttachmentReplacesNothingAndFollowsNoLink) {
  GateRun run;
  run.Matrix(Entry("fixture.reports"));
  std::filesystem::create_directories(run.Path("report/attachments"));
  run.Write("report/attachments/1-notes.txt", "somebody's");
  GateResult result = run.Run();
  EXPECT_EQ(run.Read("report/attachments/1-notes.txt"), "somebody's");
  EXPECT_THAT(result.report.dump(), HasSubstr("evidence-dropped"));

  std::filesystem::remove_all(run.Path("report"));
  std::filesystem::create_directories(run.Path("elsewhere"));
  std::filesystem::create_directories(run.Path("report"));
  std::filesystem::create_directory_symlink("../elsewhere", run.Path("report/attachments"));
  result = run.Run();
  EXPECT_TRUE(std::filesystem::is_empty(run.Path("elsewhere")));
  EXPECT_THAT(result.report.dump(), HasSubstr("evidence-dropped"));
}

TEST(Adversary, WhatLiesBesideTheReportsStays) {
  GateRun run;
  run.Matrix(Entry("fixture.reports"));
  ASSERT_EQ(run.Run().exit_code, 0);
  std::vector<std::string> attachments;
  for (const auto& entry : std::filesystem::directory_iterator(run.Path("report/attachments")))
    attachments.push_back("report/attachments/" + entry.path().filename().string());
  ASSERT_FALSE(attachments.empty());
  const std::vector<std::string> foreign = {"report/junit-2024.xml", "report/attachments/2024-results.csv",
                                            "report/notes.txt"};
  for (const std::string& name : foreign) run.Write(name, "somebody's");
  // A report of another run: only JUnit goes on in files of that kind of name.
  run.Write("report/report-2.json", "{\n \"schema\": \"cudnn-ci/report/1\"}");
  run.Matrix(Entry("fixture.pass"));
  ASSERT_EQ(run.Run().exit_code, 0);
  for (const std::string& name : foreign) EXPECT_EQ(run.Read(name), "somebody's") << name;
  EXPECT_TRUE(run.Exists("report/report-2.json"));
  for (const std::string& name : attachments)
    EXPECT_FALSE(run.Exists(name)) << name << " is of the run before";
}

TEST(Adversary, OneFileUnderTwoNamesIsOneFile) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  std::filesystem::create_directory(run.Path("o"));
  std::filesystem::create_directory_symlink(run.Path("o"), run.Path("link"));
  const std::vector<std::pair<std::string, std::string>> pairs = {{"o/r.xml", "./o/r.xml"},
                                                                  {"o/r.xml", "link/r.xml"},
                                                                  {"o/r.xml", "o/../o/r.xml"},
                                                                  {"o/r.xml", "link/r-2.xml"}};
  GateMessages golden(run);
  for (const auto& [junit, json] : pairs) {
    const GateResult result = run.Command({"--matrix", "matrix.json", "--junit", junit, "--json", json});
    EXPECT_EQ(result.exit_code, 2) << json;
    EXPECT_NE(golden.Row(junit + " and " + json, result.err), "");
  }
}

TEST(Adversary, TwoRunsDoNotShareAReportFile) {
  GateRun run;
  run.Matrix(Entry("fixture.held"));
  const pid_t first = run.Start({"--junit", "shared.xml"});
  run.WaitForEvent("AttemptStarted");
  const GateResult second = run.Command({"--matrix", "matrix.json", "--junit", "./shared.xml"});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(GateMessages(run).Row("--junit", second.err), HasSubstr(" ./shared.xml"));
  run.Release();
  EXPECT_EQ(run.Wait(first).exit_code, 0);
  EXPECT_THAT(run.Read("shared.xml"), HasSubstr("PASSED"));
  EXPECT_FALSE(run.Exists(".shared.xml.cudnn-ci-lock")) << "the lock went with the run";
}

TEST(Adversary, NoReportIsGreenBesideOneThatCouldNotBeWritten) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  std::filesystem::create_directory(run.Path("json"));
  // While the run goes on, a folder takes the place of report.json.
  run.Matrix(Entry("fixture.held"));
  const pid_t gate = run.Start({"--json", "json/report.json"});
  run.WaitForEvent("AttemptStarted");
  std::filesystem::create_directories(run.Path("json/report.json/inside"));
  run.Release();
  const GateResult result = run.Wait(gate);
  EXPECT_EQ(result.exit_code, 5) << result.out;
  EXPECT_THAT(result.junit, HasSubstr("report-not-written"));
  EXPECT_THAT(result.junit, HasSubstr("name=\"exit_code\" value=\"5\""));
  EXPECT_THAT(result.err, HasSubstr("json"));
  EXPECT_EQ(run.Command({"report", "report/journal.jsonl", "--output-dir", "again"}).exit_code, 5)
      << "the journal tells of it too";
}

TEST(Adversary, AClosedPipeBehindTheConsoleIsNoFailedReport) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Before({"/bin/sh", "-c", "{ \"$@\"; echo $? > code; } | true", "sh"});
  run.Run();
  EXPECT_EQ(run.Read("code"), "0\n");
  run.Before({"/bin/sh", "-c", "{ \"$@\"; echo $? > code; } | true", "sh"});
  EXPECT_EQ(run.Command({"list", "--matrix", "matrix.json"}).err, "");
  EXPECT_EQ(run.Read("code"), "0\n");
}

TEST(Adversary, AFullDiskBehindTheConsoleIsAFailedReportInEveryReport) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Before({"/bin/sh", "-c", "exec \"$@\" > /dev/full", "sh"});
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.junit, HasSubstr("report-not-written"));
  EXPECT_EQ(result.report["verdict"], "failed");
}

TEST(Adversary, TwoRunsDoNotShareAFolder) {
  GateRun run;
  run.Matrix(Entry("fixture.held"));
  const pid_t first = run.Start();
  run.WaitForEvent("AttemptStarted");
  const GateResult second = run.Run();
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("another run"));
  run.Release();
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
  EXPECT_EQ(result.report["root_cause"]["subject"], "vendored");
}

TEST(Adversary, ASubjectsFolderWithoutALibraryIsTheImagesFault) {
  GateRun run;
  std::filesystem::create_directory(run.Path("vendored"));
  run.Write("vendored/readme", "nothing here");
  run.Matrix(Entry("fixture.pass"), 20,
             R"(, "subjects": {"vendored": "path:)" + run.Path("vendored") + "\"}");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.report["root_cause"]["slug"], "subject-missing");
  run.Write("vendored/libcudnn.so.9", "a library");
  EXPECT_EQ(run.Run().exit_code, 0);
}

TEST(Adversary, AnAllowedSkipOfAnotherKindThanUnsupportedKeepsTheGateOpen) {
  GateRun run;
  run.Matrix(Entry("fixture.pass") + ", " +
             Entry("fixture.skip", R"("params": {"kind": "memory"}, "allow_skip": ["memory"])"));
  EXPECT_EQ(run.Run().exit_code, 0);
}

TEST(Adversary, AJournalWithNothingInItIsInvalidInput) {
  GateRun run;
  run.Write("empty.jsonl", "");
  const GateResult result = run.Command({"report", "empty.jsonl", "--output-dir", "again"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(GateMessages(run).Row("no byte", result.err), HasSubstr("empty.jsonl"));
}

// A step that uploads reports whatever happened would show green for a record that says something else.
TEST(Adversary, AJournalThatCannotBeReadLeavesNoReportsOfBefore) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  ASSERT_EQ(run.Run().exit_code, 0);
  const std::string journal = run.Read("report/journal.jsonl");
  run.Write("report/journal.jsonl", journal + journal);
  run.Write("report/mine.xml", "<mine/>");
  EXPECT_EQ(run.Command({"report", "report/jurnal.jsonl"}).exit_code, 2);
  EXPECT_TRUE(run.Exists("report/junit.xml")) << "a slip of the pen takes nothing away";
  EXPECT_EQ(run.Command({"report", "report/journal.jsonl"}).exit_code, 2);
  EXPECT_FALSE(run.Exists("report/junit.xml"));
  EXPECT_FALSE(run.Exists("report/report.json"));
  EXPECT_TRUE(run.Exists("report/mine.xml"));
  EXPECT_EQ(run.Read("report/journal.jsonl"), journal + journal);
}

TEST(Adversary, AJournalThatIsTakenAwayDuringTheRunIsARedRun) {
  GateRun run;
  run.Matrix(Entry("fixture.held"));
  const pid_t gate = run.Start();
  run.WaitForEvent("AttemptStarted");
  unlink(run.Path("report/journal.jsonl").c_str());
  run.Release();
  const GateResult result = run.Wait(gate);
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.report["root_cause"]["slug"], "report-not-written");
  const std::string detail = result.report["root_cause"]["detail"];
  EXPECT_THAT(GateMessages(run).Row("unlinked", detail), HasSubstr("report/journal.jsonl"));
  EXPECT_THAT(result.junit, HasSubstr(detail));
}

TEST(Adversary, AFifoInPlaceOfAJournalDoesNotHang) {
  GateRun run;
  ASSERT_EQ(mkfifo(run.Path("fifo").c_str(), 0600), 0);
  const GateResult result = run.Command({"report", "fifo"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(GateMessages(run).Row("report FIFO", result.err), HasSubstr(" fifo"));
}

TEST(Adversary, AsManyWaiversAsAMatrixMayHoldFitTheJournal) {
  GateRun run;
  std::string waivers;
  for (int i = 0; i < 1000; ++i)
    waivers += std::string(i ? "," : "") + R"({"case": "fixture.other)" + std::to_string(i) +
               R"(*", "slug": "crashed", "reason": ")" + std::string(160, 'r') +
               R"(", "owner": "ana", "expires": "2999-12-31"})";
  run.Matrix(Entry("fixture.pass"), 20, R"(, "waivers": [)" + waivers + "]");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(run.Command({"report", "report/journal.jsonl", "--output-dir", "again"}).exit_code, 0);
}

TEST(Adversary, ASignalEndsEveryCommandAtOnce) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"plugins"},
                                                    {"list", "--matrix", "matrix.json"},
                                                    {"facts"},
                                                    {"explain", "nothing"}}) {
    GateRun run;
    run.Matrix(Entry("fixture.pass"));
    run.AddPlugins(CUDNN_CI_FIXTURES "/broken/init_hang");
    const pid_t pid = run.StartCommand(arguments);
    usleep(300'000);
    kill(pid, SIGTERM);
    EXPECT_EQ(run.Wait(pid).exit_code, 143) << arguments[0];
    EXPECT_TRUE(run.LeftAfter(5).empty()) << arguments[0];
  }
}

TEST(Adversary, ASignalWhilePluginsAreDiscoveredEndsTheRunAndItsReports) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/init_hang");
  const pid_t pid = run.Start();
  for (int i = 0; i < 400 && !run.Exists("report/junit.xml"); ++i) usleep(5000);
  usleep(200'000);
  kill(pid, SIGTERM);
  const GateResult result = run.Wait(pid);
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_EQ(result.report["verdict"], "interrupted");
  EXPECT_THAT(result.junit, HasSubstr("interrupted"));
  EXPECT_TRUE(run.LeftAfter(5).empty());
}

TEST(Adversary, AnInterruptedRunIsRedEvenIfItOnlyReports) {
  GateRun run;
  run.Matrix(Entry("fixture.held"));
  const pid_t pid = run.Start({"--report-only"});
  run.WaitForEvent("AttemptStarted");
  kill(pid, SIGTERM);
  EXPECT_EQ(run.Wait(pid).exit_code, 143);
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
