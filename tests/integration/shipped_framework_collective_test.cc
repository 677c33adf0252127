// Collectives of frameworks through the real gate: the real script, run by a real Python, asks fake
// frameworks whose collectives are right, lose, raise, crash and hang, of one rank and of two.
#include "framework_test.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class FrameworkCollective : public FrameworkTest {
 protected:
  // At one call, as "reduce_scatter average".
  void Plant(const std::string& fault, const std::string& at) {
    Set("FAKE_COLLECTIVE", fault);
    Set("FAKE_COLLECTIVE_AT", at);
  }
  void UseNccl(const std::string& code) {
    Set("FAKE_LIBRARIES", FakeFile("nccl", "libnccl.so.2"));
    Set("FAKE_NCCL_SAYS", code);
  }
  CheckOutcome OnTwoGpus(const std::string& name, const std::string& params = "") {
    Set("FAKE_DEVICE_COUNT", "2");
    return Check("framework." + name, "\"params\": {" + params + "}", {"--device", "all"});
  }
};

TEST_F(FrameworkCollective, OfOneRankThatIsRightPasses) {
  const CheckOutcome torch = Framework("torch_collective");
  EXPECT_EQ(torch.Outcome(), "passed") << ::testing::PrintToString(torch);
  EXPECT_EQ(torch.Measured("collectives"), 24);
  const CheckOutcome jax = Framework("jax_collective");
  EXPECT_EQ(jax.Outcome(), "passed") << ::testing::PrintToString(jax);
  EXPECT_EQ(jax.Measured("collectives"), 18);
}

// As NCCL 2.28.9 of PyTorch 2.11 does.
TEST_F(FrameworkCollective, AnAverageWithoutItsTailIsRedByName) {
  Plant("tail", "reduce_scatter average");
  UseNccl("22809");
  CheckOutcome r = Framework("torch_collective");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), AllOf(SizeIs(3), Each("framework-wrong-collective")));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(),
              Mentions("PyTorch 9.9.9", "NCCL 2.28.9 (/", "reduce_scatter average of 1023 float32",
                       "8 of 1023", "(element 1015)", "NCCL 2.19.1 to 2.29.3", "fixed in 2.29.7"));
  UseNccl("22907");
  r = Framework("torch_collective");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("NCCL 2.29.7"), Not(HasSubstr("; known: "))));
}

TEST_F(FrameworkCollective, OneElementThatIsWrongIsRed) {
  for (const char* at : {"all_reduce max", "broadcast"}) {
    Plant("element", at);
    const CheckOutcome r = Framework("torch_collective");
    EXPECT_THAT(r.Slugs(), AllOf(SizeIs(3), Each("framework-wrong-collective"))) << at;
    EXPECT_THAT(r.Detail(), AllOf(HasSubstr(at), HasSubstr(": 1 of 1023 "))) << at;
  }
  Plant("tail", "all_gather");
  EXPECT_THAT(Framework("jax_collective").Detail(), Mentions("4060 bytes", "4092"));
}

TEST_F(FrameworkCollective, TooLittleMemoryExcusesNothingThatWasWrongBefore) {
  Plant("then_memory", "all_reduce max");
  const CheckOutcome r = Framework("torch_collective");
  EXPECT_THAT(r.Slugs(), AllOf(SizeIs(3), Each("framework-wrong-collective"))) << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.exit_code, 1);
}

TEST_F(FrameworkCollective, ThatRaisesCrashesOrHangsIsNamedWithItsCall) {
  Plant("raise", "broadcast");
  CheckOutcome r = Framework("torch_collective");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-failed"));
  EXPECT_THAT(r.Detail(), ContainsRegex("at \"broadcast of 1023 int32, [^\"]*\": RuntimeError: "));
  Plant("crash", "all_gather");
  r = Framework("jax_collective");
  EXPECT_THAT(r.Slugs(), Each("framework-crashed"));
  EXPECT_THAT(r.Detail(), Mentions("(Segmentation fault) at \"all_gather of 1023 int32"));
  Plant("hang", "all_reduce sum");
  r = Framework("torch_collective", R"("timeout_s": 3)");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-timed-out"));
  EXPECT_THAT(r.Detail(), Mentions("3 s", "at \"all_reduce sum of 1023 float32"));
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

TEST_F(FrameworkCollective, WithoutNcclOrCudaIsAbsent) {
  Set("FAKE_COLLECTIVE", "none");
  CheckOutcome r = Framework("torch_collective");
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_EQ(r.Skip("seen"), "PyTorch 9.9.9 was built without torch.distributed with NCCL");
  Set("FAKE_FRAMEWORK", "cpu");
  r = Framework("jax_collective");
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_THAT(r.Skip("seen"), HasSubstr("without CUDA"));
  Set("FAKE_FRAMEWORK", "no-gpu");
  EXPECT_THAT(Framework("torch_collective").Slugs(), ElementsAre("framework-no-gpu"));
}

TEST_F(FrameworkCollective, OfTwoGpusThatAreRightPass) {
  EXPECT_EQ(Framework("torch_gpus").Skip("seen"), "1 in the run");
  for (const char* name : {"torch_gpus", "jax_gpus"}) {
    const CheckOutcome r = OnTwoGpus(name);
    EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  }
}

TEST_F(FrameworkCollective, OfTwoGpusNeedsAFrameworkThatSeesBoth) {
  Set("FAKE_FRAMEWORK", "one-gpu");
  const CheckOutcome r = OnTwoGpus("torch_gpus", R"("timeout_s": 30)");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-no-gpu"));
  EXPECT_THAT(r.Detail(), Mentions("1 of 2"));
  EXPECT_LT(r.record["seconds"], 30) << "a rank waited for one that has no GPU";
}

TEST_F(FrameworkCollective, OfTwoGpusTellWhoIsMissing) {
  Plant("missing", "all_reduce sum");
  const CheckOutcome r = OnTwoGpus("torch_gpus");
  EXPECT_THAT(r.Slugs(), AllOf(SizeIs(3), Each("framework-gpus-wrong")));
  EXPECT_EQ(r.Blame(), "undetermined");
  EXPECT_THAT(r.Detail(), Mentions(" of 2 ranks: rank 1: 1023 of 1023", "; rank 0 is missing"));
}

TEST_F(FrameworkCollective, ARankThatDoesNotComeToItsEndIsNamedAndNobodyIsLeft) {
  UseNccl("22902");
  Plant("crash", "all_gather");
  CheckOutcome r = OnTwoGpus("torch_gpus");
  EXPECT_THAT(r.Slugs(), Each("framework-gpus-failed"));
  EXPECT_EQ(r.Blame(), "undetermined");
  EXPECT_THAT(r.Detail(), Mentions("rank 1", "signal 11 (Segmentation fault) at \"all_gather of "));
  // Rank 0 has what it needs of it, and goes on.
  Plant("hang", "all_reduce sum");
  r = OnTwoGpus("torch_gpus", R"("timeout_s": 4)");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-gpus-failed"));
  EXPECT_THAT(r.Detail(),
              Mentions("with NCCL 2.29.2 (", "4 s; ", "rank 1 waited at \"all_reduce sum of 1023 ",
                       "; known: hangs in NCCL 2.29.2"));
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
