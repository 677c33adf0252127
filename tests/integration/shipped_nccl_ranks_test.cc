// nccl.ranks and nccl.gpus: several ranks, a process each, against a fake NCCL that they share, or that errs
// in one of them. However it goes, nobody is left.
#include <signal.h>

#include <cmath>
#include <fstream>
#include <tuple>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NcclRanks : public ShippedTest {
 protected:
  NcclRanks() { Set("FAKE_NCCL_PIDS", gate().Path("pids")); }
  ~NcclRanks() override {
    std::ifstream pids(gate().Path("pids"));
    for (pid_t pid; pids >> pid;) EXPECT_NE(kill(pid, 0), 0) << "rank " << pid << " is left";
  }
  CheckOutcome Ranks(const std::string& fault, int ranks = 2) {
    Set("FAKE_NCCL_FAULT", fault);
    return Check("nccl.ranks",
                 R"("params": {"extent": "least", "limit_s": 1, "ranks": )" + std::to_string(ranks) + "}");
  }
  CheckOutcome Gpus(const std::string& fault, const std::string& extent = "least") {
    Set("FAKE_DEVICE_COUNT", "2");
    Set("FAKE_NCCL_FAULT", fault);
    return Check("nccl.gpus", R"("params": {"limit_s": 1, "extent": ")" + extent + "\"}",
                 {"--device", "all"});
  }
};

TEST_F(NcclRanks, HealthyOnesPassOnOneGpuAndOnTwo) {
  const CheckOutcome one = Ranks("", 3);
  EXPECT_EQ(one.Outcome(), "passed") << ::testing::PrintToString(one);
  EXPECT_EQ(one.Measured("collectives"), 9);
  const CheckOutcome two = Gpus("");
  EXPECT_EQ(two.Outcome(), "passed") << ::testing::PrintToString(two);
  EXPECT_EQ(two.Measured("collectives"), 9);
  EXPECT_TRUE(std::isnan(two.Measured("all_reduce_busbw"))) << "nobody has asked";
}

// Each within its limit of a second.
TEST_F(NcclRanks, ARankThatDoesNotGoOnIsNamed) {
  const std::string call = "all_reduce sum of 1023 float32";
  for (const auto& [fault, rank, error] :
       {std::tuple("goes_on_later", "rank 0", "last words'"), std::tuple("stands", "rank 1", "")}) {
    const CheckOutcome r = Ranks(fault);
    EXPECT_THAT(r.Slugs(), ElementsAre("ranks-hung")) << fault << ::testing::PrintToString(r);
    EXPECT_THAT(r.Detail(), AllOf(HasSubstr(std::string(rank) + " "), HasSubstr(call), HasSubstr(error)));
  }
}

TEST_F(NcclRanks, TheyEndWithTheirLeader) {
  EXPECT_EQ(Ranks("kills_leader").Outcome(), "errored");
  EXPECT_EQ(Ranks("terminates_leader").Outcome(), "errored");
}

TEST_F(NcclRanks, AWayBetweenGpusIsToldFromTheLibrary) {
  Set("FAKE_NCCL_SOUND_BY", "NCCL_SHM_DISABLE");
  CheckOutcome r = Gpus("stands");
  EXPECT_THAT(r.Slugs(), ElementsAre("gpus-link-hung")) << ::testing::PrintToString(r);
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), Mentions("; by default", "by sockets"));
  Set("FAKE_NCCL_SOUND_BY", "");
  r = Gpus("lost_element");
  EXPECT_THAT(r.Slugs(), ElementsAre("ranks-wrong")) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Detail(), Mentions("by shared_memory: rank 0: ", "by sockets: rank 0: "));
  // A rank that is wrong goes on as the others do.
  EXPECT_THAT(r.Detail(), ::testing::Not(HasSubstr("all_gather")));
}

// Behind what went wrong, and not where all is right.
TEST_F(NcclRanks, WhatIsKnownToComeBetweenGpusIsSeen) {
  Set("FAKE_NVLINKS", "18,18");
  Set("FAKE_FABRIC", "3,3");
  Set("FAKE_NAME", "NVIDIA H100,NVIDIA H100");
  Set("FAKE_NCCL_SOUND_BY", "NCCL_P2P_DISABLE");
  EXPECT_THAT(Gpus("lost_element").Detail(), ::testing::Not(AnyOf(HasSubstr("NVLink"), HasSubstr("GPU 0 "))));
  for (const auto& [variable, value, words] :
       {std::tuple("FAKE_NVLINKS_DOWN", "0,2", "GPU 1 has 16 NVLinks up"),
        std::tuple("FAKE_FABRIC", "3,1", "manager: GPU 1"),
        std::tuple("FAKE_FABRIC_STATUS", "999,0", "manager: GPU 0"),
        std::tuple("FAKE_RECOVERY", "1,0", "GPU 0 needs"), std::tuple("FAKE_HANDLE", "0,15", "GPU 1 is lost"),
        std::tuple("FAKE_HANDLE", "0,16", "GPU 1 needs")}) {
    Set(variable, value);
    EXPECT_THAT(Gpus("lost_element").Detail(), HasSubstr(words));
    Set(variable, std::string(variable) == "FAKE_FABRIC" ? "3,3" : "0,0");
  }
  // Another model may have fewer, or none.
  Set("FAKE_NVLINKS", "18,0");
  Set("FAKE_NAME", "NVIDIA H100,NVIDIA L40S");
  EXPECT_THAT(Gpus("lost_element").Detail(), ::testing::Not(HasSubstr("NVLinks up")));
}

// What is wrong stays red, though a later call, or another way, has too little memory.
TEST_F(NcclRanks, TooLittleMemoryExcusesNothingThatWasWrongBefore) {
  Set("FAKE_NCCL_SOUND_BY", "NCCL_P2P_DISABLE");
  Set("FAKE_CUDA_FAULT", "call:cuMemAlloc_v2:2+:2");  // the first buffers are there, larger ones are not
  const CheckOutcome r = Gpus("lost_element", "few");
  EXPECT_THAT(r.Slugs(), ElementsAre("ranks-wrong")) << ::testing::PrintToString(r);
}

// Nor is its end one of the hangs that are known of this release.
TEST_F(NcclRanks, ARankThatIsKilledOrStoppedIsNotTheLinks) {
  Set("FAKE_NCCL_SAYS", "22902");
  Set("FAKE_NCCL_SOUND_BY", "NCCL_P2P_DISABLE");
  const CheckOutcome r = Gpus("dies");
  EXPECT_THAT(r.Slugs(), ElementsAre("ranks-died")) << ::testing::PrintToString(r);
  EXPECT_EQ(r.Blame(), "undetermined");
  EXPECT_THAT(r.Detail(), ::testing::AllOf(::testing::Not(HasSubstr("by shared_memory")),
                                           ::testing::Not(HasSubstr("known:"))));
  EXPECT_THAT(Gpus("stops").Slugs(), ElementsAre("ranks-died"));
  EXPECT_THAT(Gpus("stands").Detail(), Mentions("known: hangs", "NCCL 2.29.2"));
}

TEST_F(NcclRanks, WhereItIsNotOfferedItIsSkipped) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cudnn", "nccl_old"});
  EXPECT_EQ(Ranks("").Skip("kind"), "version");
  Set("FAKE_COMPUTE_MODE", "3");
  EXPECT_EQ(Ranks("").Skip("kind"), "absent");
  EXPECT_EQ(Check("nccl.gpus").Skip("kind"), "absent");
}

}  // namespace
}  // namespace cudnn_ci
