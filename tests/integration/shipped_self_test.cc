// self-test on machines made of fakes: a healthy gate notices every fault, and one that does not is told from
// it.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SelfTest : public ShippedTest {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer's runtime must be the first library that is loaded";
    gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");
    fs::create_directory(gate().Path("tmp"));
    Set("TMPDIR", gate().Path("tmp"));
  }

  GateResult SelfTestOf(std::vector<std::string> arguments) {
    Compose();
    arguments.insert(arguments.begin(), "self-test");
    return gate().Command(arguments);
  }

  // A tree of the test's own, whose programs it may change.
  void CopyTree() {
    ASSERT_EQ(gate().Command({"copy-to", gate().Path("tree")}).exit_code, 0);
    gate().UseExecutable(gate().Path("tree/bin/cudnn-ci"));
  }
  void ReplacePreload(const std::string& library) {
    const std::string place = gate().Path("tree/libexec/cudnn-ci-plant.so");
    fs::remove(place);
    if (!library.empty()) fs::copy_file(CUDNN_CI_FIXTURES "/preload/" + library, place);
  }
  // self-test of a tree starts this script as its gate. $REAL is the real one; the runs differ by "$*".
  void ReplaceGate(const std::string& script) {
    fs::rename(gate().Path("tree/bin/cudnn-ci"), gate().Path("tree/bin/real"));
    std::ofstream(gate().Path("tree/bin/cudnn-ci")) << "#!/bin/sh\nREAL=${0%/*}/real\n" << script << "\n";
    fs::permissions(gate().Path("tree/bin/cudnn-ci"), fs::perms(0755));
    gate().UseExecutable(gate().Path("tree/bin/real"));
  }

  // Nobody is left, and nothing of the runs.
  void ExpectNothingLeft() {
    EXPECT_THAT(gate().LeftAfter(10), IsEmpty());
    for (int i = 0; i < 1000 && !fs::is_empty(gate().Path("tmp")); ++i) usleep(10'000);
    EXPECT_TRUE(fs::is_empty(gate().Path("tmp")));
  }
};

TEST_F(SelfTest, LinesThatCannotBePrintedAreMissedOnce) {
  gate().Before({"sh", "-c", "exec \"$@\" > /dev/full", "sh"});
  EXPECT_EQ(SelfTestOf({"crash"}).err, "cudnn-ci: cannot write to standard output\n");
}

TEST_F(SelfTest, NoticesEveryFaultOnAHealthyMachine) {
  const GateResult r = SelfTestOf({});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_THAT(r.out, ContainsRegex("\\[ OK +\\] no fault +exit 0, 9 of 9 cases passed"));
  for (const char* line :
       {"crash .*cudnnConvolutionForward: conv.forward errored, image.crashed, exit 1 ",
        "hang .*cudnnConvolutionForward .*: conv.forward errored, image.timed-out, exit 1 ",
        "wrong-number .*: conv.forward failed, image.wrong-value, exit 1 ",
        "broken-library .*: cudnn.load failed, image.cudnn-sublibrary-unloadable, exit 1 ",
        "missing-device .*: driver.devices failed, runner.no-visible-device, exit 3 "})
    EXPECT_THAT(r.out, ContainsRegex(std::string("\\[ OK +\\] ") + line));
  EXPECT_THAT(r.out, HasSubstr("\nfaults: 5 noticed, 0 not noticed, 0 impossible here\n"));
  ExpectNothingLeft();
}

TEST_F(SelfTest, SaysWhatCannotBePlantedWithoutADriver) {
  UseFakes({"cudart13", "nvrtc", "cudnn"});
  const GateResult r = SelfTestOf({});
  EXPECT_EQ(r.exit_code, 3) << r.out << r.err;
  for (const char* line : {"NOT GREEN +\\] no fault +exit 3, .*runner.driver-library-missing: libcuda.so.1",
                           "OK +\\] crash .*nvrtcCompileProgram: toolkit.nvrtc .*image.crashed, exit 1 ",
                           "OK +\\] hang .*nvrtcCompileProgram .*: toolkit.nvrtc .*image.timed-out, exit 1 ",
                           "IMPOSSIBLE +\\] wrong-number +conv.forward .*driver.load",
                           "OK +\\] broken-library .*: cudnn.load failed",
                           "IMPOSSIBLE +\\] missing-device +driver.devices .*driver.load"})
    EXPECT_THAT(r.out, ContainsRegex(line));
  EXPECT_THAT(r.out, HasSubstr("\nfaults: 3 noticed, 0 not noticed, 2 impossible here\n"));
}

TEST_F(SelfTest, EndsAsTheGateDoesOnAnImageThatIsBroken) {
  TakeCudnn();
  Halve("libcudnn_ops.so.9");
  const GateResult r = SelfTestOf({"broken-library", "missing-device"});
  EXPECT_EQ(r.exit_code, 1) << r.out << r.err;
  EXPECT_THAT(r.out, ContainsRegex("NOT GREEN +\\] no fault +exit 1, .*image.cudnn-sublibrary-unloadable: "));
  EXPECT_THAT(r.out, ContainsRegex("IMPOSSIBLE +\\] broken-library +cudnn.load "));
  EXPECT_THAT(r.out, HasSubstr("\nfaults: 1 noticed, 0 not noticed, 1 impossible here\n"));
}

