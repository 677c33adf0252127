// What a run inherits or finds in a bare root filesystem: none of it may turn it green, hang it or kill it,
// and what cannot be done without is named.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <tuple>

#include "gate_run.h"
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

// Runs one healthy case below a shell that has prepared something.
GateResult RunBelow(GateRun* run, const std::string& preparation) {
  run->Matrix(Entry("fixture.pass"));
  run->Before({"bash", "-c", preparation + " && exec \"$@\"", "bash"});
  return run->Run();
}
// The same, in mounts of its own.
GateResult RunMounted(GateRun* run, const std::string& preparation) {
  run->Matrix(Entry("fixture.pass"));
  run->Before({"unshare", "-m", "bash", "-c", preparation + " && exec \"$@\"", "bash"});
  return run->Run();
}

// One finding about the run, and nothing else: no case for each plugin.
void ExpectOneFinding(const GateResult& result, const std::string& name, int exit_code) {
  EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
  ASSERT_FALSE(result.report.is_null()) << result.err;
  const json& root = result.report["root_cause"];
  EXPECT_EQ(root["blame"].get<std::string>() + "." + root["slug"].get<std::string>(), name) << root;
  EXPECT_TRUE(result.report["cases"].empty()) << result.report["cases"];
  EXPECT_TRUE(result.Events("WorkerStarted").empty());
  EXPECT_THAT(result.junit, ContainsRegex("<(error|failure)"));
}

TEST(Loader, WordsOfACLibraryThatIsNoneAreTheImagesFault) {
  if (kSanitized) GTEST_SKIP() << "a sanitized cudnn-ci is linked dynamically";
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  run.AddPlugins(CUDNN_CI_STAGE_PLUGINS);
  const GateResult result =
      RunMounted(&run,
                 "mount --bind /dev/null \"$(ldconfig -p | sed -n 's/.*libc.so.6 .*x86-64.* => //p' | "
                 "head -1)\"");
  ExpectOneFinding(result, "image.libc-unfit", 1);
  EXPECT_THAT(result.out, HasSubstr("libc.so.6: "));
  EXPECT_THAT(result.out, testing::Not(HasSubstr(" bug")));
}

TEST(Loader, VariablesWithWhichNoProgramRunsAreTakenOutAndNamed) {
  if (kSanitized) GTEST_SKIP() << "a sanitized cudnn-ci is linked dynamically";
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"LD_TRACE_LOADED_OBJECTS", "1"}, {"LD_VERIFY", "1"}, {"LD_DEBUG", "help"}}) {
    GateRun run;
    run.Matrix(Entry("fixture.pass"));
    run.Set(name, value);
    const GateResult result = run.Run();
    EXPECT_EQ(result.exit_code, 0) << name << result.out << result.err;
    EXPECT_THAT(result.report["warnings"].dump(), HasSubstr(name));
  }
  GateRun harmless;
  harmless.Matrix(Entry("fixture.pass"));
  harmless.Set("LD_BIND_NOW", "1");
  EXPECT_TRUE(harmless.Run().report["warnings"].empty());
}

TEST(Loader, ThatIsMissingIsNamedOnce) {
  if (kSanitized) GTEST_SKIP() << "a sanitized cudnn-ci is linked dynamically";
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  const std::string empty = "mount -t tmpfs none \"$(readlink -f /lib64)\"";
  for (const auto& [more, words] : std::vector<std::pair<std::string, std::string>>{
           {"", " /lib64/ld-linux-x86-64.so.2,"},
           {" && : > /lib64/ld-musl-x86_64.so.1", "/lib64/ld-musl-x86_64.so.1 (musl"}}) {
    GateRun run;
    run.AddPlugins(CUDNN_CI_STAGE_PLUGINS);
    const GateResult result = RunMounted(&run, empty + more);
    ExpectOneFinding(result, "image.loader-missing", 1);
    EXPECT_THAT(result.report["root_cause"]["detail"].get<std::string>(), HasSubstr(words));
    EXPECT_THAT(result.out, testing::Not(HasSubstr(" bug")));
  }
}

TEST(Loader, ThatIsMissingIsSaidWhereThereIsNoReport) {
  if (kSanitized) GTEST_SKIP() << "a sanitized cudnn-ci is linked dynamically";
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Before({"unshare", "-m", "bash", "-c", "mount -t tmpfs none \"$(readlink -f /lib64)\" && exec \"$@\"",
              "bash"});
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--matrix", "matrix.json", "--dry-run"},
        {"--auto"},
        {"list", "--matrix", "matrix.json"},
        {"init", "-"}}) {
    const GateResult result = run.Command(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.err, HasSubstr(" no /lib64/ld-linux-x86-64.so.2,"));
  }
}

