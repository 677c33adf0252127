// Images with a FIFO in a file's place: every command ends. A harness that waits is killed, and the test
// fails.
#include <sys/stat.h>

#include "environments_test.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;

constexpr int kKilled = 137;

class OddFilesTest : public EnvironmentsTest {
 protected:
  OddFilesTest() {
    gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // with matrices beside it
    gate().Before({"timeout", "-s", "KILL", "60"});
    MakeEnvironment("venv", {"nvidia_cudnn_cu13-9.19.0.56", "torch-2.11.0+cu130"});
    std::filesystem::create_directories(Site("venv") + "/torch/lib");
    Fifo(Site("venv") + "/torch/lib/libtorch_cuda.so");
    Set("VIRTUAL_ENV", gate().Path("venv"));
  }
  static void Fifo(const std::string& path) { EXPECT_EQ(mkfifo(path.c_str(), 0666), 0); }
  GateResult Command(const std::vector<std::string>& words) {
    Compose();
    return gate().Command(words);
  }
};

TEST_F(OddFilesTest, APythonSubjectIsJudged) {
  UseSubjects("{\"venv\": \"" + Python("venv") + "\"}");
  const CheckOutcome r = Check("cudnn.version");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out << r.gate.err;
  EXPECT_EQ(r.gate.Outcome("cudnn.version[subject=venv]"), "passed");
}

TEST_F(OddFilesTest, AProgramThatIsAFifoIsNamed) {
  Fifo(gate().Path("program"));
  UseSubjects("{\"mine\": \"program:" + gate().Path("program") + "\"}");
  const CheckOutcome r = Check("cudnn.version");
  EXPECT_NE(r.gate.exit_code, 0);
  EXPECT_NE(r.gate.exit_code, kKilled);
  EXPECT_THAT(r.gate.out + r.gate.err, Mentions(gate().Path("program"), "FIFO"));
}

TEST_F(OddFilesTest, FactsEnd) {
  const GateResult r = Command({"facts"});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_THAT(r.out, HasSubstr("venv"));
}

TEST_F(OddFilesTest, InitEnds) {
  const GateResult r = Command({"init", gate().Path("first.json"), "--subject", Python("venv")});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(Command({"init", gate().Path("second.json")}).exit_code, 0);
}

TEST_F(OddFilesTest, AutoEnds) {
  EXPECT_EQ(Command({"list", "--auto", "--filter", "cudnn.*"}).exit_code, 0);
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  std::vector<std::string> words = {"timeout", "-s", "KILL", "60"};
  const auto alone = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  words.insert(words.end(), alone.begin(), alone.end());
  gate().Before(words);
  const GateResult r = Command({"list", "--auto", "--filter", "cudnn.*"});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_THAT(r.out, HasSubstr("cudnn.load[subject=" + NameOf("venv") + "]"));
}

}  // namespace
}  // namespace cudnn_ci
