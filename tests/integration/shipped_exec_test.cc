// The exec plugin through the real gate: commands that pass, fail, crash, hang, flood and leave children.
#include <filesystem>
#include <fstream>

#include "shipped_test.h"
#include "small_group.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ExecRun : public ShippedTest {
 protected:
  ExecRun() { UseFakes({}); }

  // exec.run of a shell script; `rest` is more of its parameters.
  CheckOutcome Shell(const std::string& script, const std::string& rest = "", const std::string& entry = "") {
    return Check("exec.run", Named("\"argv\": " + json({"sh", "-c", script}).dump() + rest, entry));
  }
  static std::string Named(const std::string& params, const std::string& entry = "") {
    return R"("name": "mine", "params": {)" + params + "}" + entry;
  }
};

TEST_F(ExecRun, PassesUnderItsName) {
  const CheckOutcome r = Shell("echo 'GPU: yes'; exit 3", R"(, "exit_status": 3, "output": ["GPU: *"])");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out << r.gate.err;
  EXPECT_EQ(r.Outcome(), "passed");
  const std::string id = r.record["id"];
  EXPECT_THAT(id, AllOf(HasSubstr("name=mine"), Not(HasSubstr("argv")), Not(HasSubstr("GPU"))));
}

TEST_F(ExecRun, AnotherExitStatusIsTheImagesFaultWithTheLastLine) {
  const CheckOutcome r = Shell("echo first; echo 'no module named torch' >&2; exit 1");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("command-exit-status"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), Mentions("sh ended", "exit status 1", "expected 0", "no module named torch"));
  EXPECT_THAT(r.gate.junit, HasSubstr("first\nno module"));
}

TEST_F(ExecRun, ASecretThatIsNoUtf8IsMaskedAsAnyOther) {
  Set("APP_SECRET", "caf\xE9-and-a-long-word");
  const CheckOutcome r = Shell("echo $APP_SECRET; exit 1");
  EXPECT_THAT(r.gate.out + r.gate.junit + r.gate.report.dump(), Not(HasSubstr("-and-a-long-word")));
  EXPECT_THAT(r.gate.out, HasSubstr("[masked APP_SECRET]"));
}

TEST_F(ExecRun, SuccessIsNotEnoughWhereAFailureIsExpected) {
  EXPECT_THAT(Shell("exit 0", R"(, "exit_status": 3)").Slugs(), ElementsAre("command-exit-status"));
}

TEST_F(ExecRun, EachPatternMustMatchALineAsAWhole) {
  const std::string script = "echo 'cuDNN 9.14.0'; printf 'device: cuda\\r\\n'";
  EXPECT_EQ(Shell(script, R"(, "output": ["cuDNN 9.*", "device: cuda"])").Outcome(), "passed");
  const CheckOutcome r = Shell(script, R"(, "output": ["cuDNN 9.*", "uDNN 9*", "cuda"])");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("command-output", "command-output"));
  EXPECT_THAT(r.Detail(), Mentions("'uDNN 9*'", "last line: device: cuda"));
}

TEST_F(ExecRun, ACommandThatIsNotThereIsNamed) {
  const CheckOutcome r = Check("exec.run", Named(R"("argv": ["cudnn-ci-no-such-program", "-x"])"));
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("command-missing"));
  EXPECT_THAT(r.Detail(), Mentions("cudnn-ci-no-such-program", "PATH"));
  EXPECT_EQ(Check("exec.run", Named(R"("argv": ["/no/such/program"])")).Detail(),
            "/no/such/program: No such file or directory");
  gate().Write("data", "text");
  EXPECT_EQ(Check("exec.run", Named("\"argv\": [\"" + gate().Path("data") + "\"]")).Detail(),
            gate().Path("data") + ": Permission denied");
}

TEST_F(ExecRun, AProgramWithoutItsInterpreterIsMissingToo) {
  gate().Write("script", "#!/no/such/interpreter\n");
  fs::permissions(gate().Path("script"), fs::perms(0755));
  const CheckOutcome r =
      Check("exec.run", Named("\"argv\": [\"" + gate().Path("script") + R"("], "exit_status": 127)"));
  EXPECT_THAT(r.Slugs(), ElementsAre("command-missing"));
  EXPECT_EQ(r.Detail(), gate().Path("script") + ": No such file or directory");
}

// What a shell says of a program that it does not find is a failure like any other.
TEST_F(ExecRun, AShellThatFindsNoProgramIsAnExitStatus) {
  EXPECT_THAT(Shell("cudnn-ci-no-such-program").Slugs(), ElementsAre("command-exit-status"));
}

TEST_F(ExecRun, ACrashIsNamedByItsSignal) {
  const CheckOutcome r = Shell("echo before; kill -SEGV $$");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("command-killed"));
  EXPECT_THAT(r.Detail(), Mentions("sh", "signal 11 (Segmentation fault)", "last line: before"));
}

