// Every row of the misbehaviour table: whatever a check does to its process, it gets the verdict the table
// says, its neighbours keep theirs, the reports are whole, and nothing is left alive.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "gate_run.h"
#include "golden.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

struct Row {
  std::string name;    // of the test and its golden files
  std::string check;   // "crash"
  std::string params;  // {"how": "segv"}
  std::string id;      // the case's
  std::string outcome, errors;
  std::string detail;  // an argument of its first error, whose sentence stands in the golden run
  int exit_code = 1;
  double timeout_s = 20;
  bool leaks = false;
};

class Misbehaviour : public testing::TestWithParam<Row> {};

std::string FirstDetail(const json& c) {
  for (const json& f : c["findings"])
    if (f["severity"] == "error") return f["detail"];
  return "";
}

// Between two healthy neighbours, one in a process of its own and one in a shared one.
void Prepare(const GateRun& run, const Row& row) {
  run.Matrix(Entry("fixture.noop", R"("axes": {"i": [1, 2, 3]})") + ", " +
                 Entry("fixture." + row.check, "\"params\": " + row.params) + ", " + Entry("fixture.pass"),
             row.timeout_s);
}

void ExpectRow(const GateResult& result, const Row& row) {
  const std::string id = "fixture." + row.id;
  EXPECT_EQ(result.exit_code, row.exit_code) << result.err;
  EXPECT_EQ(result.Outcome(id), row.outcome);
  EXPECT_EQ(result.Errors(id), row.errors);
  EXPECT_THAT(FirstDetail(result.Case(id)), Mentions(row.detail));
  if (row.leaks) {
    EXPECT_THAT(result.Flags(id), Contains("leaked"));
  }
  for (const char* neighbour :
       {"fixture.noop[i=1]", "fixture.noop[i=2]", "fixture.noop[i=3]", "fixture.pass[i=0]"})
    EXPECT_EQ(result.Outcome(neighbour), "passed") << neighbour;
  EXPECT_TRUE(result.report["complete"].get<bool>());
}

// Takes the part of `text` between two marks out, both included, and puts `word` there; the part, or "".
std::string TakeOut(std::string* text, const std::string& begin, const std::string& end, const char* word) {
  const size_t from = text->find(begin);
  const size_t to = from == std::string::npos ? from : text->find(end, from + begin.size());
  if (to == std::string::npos) return "";
  std::string part = text->substr(from, to + end.size() - from);
  text->replace(from, part.size(), word);
  return part;
}

// The console and junit.xml in one golden file. What junit.xml repeats of the console's last screen stands as
// LAST SCREEN; its properties, alike in every row, have a golden file of their own.
void ExpectGoldenRun(const GateResult& result, const Row& row, const std::string& folder) {
  const std::string out = Normalised(result.out, folder);
  std::string junit = Normalised(result.junit, folder);
  const std::string screen = out.substr(out.find("\n\n") + 1);
  while (!TakeOut(&junit, screen, "", "LAST SCREEN").empty()) continue;
  std::string properties = TakeOut(&junit, "<properties>", "</properties>", "PROPERTIES");
  for (const char* of_the_row : {"verdict", "exit_code"})
    junit += TakeOut(&properties, "\n            <property name=\"" + std::string(of_the_row), "/>", "");
  TakeOut(&properties, "\n            <property name=\"warning\"", "/>", "");  // it stands on the screen
  ExpectGolden("misbehaviour_properties.xml", properties + "\n");
  ExpectGolden("misbehaviour/" + row.name + ".txt", out + "\njunit.xml:\n" + junit + "\n");
}

TEST_P(Misbehaviour, GoldenVerdictBesideHealthyNeighbours) {
  const Row& row = GetParam();
  GateRun run;
  Prepare(run, row);
  const GateResult result = run.Run({"--junit-profile", "strict", "--jobs", "1"});
  ExpectRow(result, row);
  EXPECT_THAT(run.LeftAfter(1), IsEmpty());
  ExpectValidJunit(run.Path("report/junit.xml"));
  ExpectGoldenRun(result, row, run.folder());
}

