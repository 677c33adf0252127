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
                     "nccl-needs-newer-driver", {"is built with CUDA 13.0, and the driver serves 12.8"})}),
      Showing(
          "NCCL that cannot begin",
          {Image("nccl_that_cannot_begin", Fails(init, "FAKE_NCCL_FAULT", "call:ncclCommInitRankConfig:0:1"),
                 "nccl-init-failed", {"ncclCommInitRankConfig: 1 other error: the fake's last words"})}),
      Showing(
          "NCCL that the system refuses something",
          {Runner("nccl_without_a_socket", Fails(init, "FAKE_NCCL_FAULT", "call:ncclCommInitRankConfig:0:2"),
                  "nccl-refused-by-system", {"2 unhandled system error"})}),
      Showing("wrong collective of one rank",
              {Image("collective_moved", AllReduce("moved"), "collective-wrong-value",
                     {"of 1003 elements are wrong; first (element ", "ncclAllReduce"})}),
      Showing(
          "average of one rank without its tail",
          {Image("average_of_one_rank", AllReduce("average_tail", "average"), "collective-not-written",
                 {"11 of 1003 elements were never written; first (element 992)",
                  "known: wrong in NCCL 2.19.1 to 2.29.3, fixed in 2.29.7 (", "take NCCL 2.29.7 or later"})}),
  });
}

INSTANTIATE_TEST_SUITE_P(Nccl, FaultTableTest, ::testing::ValuesIn(Collectives()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