TEST_F(ExecRun, AHangIsEndedWithWhatItHadPrinted) {
  const CheckOutcome r = Shell("echo waiting; sleep 1000 & wait", R"(, "timeout_s": 0.5)");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("command-timed-out"));
  EXPECT_THAT(r.Detail(), Mentions("sh", "0.5 s", "last line: waiting"));
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

// Whoever was stopped measures no time. The entry's limit is the harness's and goes on.
TEST_F(ExecRun, APauseOfTheWorkerIsNoTimeOfTheCommand) {
  const std::string pause = "kill -STOP $PPID; sleep 3; kill -CONT $PPID; sleep ";
  EXPECT_EQ(Shell(pause + "0.2", R"(, "timeout_s": 2)").Outcome(), "passed");
  EXPECT_THAT(Shell(pause + "1000", R"(, "timeout_s": 2)").Slugs(), ElementsAre("command-timed-out"));
}

TEST_F(ExecRun, TheEntrysOwnTimeHoldsAsForEveryCheck) {
  const CheckOutcome r = Shell("sleep 1000", "", R"(, "timeout_s": 0.5)");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_NE(r.Outcome(), "passed");
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

TEST_F(ExecRun, AFloodCostsNoMemoryAndItsEndIsKept) {
  const std::string bytes = kSanitized ? "10000000" : "100000000";  // sanitized, it reads 2 MB a second
  const CheckOutcome r = Shell("yes | head -c " + bytes + "; echo the end; exit 1");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Detail(), Mentions("last line: the end"));
  if (!kSanitized) {
    EXPECT_LT(r.gate.max_rss_kib, 100 * 1024);
  }
}