TEST_P(Misbehaviour, GetsTheSameVerdictInAProcessPerCase) {
  GateRun run;
  Prepare(run, GetParam());
  ExpectRow(run.Run({"--isolation", "process"}), GetParam());
  EXPECT_THAT(run.LeftAfter(1), IsEmpty());
}

const Row kRows[] = {
    {"segfault", "crash", R"({"how": "segv"})", "crash[how=segv]", "errored", "harness.crashed", "SIGSEGV",
     5},
    {"abort", "crash", R"({"how": "abort"})", "crash[how=abort]", "errored", "harness.crashed", "SIGABRT", 5},
    {"bus_error", "crash", R"({"how": "bus"})", "crash[how=bus]", "errored", "harness.crashed", "SIGBUS", 5},
    {"floating_point", "crash", R"({"how": "fpe"})", "crash[how=fpe]", "errored", "undetermined.crashed",
     "SIGFPE", 6},
    {"illegal_instruction", "crash", R"({"how": "ill"})", "crash[how=ill]", "errored", "harness.crashed",
     "SIGILL", 5},
    {"killed_from_outside", "crash", R"({"how": "kill"})", "crash[how=kill]", "errored",
     "undetermined.killed-from-outside", "SIGKILL", 6},
    {"exit_0_early", "crash", R"({"how": "exit0"})", "crash[how=exit0]", "errored", "harness.exited-early",
     "exit status 0", 5},
    {"exit_3_early", "crash", R"({"how": "exit3"})", "crash[how=exit3]", "errored", "harness.exited-early",
     "exit status 3", 5},
    {"crash_after_verdict", "crash_after", R"({"how": "segv"})", "crash_after[how=segv]", "errored",
     "undetermined.crashed", "SIGSEGV", 6},
    {"exit_3_after_verdict", "crash_after", R"({"how": "exit3"})", "crash_after[how=exit3]", "errored",
     "harness.exited-early", "exit status 3", 5},
    {"hang", "hang", R"({"ignore_term": false})", "hang[ignore_term=false]", "errored", "image.timed-out",
     "0.500 s", 1, 0.5},
    {"hang_ignoring_term", "hang", R"({"ignore_term": true})", "hang[ignore_term=true]", "errored",
     "image.timed-out", "0.500 s", 1, 0.5},
    {"flood", "flood", R"({"mib": 1024})", "flood[mib=1024]", "errored", "harness.output-limit", "64 MiB", 5},
    {"garbage", "garbage", R"({"how": "bytes"})", "garbage[how=bytes]", "errored",
     "harness.protocol-violation", "not JSON", 5},
    {"oversized_packet", "garbage", R"({"how": "big"})", "garbage[how=big]", "errored",
     "harness.protocol-violation", "65536", 5},
    {"stale_message", "garbage", R"({"how": "stale"})", "garbage[how=stale]", "errored",
     "harness.protocol-violation", "run 999", 5},
    {"foreign_message", "garbage", R"({"how": "discovery"})", "garbage[how=discovery]", "errored",
     "harness.protocol-violation", "discovery", 5},
    {"closed_socket", "garbage", R"({"how": "close"})", "garbage[how=close]", "errored",
     "harness.protocol-violation", "control socket", 5},
    {"child", "leave", R"({"what": "child"})", "leave[i=0,pass=true,what=child]", "passed", "", "", 0, 20,
     true},
    {"unsignalled_child", "leave", R"({"what": "unsignalled"})", "leave[i=0,pass=true,what=unsignalled]",
     "passed", "", "", 0, 20, true},
    {"daemon", "leave", R"({"what": "daemon"})", "leave[i=0,pass=true,what=daemon]", "passed", "", "", 0, 20,
     true},
    {"silent_daemon", "leave", R"({"what": "silent_daemon"})", "leave[i=0,pass=true,what=silent_daemon]",
     "passed", "", "", 0, 20, true},
    {"failed_and_left_a_daemon", "leave", R"({"what": "daemon", "pass": false})",
     "leave[i=0,pass=false,what=daemon]", "failed", "image.expectation-failed", "p.pass", 1, 20, true},
    {"too_many_processes", "fork_many", R"({"count": 300})", "fork_many[count=300]", "errored",
     "harness.process-limit", "256", 5},
    {"exception", "throws", R"({"what": "exception"})", "throws[what=exception]", "failed",
     "harness.uncaught-exception", "on purpose", 5},
    {"exception_that_is_none", "throws", R"({"what": "number"})", "throws[what=number]", "failed",
     "harness.uncaught-exception", "std::exception", 5},
};