TEST_F(SelfTest, ProvesNothingWhereNothingCanBePlanted) {
  CopyTree();
  ReplaceGate("exec $REAL --filter 'driver.*' \"$@\"");
  const GateResult r = SelfTestOf({"wrong-number"});
  EXPECT_EQ(r.exit_code, 6) << r.out << r.err;
  EXPECT_THAT(r.out, ContainsRegex("\\[ OK +\\] no fault +exit 0, 4 of 4 cases passed"));
  EXPECT_THAT(r.out, ContainsRegex("IMPOSSIBLE +\\] wrong-number +no .*conv.forward"));
  EXPECT_THAT(r.out, HasSubstr("\nfaults: 0 noticed, 0 not noticed, 1 impossible here\n"));
}

TEST_F(SelfTest, AFaultThatNeverStruckIsNoProof) {
  CopyTree();
  ReplacePreload("libplant_idle.so");
  const GateResult r = SelfTestOf({"wrong-number", "crash"});
  EXPECT_EQ(r.exit_code, 5) << r.out << r.err;
  for (const char* fault : {"crash", "wrong-number"})
    EXPECT_THAT(r.out, ContainsRegex(std::string("NOT NOTICED +\\] ") + fault +
                                     " .*never took effect.*: exit 0, no finding"));
  EXPECT_THAT(r.out, HasSubstr("\nfaults: 0 noticed, 2 not noticed, 0 impossible here\n"));
}

TEST_F(SelfTest, AFaultThatTheGateCallsGreenIsNotNoticed) {
  CopyTree();
  ReplacePreload("libplant_marks.so");
  const GateResult r = SelfTestOf({"wrong-number"});
  EXPECT_EQ(r.exit_code, 5) << r.out << r.err;
  EXPECT_THAT(r.out, ContainsRegex("exit 0, no finding, .*passed; .*exit 1, image.wrong-value, .*failed"));
}

TEST_F(SelfTest, AnotherFindingThanTheInjectedOneIsNotNoticed) {
  CopyTree();
  // A library that is cut off, but not the one that self-test has cut.
  TakeCudnn();
  Halve("libcudnn_adv.so.9");
  const std::string other = gate().Path("other");
  fs::create_directory(other);
  fs::rename(libraries() + "/libcudnn_adv.so.9", other + "/libcudnn_adv.so.9");
  for (const auto& entry : fs::directory_iterator(libraries())) fs::remove(entry);
  ReplaceGate("case \"$*\" in *--case*) LD_LIBRARY_PATH=" + other +
              ":$LD_LIBRARY_PATH; export LD_LIBRARY_PATH;; esac\nexec $REAL \"$@\"");
  const GateResult r = SelfTestOf({"broken-library"});
  EXPECT_EQ(r.exit_code, 5) << r.out << r.err;
  EXPECT_THAT(r.out, ContainsRegex("NOT NOTICED .*image.cudnn-sublibrary-unloadable, .*injected"));
}

// Gates that lie of a spoiled run: the arguments are --matrix FILE --output-dir DIR ... --case ID.
TEST_F(SelfTest, BelievesAFinishedReportOfThisVeryRunOnly) {
  CopyTree();
  const std::string kept = gate().Path("kept");
  const GateResult honest = SelfTestOf({"missing-device", "--keep", kept});
  ASSERT_EQ(honest.exit_code, 0) << honest.out << honest.err;
  ReplaceGate(
      "case \"$*\" in *--case*) how=$(cat how);; esac\n"
      "case $how in\n"
      "nothing) echo forged; exit 3;;\n"
      "old) cp " +
      kept +
      "/missing-device/report.json \"$4\"; exit 3;;\n"
      "esac\n"
      "$REAL \"$@\"; status=$?\n"
      "case $how in\n"
      "'') cp \"$4/report.json\" first;;\n"
      "again) sed s/baseline/missing-device/g first > \"$4/report.json\"; exit 0;;\n"
      "status) exit 0;;\n"
      "killed) kill -9 $$;;\n"
      "half) sed -i 's/\"complete\": true/\"complete\": false/' \"$4/report.json\";;\n"
      "esac\n"
      "exit $status");
  for (const auto& [how, said] :
       std::map<std::string, std::string>{{"nothing", "exit status 3 without a report: forged"},
                                          {"old", "its report is of another run"},
                                          {"status", "its report says exit 3, but it ended with 0"},
                                          {"again", "its report is of an earlier run"},
                                          {"killed", "it ended with SIGKILL"},
                                          {"half", "its report is not finished"}}) {
    gate().Write("how", how);
    const GateResult r = SelfTestOf({"missing-device"});
    EXPECT_EQ(r.exit_code, 5) << how << r.out << r.err;
    EXPECT_THAT(r.out, ContainsRegex("NOT NOTICED +\\] missing-device .*" + said)) << how;
  }
}

