// The command init: the matrix that it writes is one that can be run, and passes where it was written.
#include <filesystem>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class InitTest : public ShippedTest {
 protected:
  InitTest() : file_(gate().Path("first.json")) {
    gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // with matrices beside it
  }
  // Hides what the machine itself has, where that can be done.
  bool Alone() {
    const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
    gate().Before(words);
    for (const char* name : {"libcudnn.so.9", "libcudart.so.13", "libnvrtc.so.13", "libcuda.so.1"})
      for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/"})
        if (fs::exists(std::string(folder) + name)) return false;
    return !words.empty();
  }
  GateResult Write(const std::vector<std::string>& more = {}) {
    Compose();
    std::vector<std::string> line = {"init", file_};
    line.insert(line.end(), more.begin(), more.end());
    return gate().Command(line);
  }
  // All but the convolutions, of which the fakes need seconds.
  GateResult RunIt() {
    return gate().Command({"--matrix", file_, "--filter", "*-conv.*", "--output-dir", gate().Path("out")});
  }
  const std::string file_;
};

TEST_F(InitTest, PromisesWhatIsFoundAndPassesThere) {
  const GateResult r = Write({"--name", "team \"a\""});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("found CUDA toolkit 13.0, cuDNN 9.19.0, driver "),
                           HasSubstr("wrote " + file_), HasSubstr("cudnn-ci --matrix ")));
  const std::string text = gate().Read("first.json");
  for (const char* part : {"\"name\": \"team \\\"a\\\"\"", "\"extends\": \"builtin:cu13\"",
                           "\"toolkit\": \">=13.0 <13.1\"", "\"cudnn\": \">=9.19 <9.20\"",
                           "// 9.19.0 was found", "\"compute_capability\": \">=9.0\"", "\"gpus\": \">=1\""})
    EXPECT_THAT(text, HasSubstr(part));
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, WithoutToolkitAndCudnnItPromisesThatThereIsNone) {
  UseFakes({"libcuda", "nvml"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  ASSERT_EQ(Write().exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"),
              AllOf(HasSubstr("\"toolkit\": \"absent\""), HasSubstr("\"cudnn\": \"absent\""),
                    Not(HasSubstr("extends"))));
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, WithoutCudnnAToolkitIsHeldToLessThanAnImageWithBoth) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's own libraries cannot be hidden";
  ASSERT_EQ(Write().exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"),
              AllOf(HasSubstr("\"toolkit\": \">=13.0 <13.1\""), HasSubstr("\"cudnn\": \"absent\"")));
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, WithoutADriverItsPromisesAreLeftToTheReader) {
  UseFakes({"cudart13", "nvrtc", "cudnn"});
  if (!Alone()) GTEST_SKIP() << "this machine's own driver cannot be hidden";
  ASSERT_EQ(Write().exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"),
              AllOf(HasSubstr("// no driver was found here"), HasSubstr("// no GPU was found here"),
                    HasSubstr("\"runner\": {\n    //")));
  // The static part of it needs neither.
  const GateResult run = gate().Command(
      {"--matrix", file_, "--stage", "static", "--filter", "*-conv.*", "--output-dir", gate().Path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, WithoutTheMatricesOfItsInstallationItListsTheChecks) {
  gate().UseExecutable(CUDNN_CI_TREE "/bin/cudnn-ci");
  ASSERT_EQ(Write().exit_code, 0);
  EXPECT_THAT(gate().Read("first.json"),
              AllOf(HasSubstr("{ \"check\": \"cudnn.init\" }"), Not(HasSubstr("extends"))));
  const GateResult run = RunIt();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(InitTest, ReplacesNoFileAndWritesToStdout) {
  gate().Write("first.json", "mine");
  const GateResult refused = Write();
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.err,
            "cudnn-ci: " + file_ + " is there already; name another file, or take it away first\n");
  EXPECT_EQ(gate().Read("first.json"), "mine");
  Compose();
  const GateResult shown = gate().Command({"init", "-"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("// What this image"), Not(HasSubstr("wrote"))));
  const GateResult nowhere = gate().Command({"init", gate().Path("no/such/folder/m.json")});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("no/such/folder"));
}

}  // namespace
}  // namespace cudnn_ci