INSTANTIATE_TEST_SUITE_P(Table, Misbehaviour, testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

TEST(MisbehaviourTest, WhatACheckSaidBeforeItCrashedIsKept) {
  GateRun run;
  run.Matrix(Entry("fixture.crash", R"("params": {"how": "segv"})"));
  const GateResult result = run.Run();
  const json c = result.Case("fixture.crash[how=segv]");
  EXPECT_EQ(c["measurements"][0]["name"], "said_before");
  EXPECT_EQ(c["steps"], json({"last words"}));
  EXPECT_THAT(result.junit, HasSubstr("printed before "));
}

// A check that takes the default action back, as the rows floating_point and crash_after_verdict do, tells
// nothing of its crash.
struct CrashRow {
  std::string name, how, library, errors;
  int exit_code;
  std::string place, frames;  // of the detail, and of the evidence
};

class Crashes : public testing::TestWithParam<CrashRow> {};

TEST_P(Crashes, SayWhereAndAreTheFaultOfWhoseCodeItWas) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer is in the frames";
  const CrashRow& row = GetParam();
  GateRun run;
  run.Set("FIXTURE_LIBRARY", CUDNN_CI_FIXTURES "/libraries/" + row.library);
  run.Matrix(Entry("fixture.calls", "\"params\": {\"how\": \"" + row.how + "\"}"));
  const GateResult result = run.Run();
  const std::string id = "fixture.calls[how=" + row.how + "]";
  EXPECT_EQ(result.exit_code, row.exit_code) << result.out;
  EXPECT_EQ(result.Errors(id), row.errors);
  EXPECT_THAT(FirstDetail(result.Case(id)), testing::ContainsRegex(row.place));
  const std::vector<json> finished = result.Events("AttemptFinished");
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_THAT(finished[0]["evidence"].get<std::string>(), testing::ContainsRegex(row.frames));
}

const CrashRow kCrashRows[] = {
    {"library", "library", "image/libfixture_image.so", "image.crashed", 1,
     "SIGSEGV .Segmentation fault.; in /.*/libfixture_image.so, FixtureLibraryCrash.0x",
     "SIGSEGV, code 1, address 0x0\n#0 /.*/libfixture_image.so.0x[0-9a-f]+ FixtureLibraryCrash.*\n#1 "
     "/.*/fixture.cci.so"},
    {"library_that_aborts", "library_abort", "image/libfixture_image.so", "image.crashed", 1,
     "SIGABRT .Aborted.; in /.*/libfixture_image.so, FixtureLibraryCrash", "#0 /.*libc"},
    {"thread", "thread", "image/libfixture_image.so", "image.crashed", 1, "in /.*/libfixture_image.so, ",
     "#0 /.*/libfixture_image.so"},
    {"thread_while_passing", "thread_while_passing", "image/libfixture_image.so", "image.crashed", 1,
     "SIGSEGV .Segmentation fault.; in /.*/libfixture_image.so, ", "#0 /.*/libfixture_image.so"},
    {"thread_at_exit", "thread_at_exit", "image/libfixture_image.so", "image.crashed", 1,
     "SIGSEGV .* verdict; in /.*/libfixture_image.so, ", "#0 /.*/libfixture_image.so"},
    {"driver", "library", "driver/libcuda.so.1", "undetermined.crashed", 6, "in /.*/driver/libcuda.so.1, ",
     "#0 /.*/libcuda.so.1"},
    {"compat_driver", "library", "compat/libcuda.so.1", "image.crashed", 1, "in /.*/compat/libcuda.so.1, ",
     "#0 /.*/libcuda.so.1"},
    {"null_function", "null_function", "", "harness.crashed", 5, "in /.*/fixture.cci.so",
     "#0 0x0\n#1 /.*/fixture.cci.so"},
    {"null_text", "null_text", "", "harness.crashed", 5, "in /.*/fixture.cci.so", "#0 /.*libc.*\n#1 /"},
    {"overflow", "overflow", "", "harness.crashed", 5, "in /.*/fixture.cci.so", "#31 /.*/fixture.cci.so"},
    {"broken_stack", "twice", "", "harness.crashed", 5, "in /.*/fixture.cci.so", "#0 /.*/fixture.cci.so"},
};

