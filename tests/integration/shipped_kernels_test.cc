// The kernels plugin through the real gate: the real runner, run by a real Python, hands problems to a fake
// package whose implementations are right, wrong in one way each, refuse, crash and hang.
#include "framework_test.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Kernels : public FrameworkTest {
 protected:
  Kernels() {
    UseFakes({"libcuda", "nvml", "cupti", "cudnn"});
    Set("PYTHONPATH", CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/packages");
  }
  CheckOutcome Package(const std::string& adapter, const std::string& params = "") {
    return Check("kernels.package", "\"params\": {\"adapter\": \"" + adapter + "\"" + params + "}",
                 adapters_);
  }

  const std::vector<std::string> adapters_ = {
      "--knowledge", CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/adapters", "--allow-adapters"};
};

// Refusals that it may make are no fault: one is offered, one is promised for other cards.
TEST_F(Kernels, ThatAreRightOrMayRefusePass) {
  const CheckOutcome r = Package("acme");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Measured("right"), 2);
  EXPECT_EQ(r.Measured("refused"), 2);
  EXPECT_THAT(r.AllSlugs(), IsEmpty());
}

// Each implementation is wrong in the way that its name says.
TEST_F(Kernels, ThatAreWrongInOneWayAreNamedWithIt) {
  Set("FAKE_CUDNN_VERSION", "90200");
  const CheckOutcome r = Package("faulty");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_EQ(r.Blame(), "image");
  std::map<std::string, std::string> found;
  for (const json& f : r.record["findings"]) {
    const std::string detail = f["detail"], begin = "Acme 1.4+cu130, ";
    const size_t at = std::string("Faulty 1.4+cu130, ").size();
    found[detail.substr(at, detail.find(',', at) - at)] = f["slug"].get<std::string>() + ": " + detail;
  }
  const std::map<std::string, std::string> wanted = {{"raises", "kernels-refused: "},
                                                     {"refuses", "kernels-refused: "},
                                                     {"no launch", "kernels-not-on-gpu: "},
                                                     {"cpu", "kernels-not-on-gpu: "},
                                                     {"another's kernel", "kernels-not-on-gpu: "},
                                                     {"short sum", "kernels-wrong: "},
                                                     {"unwritten", "kernels-wrong: "},
                                                     {"not a number", "kernels-wrong: "},
                                                     {"one more", "kernels-wrong: "},
                                                     {"second run", "kernels-wrong: "},
                                                     {"shape", "kernels-wrong: "},
                                                     {"nothing", "kernels-wrong: "},
                                                     {"cut", "kernels-wrong: "},
                                                     {"type", "kernels-wrong: "},
                                                     {"of cudnn", "kernels-wrong: "}};
  for (const auto& [how, finding] : wanted) EXPECT_THAT(found[how], testing::StartsWith(finding)) << how;
  EXPECT_EQ(found.size(), wanted.size()) << ::testing::PrintToString(r);
  EXPECT_THAT(found["second run"], HasSubstr("product/float32_small: run 2: "));
  // What is known of the release, and of the cuDNN in its process, is said with what to do.
  EXPECT_THAT(found["one more"],
              HasSubstr("; known: the first sum is 1 more (https://example.org/acme); take 1.5"));
  EXPECT_THAT(found["of cudnn"],
              AllOf(HasSubstr("; with cuDNN 9.2.0 ("), HasSubstr("; known: wrong in cuDNN"),
                    HasSubstr("take cuDNN 9.3.0 or later")));
  EXPECT_THAT(found["short sum"], Not(HasSubstr("known:")));
}

