// Convolutions that fail, crash, hang, cannot be had or return wrong numbers, on a machine that is otherwise
// sound; and convolutions that a matrix cannot mean.
#include <map>

#include "fault_machines.h"

namespace cudnn_ci {
namespace {

constexpr char kParams[] =
    R"("params": {"algo": "implicit_precomp_gemm", "dtype": "float32", "shape": "made"})";

// One convolution, where the fake cuDNN has this fault.
Make Convolution(const std::string& fault, const std::string& rest = "") {
  return With(Entry("conv.forward", kParams + rest), [fault](FaultTest& t) {
    t.UseShapes(R"({"made": {"x": [2, 6, 9, 11], "w": [8, 3, 3, 5], "pad": [1, 2], "groups": 2}})");
    if (!fault.empty()) t.Set("FAKE_CUDNN_FAULT", fault);
  });
}

// The same, with one variable of the fakes instead.
Make ConvolutionWith(const std::string& variable, const std::string& value, const std::string& rest = "") {
  return [=](FaultTest& t) {
    const bool made = Convolution("", rest)(t);
    t.Set(variable, value);
    return made;
  };
}

Fault Refused(const std::string& name, const std::string& shape, const std::string& words) {
  return {name,
          With(Entry("conv.forward", kParams),
               [shape](FaultTest& t) { t.UseShapes("{\"made\": {" + shape + "}}"); }),
          "",
          "",
          2,
          {"matrix.json:1:", words}};
}

std::vector<Fault> Failures() {
  const std::string failed = "convolution-failed", call = "call:cudnnConvolutionForward:1:";
  return Joined({
      Showing("convolution that fails",
              {
                  Image("execution_failed", Convolution(call + "5000"), failed, {"5000"}),
                  Image("part_unavailable_when_it_is_needed", Convolution(call + "3009"), failed, {"3009"}),
                  Image("workspace_query_failed",
                        Convolution("call:cudnnGetConvolutionForwardWorkspaceSize:0:2000"), failed,
                        {"cudnnGetConvolutionForwardWorkspaceSize: 2000"}),
              }),
      Showing("too little workspace proposed",
              {Image("proposal_says_less_than_the_query",
                     With(Entry("conv.forward", R"("params": {"dtype": "float32", "shape": "made"})"),
                          [](FaultTest& t) {
                            t.UseShapes(R"({"made": {"x": [2, 6, 9, 11], "w": [8, 6, 3, 5]}})");
                            t.Set("FAKE_CUDNN_PROPOSED_WORKSPACE", "1");
                          }),
                     "workspace-understated", {"1 bytes"})}),
      Showing("broken context",
              {Image("illegal_address", ConvolutionWith("FAKE_CUDA_FAULT", "call:cuEventSynchronize:1:700"),
                     failed, {"cuEventSynchronize: 700 CUDA_ERROR_ILLEGAL_ADDRESS"})}),
      Showing("no engine",
              {Image("every_algorithm_refused",
                     ConvolutionWith("FAKE_CUDNN_REFUSES", "1", R"(, "allow_skip": ["unsupported"])"),
                     "no-engine", {"float32"})}),
      Showing("convolution not supported", {Fault{"algorithm_refused",
                                                  ConvolutionWith("FAKE_CUDNN_REFUSES", "1"),
                                                  "skip-not-allowed",
                                                  "matrix",
                                                  4,
                                                  {"3000 CUDNN_STATUS_NOT_SUPPORTED"}}}),
      Showing("no memory for the workspace",
              {Runner("memory_too_little_for_a_convolution", ConvolutionWith("FAKE_FREE_MB", "200"),
                      "out-of-device-memory-shared", {"257 MiB", "130872 MiB"})}),
      Showing("hang in a library",
              {Image("convolution_hangs", Convolution(call + "hang", ", \"timeout_s\": 3"), "timed-out",
                     {"3.000 s", "step convolve"})}),
      Showing("crash in a library",
              {Image("convolution_aborts", Convolution(call + "abort"), "crashed", {"SIGABRT", "libcudnn"})}),
  });
}

// An element that is wrong in every algorithm, with these variables of the fakes.
Make WrongEverywhere(const std::map<std::string, std::string>& variables) {
  return [=](FaultTest& t) {
    const bool made = ConvolutionWith("FAKE_CUDNN_FAULT_EVERYWHERE", "1")(t);
    t.Set("FAKE_CUDNN_FAULT", "element:last");
    for (const auto& [name, value] : variables) t.Set(name, value);
    return made;
  };
}

std::vector<Fault> Numbers() {
  return Joined({
      Showing("a GPU that computes wrong",
              {Runner("gpu_not_twice_the_same", WrongEverywhere({{"FAKE_CUDNN_FAULT_RUNS", "1"}}),
                      "gpu-computes-wrong", {"0 of 2"}),
               Runner("one_of_two_gpus_wrong",
                      WrongEverywhere({{"FAKE_DEVICE_COUNT", "2"},
                                       {"FAKE_NAME", "NVIDIA Fake"},
                                       {"FAKE_CUDNN_FAULT_GPU", "0"}}),
                      "gpu-computes-wrong", {"gpu0", "gpu1"})}),
      Showing("wrong numbers on two GPUs",
              {Image("both_gpus_wrong",
                     WrongEverywhere({{"FAKE_DEVICE_COUNT", "2"}, {"FAKE_NAME", "NVIDIA Fake"}}),
                     "fails-on-another-gpu", {"gpu0", "gpu1"})}),
      Showing("wrong numbers, and one GPU", {Fault{"every_algorithm_wrong",
                                                   WrongEverywhere({}),
                                                   "wrong-value-unexplained",
                                                   "undetermined",
                                                   6,
                                                   {"2 of 2"}}}),
      Showing("wrong numbers",
              {
                  Image("one_element_wrong", Convolution("element:last"), "wrong-value", {"1 of 1584"}),
                  Image("workspace_read_before_it_is_written", Convolution("read:workspace"), "wrong-value",
                        {"got NaN"}),
                  Image("element_not_written", Convolution("unwritten:last"), "output-not-written",
                        {"1 of 1584"}),
                  Image("wrong_on_random_data_alone",
                        With(Entry("conv.forward",
                                   R"("params": {"algo": "every", "dtype": "float32", "shape": "made"})"),
                             [](FaultTest& t) {
                               t.UseShapes(R"({"made": {"x": [2, 6, 9, 11], "w": [8, 6, 3, 5]}})");
                               t.Set("FAKE_CUDNN_FAULT", "fractions:last");
                             }),
                        "imprecise-value", {"1 of 784"}),
              }),
      Showing("results that change", {Runner("convolution_that_varies", Convolution("varies:last"),
                                             "not-repeatable", {"1 of 1584"})}),
      Showing("write outside of a buffer",
              {
                  Image("byte_behind_the_output", Convolution("guard:behind-y"), "out-of-bounds-write",
                        {"0 bytes", "y"}),
                  Image("byte_of_the_input", Convolution("input:x:first"), "input-modified",
                        {"x changed", "byte 0"}),
              }),
  });
}

// What cannot be, asked of the library itself; `takes` is what the fake does about it.
Make Refusal(const std::string& what, const std::string& takes, const std::string& rest = "") {
  const std::string params = R"("params": {"dtype": "float32", "what": ")" + what + "\"}";
  return With(Entry("conv.refuses", params + rest), [takes](FaultTest& t) {
    t.Set("FAKE_CUDNN_REFUSES", "1,2,4,5,7");  // one algorithm is left
    if (!takes.empty()) t.Set("FAKE_CUDNN_TAKES", takes);
  });
}

std::vector<Fault> NotRefused() {
  return Joined({
      Showing("impossible convolution that is not refused",
              {
                  Image("kernel_larger_than_its_input_accepted", Refusal("kernel_too_large", "success"),
                        "impossible-accepted", {"11x11"}),
                  Image("context_broken_by_a_refusal",
                        [](FaultTest& t) {
                          const bool made = Refusal("group_mismatch", "")(t);
                          t.Set("FAKE_CUDA_FAULT", "call:cuMemsetD32_v2:7:700");
                          return made;
                        },
                        "unusable-after-refusal", {"15 filters in 4 groups", "700"}),
              }),
      Showing("crash in a library", {Image("impossible_convolution_aborts",
                                           Refusal("channel_mismatch", "abort"), "crashed", {"SIGABRT"})}),
      Showing("hang in a library", {Image("impossible_convolution_hangs",
                                          Refusal("channel_mismatch", "hang", ", \"timeout_s\": 3"),
                                          "timed-out", {"step implicit_gemm"})}),
  });
}

std::vector<Fault> Impossible() {
  return Joined({
      Showing("impossible convolution",
              {
                  Refused("dimension_of_zero", R"("x": [1, 0, 4, 4], "w": [8, 1, 3, 3])", "from 1"),
                  Refused("kernel_larger_than_its_input", R"("x": [1, 3, 4, 4], "w": [8, 3, 5, 4])",
                          "covers 5 elements"),
                  Refused("channels_of_another_number",
                          R"("x": [1, 6, 4, 4], "w": [8, 6, 3, 3], "groups": 2)", "c/groups = 3"),
              }),
      Showing("too many elements", {Refused("output_of_two_to_the_31",
                                            R"("x": [65536, 1, 1, 1], "w": [32768, 1, 1, 1])", "y 2^31")}),
  });
}

std::vector<Fault> Told() {
  return Showing("proposals that are refused",
                 {Sound("first_proposal_refused",
                        With(Entry("conv.forward", R"("params": {"dtype": "float32", "shape": "made"})"),
                             [](FaultTest& t) {
                               t.UseShapes(R"({"made": {"x": [2, 6, 9, 11], "w": [8, 6, 3, 5]}})");
                               t.Set("FAKE_CUDNN_PROPOSALS", "2/1/0,1/1/0");
                               t.Set("FAKE_CUDNN_REFUSES", "2");
                             }),
                        "proposal-refused")});
}

INSTANTIATE_TEST_SUITE_P(ConvolutionTold, FaultTableTest, ::testing::ValuesIn(Told()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(ConvolutionFailures, FaultTableTest, ::testing::ValuesIn(Failures()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(ConvolutionNumbers, FaultTableTest, ::testing::ValuesIn(Numbers()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(ConvolutionNotRefused, FaultTableTest, ::testing::ValuesIn(NotRefused()),
                         NameOfFault);
INSTANTIATE_TEST_SUITE_P(ConvolutionImpossible, FaultTableTest, ::testing::ValuesIn(Impossible()),
                         NameOfFault);

}  // namespace
}  // namespace cudnn_ci