INSTANTIATE_TEST_SUITE_P(Table, Crashes, testing::ValuesIn(kCrashRows),
                         [](const auto& row) { return row.param.name; });

TEST(MisbehaviourTest, ALibraryWhoseEndIsMissingIsTheImagesFault) {
  GateRun run;
  const std::string cut = run.Path("libcut.so");
  std::filesystem::copy_file(CUDNN_CI_FIXTURES "/libraries/image/libfixture_image.so", cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 4);
  run.Set("FIXTURE_LIBRARY", cut);
  run.Matrix(Entry("fixture.calls", R"("params": {"how": "library"})"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(FirstDetail(result.Case("fixture.calls[how=library]")), HasSubstr(" page of " + cut + " "));
}

// The kernel does not write every path as it is.
TEST(MisbehaviourTest, ACrashInAPluginWithALineFeedInItsPathIsThePlugins) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer is in the frames";
  GateRun run;
  const std::string odd = run.Path("odd\n\\folder");
  std::filesystem::create_directory(odd);
  std::filesystem::copy(CUDNN_CI_FIXTURES "/fixture/fixture.cci.so", odd);
  run.WithoutFixture();
  run.AddPlugins(odd);
  run.Matrix(Entry("fixture.crash", R"("params": {"how": "segv"})"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5) << result.out << result.err;
  EXPECT_EQ(result.Errors("fixture.crash[how=segv]"), "harness.crashed");
}

// A crash of what a check has forked is the check's own business.
TEST(MisbehaviourTest, AChildThatCrashesIsNotTheWorker) {
  GateRun run;
  run.Matrix(Entry("fixture.calls", R"("params": {"how": "child"})"));
  EXPECT_EQ(run.Run().exit_code, 0);
}

TEST(MisbehaviourTest, AHangLeavesEvidenceOfWhereItHung) {
  GateRun run;
  run.Matrix(Entry("fixture.hang"), 0.4);
  const GateResult result = run.Run();
  const std::vector<json> finished = result.Events("AttemptFinished");
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_THAT(finished[0]["evidence"].get<std::string>(), HasSubstr("state S"));
  EXPECT_THAT(finished[0]["output"].get<std::string>(), HasSubstr("printed before "));
  EXPECT_EQ(result.Events("CaseSlow").size(), 1u);
}

// A plugin that waits may wait for the image, one that computes for ever does not.
TEST(MisbehaviourTest, AHangIsOfThePluginWhoseOwnCodeRuns) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer is in the frames";
  for (const auto& [how, errors, exit_code, place] :
       {std::tuple("hang", "harness.timed-out", 5, "#0 /.*/fixture.cci.so"),
        std::tuple("library_hang", "image.timed-out", 1,
                   "#0 /.*/libfixture_image.so.0x[0-9a-f]+ "
                   "FixtureLibraryCrash.*\n#1 /.*/fixture.cci.so")}) {
    GateRun run;
    run.Set("FIXTURE_LIBRARY", CUDNN_CI_FIXTURES "/libraries/image/libfixture_image.so");
    run.Matrix(Entry("fixture.calls", "\"params\": {\"how\": \"" + std::string(how) + "\"}"), 0.5);
    const GateResult result = run.Run();
    EXPECT_EQ(result.exit_code, exit_code) << result.out;
    EXPECT_EQ(result.Errors("fixture.calls[how=" + std::string(how) + "]"), errors);
    const std::vector<json> finished = result.Events("AttemptFinished");
    ASSERT_FALSE(finished.empty());
    EXPECT_THAT(finished[0]["evidence"].get<std::string>(), testing::ContainsRegex(place));
  }
}

// 2.5 s after SIGTERM are more than the default of 2 s.
TEST(MisbehaviourTest, AHangHasTheGraceThatWasAskedFor) {
  for (const char* grace : {"0.2", "60"}) {
    GateRun run;
    run.Matrix(Entry("fixture.slow_to_terminate"), 0.4);
    const GateResult result = run.Run({"--grace", grace});
    EXPECT_EQ(result.Outcome("fixture.slow_to_terminate[ms=2500]"), "errored");
    const bool in_order =
        result.Events("AttemptFinished").at(0).value("output", "").find("in order") != std::string::npos;
    EXPECT_EQ(in_order, std::string(grace) == "60") << grace;
  }
}

TEST(MisbehaviourTest, AFloodOfAGibibyteCostsTheHarnessNoMemory) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer keeps freed memory";
  GateRun run;
  run.Matrix(Entry("fixture.flood", R"("params": {"mib": 1024})"));
  EXPECT_LT(run.Run().max_rss_kib, 100 * 1024);
}