TEST(Loader, ThatIsMissingIsOneLineOfTheFacts) {
  if (kSanitized) GTEST_SKIP() << "a sanitized cudnn-ci is linked dynamically";
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  run.AddPlugins(CUDNN_CI_STAGE_PLUGINS);
  run.Before({"unshare", "-m", "bash", "-c", "mount -t tmpfs none \"$(readlink -f /lib64)\" && exec \"$@\"",
              "bash"});
  const GateResult result = run.Command({"facts", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json facts = json::parse(result.out);
  std::vector<std::string> found;
  for (const std::string text : facts["unknown"]) {
    EXPECT_THAT(text, testing::Not(HasSubstr(" loaded:")));
    if (text.find(" /lib64/ld-linux-x86-64.so.2,") != std::string::npos) found.push_back(text);
  }
  EXPECT_EQ(found.size(), 1u) << result.out;
}

// ld.so would wait in every worker, and in the guardian that is to end them.
TEST(Loader, AFifoThatItWaitsForIsTheImagesFaultAndStartsNothing) {
  if (kSanitized) GTEST_SKIP() << "a sanitized cudnn-ci is linked dynamically";
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  const GateResult result = RunMounted(
      &run, "mkfifo " + run.Path("fifo") + " && mount --bind " + run.Path("fifo") + " /etc/ld.so.cache");
  ExpectOneFinding(result, "image.libc-unfit", 1);
  EXPECT_THAT(result.out, HasSubstr(" /etc/ld.so.cache is a FIFO"));
}

// ---- what is inherited ----

TEST(Inherited, AnIgnoredSigchldHangsNothing) {
  GateRun run;
  const GateResult result = RunBelow(&run, "trap '' CHLD TERM INT USR1 ALRM");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(Inherited, SignalsThatAreIgnoredOrBlockedStillEndARun) {
  GateRun run;
  run.Matrix(Entry("fixture.hang"), 60);
  run.Before({"python3", "-c",
              "import os, signal, sys\n"
              "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
              "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
              "os.execv(sys.argv[1], sys.argv[1:])"});
  const pid_t pid = run.Start();
  run.WaitForEvent("AttemptStarted");
  kill(pid, SIGTERM);
  EXPECT_EQ(run.Wait(pid).exit_code, 143);
}

TEST(Inherited, AUmaskThatForbidsEverythingLeavesReportsOursToRead) {
  GateRun run;
  EXPECT_EQ(RunBelow(&run, "umask 0777").exit_code, 0);
  struct stat st {};
  ASSERT_EQ(stat(run.Path("report/junit.xml").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
}

TEST(Inherited, AUmaskThatAllowsEverythingLetsNobodyElseWriteReports) {
  GateRun run;
  EXPECT_EQ(RunBelow(&run, "umask 0").exit_code, 0);
  struct stat st {};
  ASSERT_EQ(stat(run.Path("report/junit.xml").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0644u);
}

TEST(Inherited, ClosedDescriptorsAreNotWrittenInto) {
  GateRun run;
  const GateResult result = RunBelow(&run, "exec 0<&- 1>&- 2>&-");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.Outcome("fixture.pass[i=0]"), "passed");
}

TEST(Inherited, AReportForAClosedStandardOutputIsLostAndSaidSo) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Before({"bash", "-c", "exec 1>&- && exec \"$@\"", "bash"});
  const GateResult result = run.Command({"--matrix", run.Path("matrix.json"), "--junit", "-"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err, HasSubstr(" closed"));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("verdict: passed")));
  GateMessages(run).Row("--junit -", result.err.substr(result.err.rfind("cudnn-ci: ")));
}

TEST(Inherited, ASmallStackIsRaisedOrEnough) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's frames are larger";
  GateRun soft;
  EXPECT_EQ(RunBelow(&soft, "ulimit -Ss 64").exit_code, 0);
}

// Runs one healthy case below a hard limit, without the right to raise it.
GateResult RunLimited(GateRun* run, const std::string& limit) {
  std::string drop;
  if (geteuid() == 0) {
    chmod(run->folder().c_str(), 0777);
    drop = "setpriv --bounding-set -sys_resource --inh-caps -sys_resource --reuid 65534 --clear-groups ";
  }
  run->Matrix(Entry("fixture.pass"));
  run->Before({"bash", "-c", "ulimit " + limit + " && exec " + drop + "\"$@\"", "bash"});
  return run->Run();
}

TEST(Inherited, AHardLimitThatIsTooLowIsTheRunnersFaultAndNamed) {
  const std::string why = geteuid() == 0 ? WhyNoOtherUser() : "";
  if (!why.empty()) GTEST_SKIP() << why;
  if (kSanitized) GTEST_SKIP() << "a sanitizer's frames are larger";
  for (const auto& [limit, words] : std::vector<std::pair<std::string, std::string>>{
           {"-s 64", "stack is 64 KiB"}, {"-n 40", "files is 40"}, {"-v 4096000", "space is 4000 MiB"}}) {
    GateRun run;
    const GateResult result = RunLimited(&run, limit);
    EXPECT_EQ(result.exit_code, 3) << result.out << result.err;
    EXPECT_EQ(result.report["root_cause"]["slug"], "worker-not-started") << result.report["root_cause"];
    EXPECT_THAT(result.out, HasSubstr(words));
    EXPECT_TRUE(result.Events("WorkerStarted").empty());
    EXPECT_EQ(run.Command({"--matrix", "matrix.json", "--dry-run"}).exit_code, 2);
    EXPECT_EQ(run.Command({"--auto"}).exit_code, 2);
  }
  GateRun enough;
  EXPECT_EQ(RunLimited(&enough, "-s 1024 -n 64").exit_code, 0);
  GateRun raised;
  EXPECT_EQ(RunLimited(&raised, "-S -v 4096000").exit_code, 0);
}

TEST(Inherited, ATimerOfProcessorTimeEndsNothing) {
  if (kSanitized) GTEST_SKIP() << "it takes longer to start";
  GateRun run;
  std::string values = "0";
  for (int i = 1; i < 3000; ++i) values += "," + std::to_string(i);
  run.Matrix(Entry("fixture.noop", R"("axes": {"i": [)" + values + "]}"));
  run.Before({"python3", "-c",
              "import os, signal, sys\n"
              "signal.setitimer(signal.ITIMER_PROF, 0.05)\n"
              "os.execv(sys.argv[1], sys.argv[1:])"});
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(Inherited, TooFewDescriptorsForReportsLeaveNoneOfARunBefore) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  ASSERT_EQ(run.Run().exit_code, 0);
  ASSERT_TRUE(run.Exists("report/junit.xml"));
  // What whoever started the test left open would count.
  run.Before({"bash", "-c", "exec 3>&- 4>&- 5>&- 6>&- 7>&-; ulimit -n 8 && exec \"$@\"", "bash"});
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_THAT(GateMessages(run).Row("ulimit -n 8", result.err), HasSubstr(" is 8"));
  for (const char* name : {"junit.xml", "report.json", "journal.jsonl"})
    EXPECT_FALSE(run.Exists(std::string("report/") + name)) << name;
}

TEST(Inherited, LimitsOfOpenFilesHangNothing) {
  for (const char* limit : {"ulimit -Sn 16", "ulimit -Hn 1000000; ulimit -Sn 1000000"}) {
    GateRun run;
    EXPECT_EQ(RunBelow(&run, std::string("{ ") + limit + " || true; }").exit_code, 0) << limit;
  }
}

TEST(Inherited, AFileLimitIsAReportThatCouldNotBeWritten) {
  GateRun run;
  const GateResult result = RunBelow(&run, "ulimit -f 1");
  EXPECT_EQ(result.exit_code, 5) << result.out << result.err;
  EXPECT_THAT(result.out + result.err, HasSubstr(strerror(EFBIG)));
}

// ---- what is not mounted ----

class Bare : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  }
  GateRun run_;
};