TEST_F(ExecRun, WhatItLeavesIsKilledAndSaid) {
  // Out of the command's group for sure before that is killed.
  const std::string up = gate().Path("up");
  const CheckOutcome r =
      Shell("setsid sh -c ': > " + up + "; exec sleep 1000' >/dev/null 2>&1 & while ! test -e " + up +
            "; do sleep 0.01; done; exit 0");
  EXPECT_EQ(r.Outcome(), "passed");
  EXPECT_THAT(r.record["flags"], Contains("leaked"));
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

// Descriptor 3 is the worker's way to the harness.
TEST_F(ExecRun, TheHarnesssSocketIsNotTheCommands) {
  EXPECT_EQ(Shell("if (echo garbage >&3) 2>/dev/null; then exit 9; fi").Outcome(), "passed");
}

// ---- what the container is short of ----

constexpr char kEat[] = "import sys; print('eating', flush=True); x = b'x' * (1 << 30)";

TEST_F(ExecRun, ACommandThatTheKernelEndsForMemoryRanOutOfMemory) {
  const long mib = kSanitized ? 768 : 256;  // the harness has to fit in, too
  const SmallGroup group = SmallGroup::OfMemory(mib << 20);
  if (!group.why().empty()) GTEST_SKIP() << group.why();
  gate().Before(group.Words());
  for (const std::string& command :
       {std::string("exec "), std::string()}) {  // by a signal, by a shell's status
    const CheckOutcome r = Shell(command + CUDNN_CI_PYTHON " -c \"" + kEat + "\"; exit $?");
    EXPECT_EQ(r.gate.exit_code, 1) << r.gate.out;
    EXPECT_THAT(r.Slugs(), ElementsAre("out-of-memory"));
    EXPECT_EQ(r.Blame(), "image");
    EXPECT_THAT(r.Detail(), AllOf(testing::StartsWith("sh "),
                                  Mentions("1 process", "cgroup limit " + std::to_string(mib) + " MiB")));
    EXPECT_THAT(r.gate.out, Not(HasSubstr("truncated")));
  }
}

// A kill that the kernel's count does not explain is somebody's.
TEST_F(ExecRun, AKillIsNotTakenForWantOfMemory) {
  EXPECT_THAT(Shell("kill -KILL $$").Slugs(), ElementsAre("command-killed"));
}

TEST_F(ExecRun, WhatACommandSaysOfMemoryStandsWithTheNumbers) {
  const CheckOutcome r = Shell("ulimit -v 500000; " CUDNN_CI_PYTHON " -c \"" + std::string(kEat) + "\"");
  EXPECT_THAT(r.Slugs(), ElementsAre("command-exit-status"));
  EXPECT_THAT(r.Detail(),
              ContainsRegex("last line: MemoryError; .*\\(\"MemoryError\"\\).* [0-9]+ MiB .*\\("));
}

constexpr char kManyChildren[] = "i=0; while test $i -lt 300; do sleep 1000 & i=$((i+1)); done; wait";

TEST_F(ExecRun, TooManyProcessesOfACommandAreTheImages) {
  const CheckOutcome r = Shell(kManyChildren);
  EXPECT_EQ(r.gate.exit_code, 1) << r.gate.out;
  EXPECT_THAT(r.Slugs(), ElementsAre("process-limit"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_EQ(r.Detail(), "more than 256 descendants, most of them of the command sh");
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

TEST_F(ExecRun, ProcessesThatTheContainerRefusesAreTheRunners) {
  const SmallGroup group = SmallGroup::OfProcesses(40);
  if (!group.why().empty()) GTEST_SKIP() << group.why();
  gate().Before(group.Words());
  const CheckOutcome r = Check(
      "exec.run", Named("\"argv\": " +
                        json({CUDNN_CI_PYTHON, "-c",
                              "import subprocess\nfor i in range(100): subprocess.Popen(['sleep', '1000'])"})
                            .dump()));
  EXPECT_EQ(r.gate.exit_code, 3) << r.gate.out;
  EXPECT_THAT(r.Slugs(), ElementsAre("processes-refused"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("refused"), HasSubstr("cgroup allows 40 processes")));
}

// It may do without: what it then does is what counts.
TEST_F(ExecRun, ACommandThatLivesWithARefusalPasses) {
  const SmallGroup group = SmallGroup::OfProcesses(40);
  if (!group.why().empty()) GTEST_SKIP() << group.why();
  gate().Before(group.Words());
  const CheckOutcome r = Check(
      "exec.run",
      Named("\"argv\": " +
            json({CUDNN_CI_PYTHON, "-c",
                  "import subprocess\ntry:\n  for i in range(100): subprocess.Popen(['sleep', '1000'])\n"
                  "except BlockingIOError: pass"})
                .dump()));
  EXPECT_EQ(r.Outcome(), "passed") << r.gate.out;
}

TEST_F(ExecRun, SeesTheUsersEnvironment) {
  Set("FIXTURE_WORD", "hello");
  Set("CUDA_VISIBLE_DEVICES", "7");
  EXPECT_EQ(Shell("test \"$FIXTURE_WORD $CUDA_VISIBLE_DEVICES\" = 'hello 7'").Outcome(), "passed");
}

// The example of matrices/README.md.
TEST_F(ExecRun, TheDocumentedExampleRuns) {
  std::ifstream file(CUDNN_CI_SOURCE_DIR "/matrices/README.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t section = page.find("### Commands as checks"), begin = page.find("```json\n", section) + 8;
  ASSERT_NE(section, std::string::npos);
  gate().Write("example.json", page.substr(begin, page.find("```", begin) - begin));
  const GateResult r = gate().Command({"--matrix", gate().Path("example.json"), "--plugin-dir",
                                       CUDNN_CI_STAGE_PLUGINS, "--output-dir", gate().Path("example")});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_THAT(r.out, HasSubstr("[ PASSED ] exec.run[exit_status=0,name=tar_reads_zlib,"));
}

class ExecLibraries : public ExecRun {
 protected:
  ExecLibraries() { UseFakes({"cudnn"}); }
};

TEST_F(ExecLibraries, OfADescendantThatLoadsThemLateAreSeen) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's runtime must be the first library that is loaded";
  TakeCudnn();
  Set("LD_PRELOAD_OF_TEST", libraries() + "/libcudnn.so.9");
  const std::string script = "(LD_PRELOAD=$LD_PRELOAD_OF_TEST /bin/true); exit 5";
  const std::string status = R"(, "exit_status": 5)";
  EXPECT_EQ(Shell(script, status + R"(, "libraries": ["libcudnn.so.9", "libc.so.*"])").Outcome(), "passed");
  EXPECT_EQ(Shell(script, status + ", \"libraries\": [\"" + libraries() + "/libcudnn.so*\"]").Outcome(),
            "passed");
  const CheckOutcome r = Shell(script, status + R"(, "libraries": ["/opt/venv/*/libcudnn.so.9"])");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("command-library"));
  EXPECT_THAT(r.Detail(),
              Mentions("sh", "'/opt/venv/*/libcudnn.so.9'", "mapped: ", libraries() + "/libcudnn.so.9"));
}

TEST_F(ExecLibraries, ThatNobodyMapsAreNamed) {
  const CheckOutcome r = Shell("exit 0", R"(, "libraries": ["libcudnn.so.9"])");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("command-library"));
  EXPECT_THAT(r.Detail(), AllOf(Mentions("sh", "'libcudnn.so.9'"), Not(HasSubstr("mapped: "))));
}

// Looking changes nothing of how a command ends.
TEST_F(ExecLibraries, EndsAreAsWithout) {
  const std::string libraries = R"(, "libraries": ["libc.so.*"])";
  EXPECT_THAT(Shell("kill -SEGV $$", libraries).Detail(), Mentions("signal 11"));
  EXPECT_THAT(Shell("exit 7", libraries).Detail(), HasSubstr("exit status 7"));
  EXPECT_THAT(Check("exec.run", Named(R"("argv": ["/no/such/program"])" + libraries)).Slugs(),
              ElementsAre("command-missing"));
  EXPECT_THAT(Shell("sleep 1000", libraries + R"(, "timeout_s": 0.5)").Slugs(),
              ElementsAre("command-timed-out"));
  const std::string up = gate().Path("up");
  const CheckOutcome left =
      Shell("setsid sh -c ': > " + up + "; exec sleep 1000' >/dev/null 2>&1 & while ! test -e " + up +
                "; do sleep 0.01; done; exit 0",
            libraries);
  EXPECT_EQ(left.Outcome(), "passed");
  EXPECT_THAT(left.record["flags"], Contains("leaked"));
  EXPECT_EQ(Shell("(sleep 0.3; kill -CONT $$) & kill -STOP $$; exit 0", libraries).Outcome(), "passed");
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

// A seccomp filter that refuses ptrace: nobody can say what was mapped.
TEST_F(ExecLibraries, CannotBeJudgedWithoutPtrace) {
  gate().Before({CUDNN_CI_FIXTURES "/without", "ptrace"});
  const CheckOutcome r = Shell("exit 0", R"(, "libraries": ["libc.so.*"])");
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_EQ(r.Skip("seen"), "ptrace: Operation not permitted");
  EXPECT_EQ(Shell("exit 0").Outcome(), "passed");
}

// A system that refuses the signal, as for a program of another user: the limit holds all the same, and it is
// said; so does the gate's own end, which waits for nobody whom it cannot end.
TEST_F(ExecRun, ACommandThatCannotBeKilledEndsAtItsLimit) {
  gate().Before({CUDNN_CI_FIXTURES "/without", "kill"});
  const CheckOutcome r = Check("exec.run", Named(R"("argv": ["/bin/sleep", "25"], "timeout_s": 0.5)"));
  EXPECT_THAT(r.Slugs(), ElementsAre("command-timed-out"));
  EXPECT_THAT(r.Detail(), HasSubstr("Operation not permitted"));
}

struct Mistake {
  std::string params, said;
};

TEST_F(ExecRun, WhatNoMachineCouldRunIsAnErrorOfTheMatrix) {
  const std::string argv = R"("argv": ["/bin/true", "-x"])";
  for (const Mistake& m :
       std::vector<Mistake>{{R"("argv": [])", "\"argv\""},
                            {R"("argv": [""])", "\"argv\""},
                            {argv + R"(, "output": [""])", "\"output\""},
                            {argv + R"(, "output": ["a\nb"])", "\"output\""},
                            {argv + R"(, "libraries": [")" + std::string(1001, 'x') + "\"]", "1001 bytes"},
                            {argv + R"(, "timeout_s": 0)", "from 0.1 to 86400"},
                            {argv + R"(, "timeout_s": 1e-300)", "from 0.1 to 86400"},
                            {argv + R"(, "exit_status": 256)", "exit_status"}}) {
    const CheckOutcome r = Check("exec.run", Named(m.params));
    EXPECT_EQ(r.gate.exit_code, 2) << m.params;
    EXPECT_THAT(r.gate.err, AllOf(ContainsRegex("matrix.json:[0-9]+:[0-9]+: error: "), HasSubstr(m.said)));
    EXPECT_FALSE(gate().Exists("report/report.json"));
  }
}

TEST_F(ExecRun, ACommandWithoutANameIsToldToTakeOne) {
  const CheckOutcome r = Check("exec.run", R"("params": {"argv": ["/bin/true", "-x"]})");
  EXPECT_EQ(r.gate.exit_code, 2);
  EXPECT_THAT(r.gate.err, ContainsRegex("matrix.json:[0-9]+:[0-9]+: error: .*\"argv\".*\"name\""));
}

TEST_F(ExecRun, OnAGpuItSeesThatOneAlone) {
  UseFakes({"libcuda", "nvml"});
  const CheckOutcome r =
      Check("exec.run_on_gpu", Named(R"("argv": ["sh", "-c", "echo visible=$CUDA_VISIBLE_DEVICES"],
                                        "output": ["visible=GPU-*"])"));
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out << r.gate.err;
  EXPECT_EQ(r.Outcome(), "passed");
  UseFakes({});
  EXPECT_EQ(Check("exec.run_on_gpu", Named(R"("argv": ["/bin/true", "-x"])")).Outcome(), "blocked");
}

}  // namespace
}  // namespace cudnn_ci