TEST(MisbehaviourTest, AFloodOfMessagesIsTakenAndCostsNoMemory) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer keeps freed memory";
  GateRun run;
  run.Matrix(Entry("fixture.garbage", R"("params": {"how": "flood"})"), 3);
  const GateResult result = run.Run();
  EXPECT_LT(result.max_rss_kib, 100 * 1024);
  EXPECT_EQ(result.Outcome("fixture.garbage[how=flood]"), "errored");
  EXPECT_LE(result.Case("fixture.garbage[how=flood]")["steps"].size(), 64u);
}

TEST(MisbehaviourTest, HostileTextReachesNoReportRaw) {
  GateRun run;
  run.Matrix(Entry("fixture.hostile"));
  const GateResult result = run.Run({"--junit-profile", "strict"});
  EXPECT_EQ(result.exit_code, 1);
  ExpectValidJunit(run.Path("report/junit.xml"));
  for (const std::string& text :
       {result.out, result.junit, run.Read("report/report.json"), run.Read("report/journal.jsonl")}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\0'), std::string::npos);
  }
  // A CI system takes a line of the log that begins so for a command.
  EXPECT_EQ(result.out.find("\n::"), std::string::npos);
  // Jenkins' attachment plugin publishes any file that a line of system-out names so.
  const size_t out = result.junit.rfind("<system-out>");
  ASSERT_NE(out, std::string::npos);
  EXPECT_EQ(result.junit.find("[[ATTACHMENT|/etc", out), std::string::npos);
}

TEST(MisbehaviourTest, ChildrenStartedThroughTheSdkAreWaitedForAndReported) {
  GateRun run;
  run.Matrix(Entry("fixture.runs_child",
                   R"("axes": {"what": ["true", "sleep", "crash", "flood", "ignored", "taken"]})"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(run.LeftAfter(1), IsEmpty());
}

// What a child has started ends with it, later: that is no leak.
TEST(MisbehaviourTest, AChildWhoseTimeIsOverIsWaitedForWithAllItHasStarted) {
  GateRun run;
  run.Matrix(Entry("fixture.runs_child", R"("params": {"what": "many"})"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.Outcome("fixture.runs_child[what=many]"), "passed") << result.out;
  EXPECT_THAT(result.Flags("fixture.runs_child[what=many]"), IsEmpty());
}

TEST(MisbehaviourTest, AChildThatLeavesAWriterBehindIsNotWaitedForForEver) {
  GateRun run;
  run.Matrix(Entry("fixture.runs_child", R"("params": {"what": "escaped"})"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.Outcome("fixture.runs_child[what=escaped]"), "passed") << result.out;
  EXPECT_THAT(result.Flags("fixture.runs_child[what=escaped]"), testing::Contains("leaked"));
  EXPECT_THAT(run.LeftAfter(1), IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