TEST_F(SelfTest, ARunWithoutAFaultThatCannotBeBelievedIsTheHarnessAtFault) {
  CopyTree();
  ReplaceGate("echo forged; exit 0");
  const GateResult r = SelfTestOf({"missing-device"});
  EXPECT_EQ(r.exit_code, 5) << r.out << r.err;
  EXPECT_THAT(r.out, ContainsRegex("NOT GREEN +\\] no fault +exit status 0 .*: forged"));
  EXPECT_THAT(r.out, ContainsRegex("IMPOSSIBLE +\\] missing-device +no .*driver.devices"));
}

TEST_F(SelfTest, RunsTheShippedPluginsAlone) {
  gate().Write("junk.cci.so", "no plugin");
  gate().AddPlugins(gate().folder());
  const GateResult r = SelfTestOf({"missing-device"});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
}

TEST_F(SelfTest, KeepsTheReportsOfEveryRunInANewFolder) {
  const std::string folder = gate().Path("kept");
  EXPECT_EQ(SelfTestOf({"missing-device", "--keep", folder}).exit_code, 0);
  const json red = json::parse(gate().Read("kept/missing-device/report.json"));
  EXPECT_EQ(red["root_cause"]["slug"], "no-visible-device");
  EXPECT_EQ(json::parse(gate().Read("kept/baseline/report.json"))["exit_code"], 0);
  EXPECT_THAT(gate().Read("kept/missing-device/console.txt"), HasSubstr("no-visible-device"));
  const GateResult again = SelfTestOf({"missing-device", "--keep", folder});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, Mentions("--keep " + folder, "not empty"));
  EXPECT_THAT(again.out, IsEmpty());
}

TEST_F(SelfTest, RefusesWhatItCannotUse) {
  const GateResult fault = SelfTestOf({"meteor"});
  EXPECT_EQ(fault.exit_code, 2);
  EXPECT_THAT(fault.err, AllOf(HasSubstr("meteor"), HasSubstr("broken-library")));
  for (const char* name : {"a b", "it's", "$LIB", "a:b", "caf\xe9"}) {
    fs::create_directory(gate().Path(name));
    Set("TMPDIR", gate().Path(name));
    const GateResult odd = SelfTestOf({});
    EXPECT_EQ(odd.exit_code, 2) << name;
    EXPECT_THAT(odd.err, HasSubstr("TMPDIR")) << name;
    EXPECT_TRUE(fs::is_empty(gate().Path(name)));
  }
  CopyTree();
  ReplacePreload("");
  const GateResult incomplete = SelfTestOf({});
  EXPECT_EQ(incomplete.exit_code, 2);
  EXPECT_THAT(incomplete.err, HasSubstr("/libexec/cudnn-ci-plant.so"));
}

TEST_F(SelfTest, ATreeMayLieInAFolderWithABlank) {
  ASSERT_EQ(gate().Command({"copy-to", gate().Path("a tree: x")}).exit_code, 0);
  gate().UseExecutable(gate().Path("a tree: x/bin/cudnn-ci"));
  const GateResult r = SelfTestOf({"wrong-number"});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
}

class SelfTestSignals : public SelfTest, public testing::WithParamInterface<int> {};

TEST_P(SelfTestSignals, LeaveNobodyAndNothing) {
  Compose();
  const pid_t pid = gate().StartCommand({"self-test", "hang", "--keep", gate().Path("kept")});
  const auto hangs = [&] {
    return gate().Read("kept/hang/journal.jsonl").find("conv.forward") != std::string::npos;
  };
  for (int i = 0; i < 4000 && !hangs(); ++i) usleep(5'000);
  ASSERT_TRUE(hangs());
  EXPECT_THAT(gate().Left(), Not(IsEmpty()));
  kill(pid, GetParam());
  EXPECT_EQ(gate().Wait(pid).exit_code, 128 + GetParam());
  ExpectNothingLeft();
}

INSTANTIATE_TEST_SUITE_P(Each, SelfTestSignals, testing::Values(SIGINT, SIGTERM, SIGKILL));

// In every other run the library of planted faults is a stranger, wherever it lies.
TEST_F(SelfTest, ItsLibraryIsSaidWhereAnImagePreloadsIt) {
  Set("LD_PRELOAD", CUDNN_CI_STAGE_PLUGINS "/../libexec/cudnn-ci-plant.so");
  const CheckOutcome r = Check("driver.load");
  std::vector<std::string> said;
  for (const json& e : r.gate.Events("Finding"))
    if (e["finding"]["slug"].get<std::string>().rfind("preload", 0) == 0)
      said.push_back(e["finding"]["slug"]);
  EXPECT_THAT(said, testing::ElementsAre(testing::HasSubstr("preload"))) << r.gate.out;
}

}  // namespace
}  // namespace cudnn_ci
