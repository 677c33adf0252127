// Which task a launcher has made of a process, and the words by which tasks on several nodes know each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "nccl/node_place.h"
#include "nccl/node_words.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

NodePlace Place(const Variables& variables) {
  return PlaceOf([&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}

Variables With(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

const Variables kSlurm = {{"SLURM_PROCID", "3"},
                          {"SLURM_NTASKS", "4"},
                          {"SLURM_JOB_ID", "77"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_STEP_NODELIST", "n[01-02],m7"}};
const Variables kTorch = {
    {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "job-0.job"}, {"CUDNN_CI_NODES_TOKEN", "word"}};

TEST(NodePlaceTest, LaunchersAreKnownByTheirVariables) {
  const NodePlace slurm = Place(kSlurm);
  EXPECT_EQ(slurm.lacks, "");
  EXPECT_EQ(slurm.task, 3);
  EXPECT_EQ(slurm.tasks, 4);
  EXPECT_EQ(slurm.host, "n01");
  EXPECT_GE(slurm.port, 12000);
  EXPECT_LT(slurm.port, 32000);
  EXPECT_EQ(Place(With(kSlurm, {{"SLURM_PROCID", "0"}})).port, slurm.port);
  EXPECT_NE(Place(With(kSlurm, {{"SLURM_STEP_ID", "1"}})).secret, slurm.secret);

  const NodePlace torch = Place(With(With(kSlurm, kTorch), {{"MASTER_PORT", "29500"}}));
  EXPECT_EQ(torch.task, 1) << "what another launcher started stands before it";
  EXPECT_EQ(torch.host, "job-0.job");
  EXPECT_EQ(torch.port, 29500);
  EXPECT_EQ(torch.secret, "word");

  const Variables pod = {{"JOB_COMPLETION_INDEX", "1"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "a"}};
  EXPECT_THAT(Place(pod).lacks, HasSubstr("CUDNN_CI_NODES_TOKEN"));
  EXPECT_EQ(Place(With(pod, {{"CUDNN_CI_NODES_TOKEN", "x"}})).tasks, 3);

  const Variables mpi = {
      {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_NAMESPACE", "p@1"}};
  EXPECT_THAT(Place(mpi).lacks, HasSubstr("MASTER_ADDR"));
  EXPECT_EQ(Place(With(mpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})).host, "127.0.0.1");
  EXPECT_EQ(
      Place({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"CUDNN_CI_NODES_TOKEN", "x"}}).task,
      1);
}

TEST(NodePlaceTest, WhatIsNoPlaceSaysWhatItLacks) {
  EXPECT_THAT(Place({}).lacks, HasSubstr("Slurm, Kubernetes, MPI or torchrun"));
  for (const auto& [name, value] :
       {std::pair("SLURM_PROCID", "4"), std::pair("SLURM_PROCID", "-1"), std::pair("SLURM_PROCID", "one"),
        std::pair("SLURM_NTASKS", "1"), std::pair("SLURM_NTASKS", "129")})
    EXPECT_THAT(Place(With(kSlurm, {{name, value}})).lacks, HasSubstr("2 to 128 tasks")) << value;
  EXPECT_THAT(Place(With(kSlurm, {{"MASTER_PORT", "70000"}})).lacks, HasSubstr("MASTER_PORT"));
}

// "none" is what torchrun calls every launch without a name.
// torchrun's agent listens there itself.
TEST(NodePlaceTest, APortOfTheLaunchersOwnIsNotTaken) {
  const Variables agent = With(kTorch, {{"MASTER_PORT", "29500"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_NE(Place(agent).port, 29500);
  EXPECT_GE(Place(agent).port, 12000);
  EXPECT_EQ(Place(With(agent, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).port, 29500);
}

TEST(NodePlaceTest, AWordThatAllLaunchesHaveIsNoSecret) {
  Variables torchrun = kTorch;
  torchrun.erase("CUDNN_CI_NODES_TOKEN");
  EXPECT_EQ(Place(With(torchrun, {{"TORCHELASTIC_RUN_ID", "8f2c11"}})).lacks, "");
  EXPECT_THAT(Place(With(torchrun, {{"TORCHELASTIC_RUN_ID", "none"}})).lacks,
              HasSubstr("CUDNN_CI_NODES_TOKEN"));
}

TEST(NodePlaceTest, TheFirstHostOfAListOfSlurms) {
  for (const auto& [list, first] :
       {std::pair("n1", "n1"), std::pair("n1,n2", "n1"), std::pair("n[01-03,7],m", "n01"),
        std::pair("r[2,5]c[3-4].x,y", "r2c3.x"), std::pair("n[1", "")})
    EXPECT_EQ(FirstHost(list), first);
}

// RFC 4231, cases 2 and 6.
TEST(NodeWords, TheMacIsHmacSha256) {
  EXPECT_EQ(MacOf("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(MacOf(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(NodeWords, OnlyWhoKnowsTheSecretIsTaken) {
  const NodeHello hello = {1, 2, 8, "b", "GPU-1,GPU-2", "extent=few"};
  const std::string line = Greeting("secret", "nonce0", "nonce", hello);
  std::string nonce, refusal;
  NodeHello read;
  ASSERT_TRUE(ReadGreeting("secret", "nonce0", line, &nonce, &read));
  EXPECT_EQ(nonce, "nonce");
  EXPECT_EQ(read.gpus, 8);
  EXPECT_EQ(read.about, "extent=few");
  EXPECT_FALSE(ReadGreeting("other", "nonce0", line, &nonce, &read));
  EXPECT_FALSE(ReadGreeting("secret", "nonce1", line, &nonce, &read)) << "said again, to another question";
  std::string changed = line;
  changed.replace(changed.find("\t8\t"), 3, "\t9\t");
  EXPECT_FALSE(ReadGreeting("secret", "nonce0", changed, &nonce, &read));
  EXPECT_FALSE(ReadGreeting("secret", "nonce0", "", &nonce, &read));

  const std::string answer = Answer("secret", "nonce0", "nonce", "both use GPU-1");
  ASSERT_TRUE(ReadAnswer("secret", "nonce0", "nonce", answer, &refusal));
  EXPECT_EQ(refusal, "both use GPU-1");
  EXPECT_FALSE(ReadAnswer("other", "nonce0", "nonce", answer, &refusal));
  EXPECT_FALSE(ReadAnswer("secret", "nonce0", "nonce2", answer, &refusal));
  EXPECT_NE(FreshNonce(), FreshNonce());
}

TEST(NodeWords, WhoDoesNotFitIsTold) {
  const NodeHello own = {0, 3, 8, "a", "GPU-1", "case"}, there = {2, 3, 8, "c", "GPU-3", "case"};
  NodeHello hello = {1, 3, 8, "b", "GPU-2", "case"};
  EXPECT_EQ(Misfit({own, there}, hello), "");
  const auto with = [&](auto NodeHello::*member, auto value) {
    NodeHello other = hello;
    other.*member = value;
    return Misfit({own, there}, other);
  };
  EXPECT_EQ(with(&NodeHello::tasks, 4),
            "task 1 on b is one of 4 tasks and has 8 GPUs, but task 0 on a is one of 3");
  EXPECT_NE(with(&NodeHello::gpus, 0), "");
  EXPECT_NE(with(&NodeHello::task, 0), "");
  EXPECT_NE(with(&NodeHello::task, 3), "");
  EXPECT_EQ(with(&NodeHello::about, "x"), "task 1 on b is at another case: x; task 0 on a is at case");
  EXPECT_EQ(with(&NodeHello::task, 2), "task 2 on b joined twice, also as task 2 on c");
  EXPECT_EQ(with(&NodeHello::devices, "GPU-2,GPU-3"), "task 2 on c and task 1 on b both use GPU-3");
  EXPECT_EQ(with(&NodeHello::gpus, 112), "");
  EXPECT_EQ(with(&NodeHello::gpus, 113), "with task 1 on b there are 129 ranks, more than 128");
}

// https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
TEST(Bandwidth, IsThatOfNcclTests) {
  const std::map<std::string, double> factors = {{"all_reduce", 1.75},      {"reduce", 1},
                                                 {"reduce_scatter", 0.875}, {"all_gather", 0.875},
                                                 {"broadcast", 1},          {"all_to_all", 0.875}};
  const std::vector<CollectiveSpec> calls = TimedCalls(8, 1 << 20);
  EXPECT_EQ(calls.size(), factors.size());
  for (const CollectiveSpec& spec : calls) {
    EXPECT_EQ(BusFactor(spec), factors.at(spec.Name())) << spec.Name();
    EXPECT_EQ(spec.MostBytes(), 1 << 20) << spec.Name();
  }
  RankTally tally(RankNames(2));
  tally.Take(0, "Ball_reduce 4000000000 1.5 1");
  EXPECT_TRUE(tally.Outcome(false).figures.empty()) << "of all ranks";
  tally.Take(1, "Ball_reduce 4000000000 1.5 3");
  EXPECT_EQ(tally.Outcome(false).figures,
            (std::map<std::string, double>{{"all_reduce_algbw", 2}, {"all_reduce_busbw", 3}}));
}

TEST(RanksEndTest, WhatTellsNothingOfAWay) {
  for (const RanksEnd end : {RanksEnd::kRight, RanksEnd::kMemory, RanksEnd::kLacking, RanksEnd::kDied})
    EXPECT_FALSE(MayBeTheWays(end));
  for (const RanksEnd end : {RanksEnd::kWrong, RanksEnd::kFailed, RanksEnd::kHung})
    EXPECT_TRUE(MayBeTheWays(end));
}

TEST(NodeWords, AFieldCannotBeTwo) {
  EXPECT_EQ(FieldsOf(Fields({"rank", "1", "a\tb\nc"})).size(), 3u);
  RanksOutcome outcome;
  EXPECT_FALSE(ReadOutcome("alone\t99\t1\tx\ty", &outcome));
}

}  // namespace
}  // namespace cudnn_ci
