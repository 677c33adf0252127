// NCCLs that cannot be used, do not begin, or give wrong collectives, on a machine that is otherwise sound.
#include "fault_machines.h"

namespace cudnn_ci {
namespace {

Make Fails(const std::string& check, const std::string& variable, const std::string& value) {
  return With(check, [variable, value](FaultTest& t) { t.Set(variable, value); });
}

// An all-reduce of one rank by an NCCL that has this fault.
Make AllReduce(const std::string& fault, const std::string& reduction = "sum") {
  return With(
      Entry("nccl.collective", R"("params": {"collective": "all_reduce", "dtype": "float32", "count": 1003,
                    "reduction": ")" +
                                   reduction + "\"}"),
      [fault](FaultTest& t) {
        t.Set("FAKE_NCCL_FAULT", fault);
        t.Set("FAKE_NCCL_SAYS", "22809");
      });
}

// Two ranks, on one GPU or on one each.
Make Ranks(const std::string& check, const std::string& fault, const std::string& sound_by = "") {
  return With(Entry(check, R"("params": {"extent": "least", "limit_s": 1})"),
              [check, fault, sound_by](FaultTest& t) {
                t.Set("FAKE_NCCL_FAULT", fault);
                t.Set("FAKE_NCCL_SOUND_BY", sound_by);
                if (check == "nccl.gpus") t.Set("FAKE_DEVICE_COUNT", "2"), t.UseAllDevices();
              });
}

Fault Undetermined(const std::string& name, Make make, const std::string& slug,
                   std::vector<std::string> named) {
  return {name, std::move(make), slug, "undetermined", 6, std::move(named)};
}

// Task 0 of two, whose other one is on a node that never comes.
Make FirstOfTwoNodes() {
  return With(Entry("nccl.nodes", R"("params": {"extent": "least", "limit_s": 1, "join_s": 1})"),
              [](FaultTest& t) {
                for (const auto& [variable, value] :
                     {std::pair("RANK", "0"), std::pair("WORLD_SIZE", "2"),
                      std::pair("MASTER_ADDR", "127.0.0.1"), std::pair("CUDNN_CI_NODES_TOKEN", "a word")})
                  t.Set(variable, value);
              });
}

std::vector<Fault> Together() {
  return Joined({
      Showing("node that never comes", {Runner("node_that_never_comes", FirstOfTwoNodes(), "nodes-missing",
                                               {"task 1 of 2", "127.0.0.1:"})}),
      Showing("wrong collective of several ranks",
              {Image("rank_that_is_missing", Ranks("nccl.ranks", "missing"), "ranks-wrong",
                     {"rank 0: all_reduce sum", "2 ranks", "1023 of 1023", "; rank 1 is missing",
                      "NCCL 2.30.7+cuda13.0 (/"})}),
      Showing("ranks that wait without end",
              {Image("rank_that_does_not_join", Ranks("nccl.ranks", "never_joins"), "ranks-hung",
                     {"rank 1", "ncclCommInitRank"})}),
      Showing("ranks that fail", {Image("error_behind_a_call", Ranks("nccl.ranks", "error_after_success"),
                                        "ranks-failed", {"rank 0: ncclAllReduce: 6"})}),
      Showing("rank that dies", {Undetermined("rank_that_is_killed", Ranks("nccl.ranks", "dies"),
                                              "ranks-died", {"rank 1", "signal 9", "all_reduce sum"})}),
      Showing("GPUs that wait without end",
              {Undetermined("gpu_that_does_not_come", Ranks("nccl.gpus", "never_calls"), "gpus-hung",
                            {"rank 1", "all_reduce", "; by shared_memory: ", "; by sockets: "})}),
      Showing("link between GPUs that loses data",
              {Runner("link_that_loses_an_element", Ranks("nccl.gpus", "lost_element", "NCCL_P2P_DISABLE"),
                      "gpus-link-wrong", {"; rank 1 is missing", "shared_memory"})}),
  });
}

INSTANTIATE_TEST_SUITE_P(NcclRanks, FaultTableTest, ::testing::ValuesIn(Together()), NameOfFault);

std::vector<Fault> Collectives() {
  const std::string init = Entry("nccl.init");
  return Joined({
      Showing("no NCCL",
              {Image("nccl_of_another_version",
                     With(Entry("nccl.load", R"("params": {"at_least": "2.31"})"), [](FaultTest&) {}),
                     "nccl-other-version", {"NCCL 2.30.7+cuda13.0 (/", ">=2.31 promised"})}),
      Showing("NCCL of a newer CUDA",
              {Image("nccl_of_cuda_13_for_a_driver_of_12",
                     With(Entry("nccl.load"),
                          [](FaultTest& t) {
                            t.UseFakes({"libcuda", "nvml", "cudart12", "nvrtc12", "cudnn", "nccl"});
                            PromiseTwelve(t);
                            t.Set("FAKE_DRIVER_VERSION", "12080");
                          }),
                     "nccl-needs-newer-driver", {"CUDA 13.0", "CUDA 12.8"})}),
      Showing(
          "NCCL that cannot begin",
          {Image("nccl_that_cannot_begin", Fails(init, "FAKE_NCCL_FAULT", "call:ncclCommInitRankConfig:0:1"),
                 "nccl-init-failed", {"ncclCommInitRankConfig: 1"})}),
      Showing(
          "NCCL that the system refuses something",
          {Runner("nccl_without_a_socket", Fails(init, "FAKE_NCCL_FAULT", "call:ncclCommInitRankConfig:0:2"),
                  "nccl-refused-by-system", {"ncclCommInitRankConfig: 2"})}),
      Showing("wrong collective of one rank",
              {Image("collective_moved", AllReduce("moved"), "collective-wrong-value",
                     {"of 1003", "ncclAllReduce"})}),
      Showing(
          "average of one rank without its tail",
          {Image("average_of_one_rank", AllReduce("average_tail", "average"), "collective-not-written",
                 {"11 of 1003", "(element 992)", "NCCL 2.19.1", "2.29.3", "install NCCL 2.29.7 or later"})}),
  });
}

INSTANTIATE_TEST_SUITE_P(Nccl, FaultTableTest, ::testing::ValuesIn(Collectives()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