TEST_F(Kernels, ThatCrashHangOrBreakTheGpuAreNamedWithTheirCall) {
  Set("FAKE_KERNELS", "crash");
  CheckOutcome r = Package("acme");
  EXPECT_THAT(r.Slugs(), ElementsAre("kernels-crashed"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("(Segmentation fault) at fast, product/float32_small, first run")));
  Set("FAKE_KERNELS", "hang");
  r = Package("acme", ", \"timeout_s\": 2");
  EXPECT_THAT(r.Slugs(), ElementsAre("kernels-timed-out"));
  EXPECT_THAT(r.Detail(),
              HasSubstr("it was at fast, product/float32_small, first run, in which it compiles"));
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
  Set("FAKE_KERNELS", "broken");
  r = Package("acme");
  EXPECT_THAT(r.Slugs(), ElementsAre("kernels-crashed"));
  EXPECT_THAT(r.Detail(), HasSubstr("an illegal memory access was encountered"));
}

TEST_F(Kernels, OfAPackageThatCannotBeUsedAreRed) {
  Set("FAKE_KERNELS", "import");
  EXPECT_THAT(Package("acme").Slugs(), ElementsAre("kernels-import-failed"));
  Set("FAKE_KERNELS", "no-gpu");
  const CheckOutcome r = Package("acme");
  EXPECT_THAT(r.Slugs(), ElementsAre("kernels-no-gpu"));
  EXPECT_THAT(r.Detail(), HasSubstr("is a build without CUDA"));
}

TEST_F(Kernels, ThatRefuseEverythingAreNotGreen) {
  const CheckOutcome r = Package("shy");
  EXPECT_THAT(r.Slugs(), ElementsAre("kernels-refused")) << ::testing::PrintToString(r);
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_EQ(Package("for_others").Skip("kind"), "version");
}

// A package runs in the process that answers.
TEST_F(Kernels, OfWhichNothingIsSaidAreNotGreen) {
  Set("FAKE_KERNELS", "silent");
  EXPECT_THAT(Package("acme").Slugs(), testing::Contains("kernels-crashed"));
}

TEST_F(Kernels, ADamagedRecordHidesNoOtherPackage) {
  const std::string damaged = gate().Path("site/aaa-1.0.dist-info");
  std::filesystem::create_directories(damaged);
  gate().Write("site/aaa-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: \xe9\n");
  Set("PYTHONPATH", gate().Path("site") + ":" CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/packages");
  EXPECT_EQ(Package("acme").Outcome(), "passed");
  std::filesystem::rename(damaged, gate().Path("site/acme_kernels-1.4.dist-info"));
  EXPECT_THAT(Package("acme").Slugs(), ElementsAre("kernels-python-unusable"));
}

TEST_F(Kernels, ThatNoAdapterAsksAreListed) {
  CheckOutcome r = Check("kernels.covered", "", adapters_);
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_THAT(r.AllSlugs(), ElementsAre("kernels-not-covered"));
  EXPECT_EQ(r.Detail(), "other-kernels 0.2 (no adapter)");
  r = Package("acme_old");
  EXPECT_EQ(r.Skip("kind"), "version");
  EXPECT_THAT(r.Skip("seen"), HasSubstr("which is not covered"));
  EXPECT_EQ(Package("nowhere").Skip("kind"), "absent");
  EXPECT_THAT(Package("unknown").Slugs(), ElementsAre("kernels-adapter-unknown"));
}

// The first python3 of PATH may be that of another subject.
TEST_F(Kernels, OfOneInterpreterAreAskedOnce) {
  UseSubjects(R"({"system": "loader", "mine": "python:)" + gate().Path("bin/python3") + R"("})");
  const CheckOutcome r = Package("acme");
  EXPECT_EQ(r.Outcome(), "skipped") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_THAT(r.Skip("seen"), HasSubstr("/bin/python3 is that of python:/"));
}

// Adapters are code: they need a word of their own.
TEST_F(Kernels, TakeNoAdapterThatIsNotAllowed) {
  const CheckOutcome r = Check("kernels.covered", "", {adapters_[0], adapters_[1]});
  EXPECT_EQ(r.gate.exit_code, 2);
  EXPECT_THAT(r.gate.err, HasSubstr("--allow-adapters"));
}

}  // namespace
}  // namespace cudnn_ci