TEST_F(Bare, WithoutDevNullItWorks) {
  const GateResult result = RunMounted(&run_, "mount -t tmpfs none /dev && test ! -e /dev/null");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(result.Outcome("fixture.pass[i=0]"), "passed");
}

TEST_F(Bare, WithoutDevNullClosedDescriptorsAreNotWrittenInto) {
  const GateResult result = RunMounted(&run_, "mount -t tmpfs none /dev && exec 0<&- 1>&- 2>&-");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST_F(Bare, WithoutProcItSaysWhatToMount) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers need it";
  const GateResult result = RunMounted(&run_, "mount -t tmpfs none /proc");
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_THAT(GateMessages(run_).Row("no /proc", result.err), HasSubstr(" /proc)\n"));
}

TEST_F(Bare, WithTheProcOfAnotherNamespaceItSaysWhatToMount) {
  run_.Matrix(Entry("fixture.pass"));
  run_.Before({"unshare", "--pid", "--fork"});
  const GateResult result = run_.Run();
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_THAT(GateMessages(run_).Row("another /proc", result.err), HasSubstr(" PID namespace"));
  run_.Before({"unshare", "--pid", "--fork", "--mount-proc"});
  EXPECT_EQ(run_.Run().exit_code, 0);
}

}  // namespace
}  // namespace cudnn_ci
