// The shipped contract for CUDA 13, on shapes that a CPU can convolve, end to end: a healthy machine opens
// the gate, and each fault closes it with the right blame and exit code.
#include <set>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using ::testing::ContainsRegex;

// cu13.json with every shape it names made small. What is checked is cu13.json's own.
constexpr char kSmallShapes[] = R"({
  "resnet_stem": {"x": [2, 3, 12, 12], "w": [4, 3, 7, 7], "pad": 3, "stride": 2},
  "resnet_body": {"x": [2, 8, 7, 7], "w": [8, 8, 3, 3], "pad": 1},
  "expand_1x1": {"x": [2, 8, 7, 7], "w": [24, 8, 1, 1]},
  "strided_1x1": {"x": [2, 8, 7, 7], "w": [4, 8, 1, 1], "stride": 2},
  "resnet_mid": {"x": [3, 8, 5, 5], "w": [8, 8, 3, 3], "pad": 1},
  "odd_space": {"x": [2, 8, 9, 9], "w": [8, 8, 3, 3], "pad": 1},
  "vgg_deep": {"x": [2, 16, 5, 5], "w": [16, 16, 3, 3], "pad": 1},
  "inception_5x5": {"x": [2, 12, 7, 7], "w": [4, 12, 5, 5], "pad": 2},
  "odd_everything": {"x": [3, 5, 6, 8], "w": [7, 5, 3, 4], "pad": [0, 1]},
  "depthwise": {"x": [2, 8, 9, 9], "w": [8, 1, 3, 3], "pad": 1, "groups": 8},
  "grouped_32x4": {"x": [2, 16, 7, 7], "w": [16, 4, 3, 3], "pad": 1, "groups": 4},
  "dilated": {"x": [1, 8, 9, 9], "w": [8, 8, 3, 3], "pad": 2, "dilation": 2},
  "strided_dilated": {"x": [2, 8, 9, 9], "w": [8, 8, 3, 3], "pad": 2, "stride": 2, "dilation": 2},
  "whisper_1d": {"x": [1, 8, 1, 30], "w": [8, 8, 1, 3], "pad": [0, 1]},
  "patch_embed": {"x": [2, 3, 12, 12], "w": [8, 3, 4, 4], "stride": 4},
  "convnext": {"x": [1, 8, 9, 9], "w": [8, 1, 7, 7], "pad": 3, "groups": 8},
  "multiplier_2": {"x": [2, 8, 7, 7], "w": [16, 1, 3, 3], "pad": 1, "groups": 8},
  "grouped_k_below_c": {"x": [2, 16, 5, 5], "w": [8, 4, 3, 3], "pad": 1, "groups": 4},
  "shufflenet": {"x": [2, 24, 5, 5], "w": [6, 8, 1, 1], "groups": 3},
  "whisper_strided": {"x": [1, 8, 1, 30], "w": [8, 8, 1, 3], "pad": [0, 1], "stride": [1, 2]},
  "unet_up": {"x": [2, 8, 8, 8], "w": [16, 8, 2, 2], "stride": 2},
  "dcgan": {"x": [2, 8, 8, 8], "w": [16, 8, 4, 4], "pad": 1, "stride": 2},
  "winograd_5x5": {"x": [4, 8, 7, 7], "w": [8, 8, 5, 5], "pad": 2},
  "odd_and_uneven": {"x": [3, 7, 9, 8], "w": [5, 7, 3, 5], "pad": [1, 2], "stride": [2, 1]},
  "one_pixel": {"x": [1, 8, 3, 3], "w": [8, 8, 3, 3]},
  "temporal_3d": {"x": [1, 8, 5, 4, 6], "w": [8, 8, 3, 1, 1], "pad": [1, 0, 0]},
  "unet_3d": {"x": [2, 8, 4, 4, 4], "w": [8, 8, 3, 3, 3], "pad": 1},
  "depthwise_3d": {"x": [2, 8, 4, 5, 5], "w": [8, 1, 3, 3, 3], "pad": 1, "groups": 8}})";

// Of the hundreds of convolutions those of three shapes: every type, API, pass and layout, and what cuDNN
// chooses.
constexpr char kSome[] =
    "driver.*:toolkit.*:cudnn.*:"
    "conv.*shape=resnet_body*:conv.*shape=odd_space*:conv.*shape=depthwise,*";

// The fake cuDNN has no attention, and says so; a case of which nothing runs is red. The fakes' files resolve
// nothing that a machine's own CUDA asks of them.
constexpr char kNotOfFakes[] =
    R"({"id": "attention", "remove": true}, {"id": "attention-masks", "remove": true},
  {"id": "attention-normal", "remove": true}, {"id": "attention-normal-window", "remove": true},
  {"id": "attention-normal-pages", "remove": true}, {"id": "attention-normal-gradients", "remove": true},
  {"id": "image-device-code", "remove": true}, {"id": "image-symbols", "remove": true},
  {"id": "image-jit-tools", "remove": true}, {"id": "image-known-faults", "remove": true},
  {"id": "framework-versions", "remove": true})";

class ShippedMatrix : public ShippedTest {
 protected:
  ShippedMatrix() { UseShapes(kSmallShapes); }
  GateResult Gate(const std::vector<std::string>& arguments = {}) {
    Extend(CUDNN_CI_SOURCE_DIR "/matrices/cu13.json");
    return Run(kNotOfFakes, arguments);
  }
  GateResult GateOfSome(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.end(), {"--filter", kSome});
    return Gate(arguments);
  }
};

TEST_F(ShippedMatrix, HealthyMachineOpensTheGate) {
  const GateResult result = Gate();
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const json totals = result.report["totals"];
  EXPECT_GE(totals["planned"], 384);
  EXPECT_EQ(totals["planned"], totals["passed"]) << result.out;
  EXPECT_EQ(result.report["verdict"], "passed");
  EXPECT_TRUE(result.report["partial"].is_null());
  EXPECT_EQ(result.report["judged"]["subjects"][0]["cudnn"], "9.19.0");
}

// The fake cuDNN has no attention.
TEST_F(ShippedMatrix, TheFirstStepsHasOneOfEachOperation) {
  Extend(CUDNN_CI_SOURCE_DIR "/matrices/first.json");
  UseSubjects(R"({"system": "loader"})");
  const GateResult result = Run(R"({"id": "attention", "remove": true})", {});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(result.report["totals"]["planned"], result.report["totals"]["passed"]) << result.out;
  std::multiset<std::string> operations;
  for (const json& c : result.report["cases"])
    if (const std::string check = c["check"]; check.rfind("conv.", 0) == 0 || check.rfind("gemm.", 0) == 0)
      operations.insert(check);
  EXPECT_EQ(operations, (std::multiset<std::string>{"conv.backward_data", "conv.backward_filter",
                                                    "conv.forward", "gemm.matmul"}));
}

TEST_F(ShippedMatrix, IsFoundByItsNameFromAnyFolder) {
  gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // with matrices beside it
  const auto plan = [&](const std::string& matrix) {
    const GateResult result = gate().Command({"list", "--json", "--matrix", matrix});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out)["plan_sha256"];
  };
  const json by_path = plan(CUDNN_CI_SOURCE_DIR "/matrices/cu13.json");
  EXPECT_EQ(plan("cu13"), by_path);
  gate().Write("child.json", R"({"schema": "cudnn-ci/matrix/1", "extends": "builtin:cu13"})");
  EXPECT_EQ(plan("child.json"), by_path);
}

// The numbers of all other cases fit TF32 and float16, so that they look right.
TEST_F(ShippedMatrix, Float32ThatIsComputedInAShorterTypeIsSeenInEveryPassByBothApis) {
  Set("FAKE_CUDNN_FAULT", "inputs:tf32");
  Set("FAKE_CUDNN_FAULT_EVERYWHERE", "1");
  const GateResult result = Gate({"--filter", std::string(kSome) + ":conv.*math=fma*"});
  EXPECT_NE(result.exit_code, 0) << result.out;
  ASSERT_TRUE(result.report.is_object()) << result.err;
  for (const char* check : {"conv.forward", "conv.backward_data", "conv.backward_filter"})
    for (const char* api : {"legacy", "graph"}) {
      const std::string id = std::string(check) + "[algo=auto,api=" + api +
                             ",dtype=float32,layout=nchw,math=fma,shape=strided_dilated,subject=system]";
      EXPECT_EQ(result.Outcome(id), "failed") << id;
    }
  EXPECT_EQ(result.report["totals"]["failed"], 6) << result.out;
}

TEST_F(ShippedMatrix, EveryGpuIsJudged) {
  Set("FAKE_DEVICE_COUNT", "2");
  const GateResult result = GateOfSome({"--device", "all"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(result.report["judged"]["gpu"].size(), 2u);
  EXPECT_EQ(result.Outcome("driver.canary@gpu1"), "passed");
}

struct Machine {
  const char* name;
  const char* variable;
  const char* value;
  const char* slug;
  const char* blame;
  int exit_code;
};

void PrintTo(const Machine& machine, std::ostream* os) { *os << machine.variable << "=" << machine.value; }

class BrokenMachine : public ShippedMatrix, public ::testing::WithParamInterface<Machine> {};

TEST_P(BrokenMachine, ClosesTheGate) {
  const Machine& machine = GetParam();
  Set(machine.variable, machine.value);
  const GateResult result = GateOfSome();
  EXPECT_EQ(result.exit_code, machine.exit_code) << result.out << result.err;
  ASSERT_TRUE(result.report.is_object());
  EXPECT_EQ(result.report["root_cause"]["slug"], machine.slug) << result.out;
  EXPECT_EQ(result.report["root_cause"]["blame"], machine.blame);
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenMachine,
    ::testing::Values(
        Machine{"StubDriver", "FAKE_STUB", "1", "driver-stub-library", "image", 1},
        Machine{"OldDriver", "FAKE_NVML_DRIVER", "470.82.01", "driver-below-contract", "runner", 3},
        Machine{"OldGpu", "FAKE_CC", "7.5", "compute-capability-outside-contract", "runner", 3},
        Machine{"NoContext", "FAKE_CONTEXT", "2", "canary-failed", "runner", 3},
        Machine{"WrongKernel", "FAKE_WRONG_KERNEL", "cudnn_ci_canary", "canary-failed", "runner", 3},
        Machine{"OldToolkit", "FAKE_CUDART_VERSION", "12080", "toolkit-outside-contract", "image", 1},
        Machine{"NvrtcCannotCompile", "FAKE_NVRTC_FAULT", "compile", "nvrtc-compile-failed", "image", 1},
        Machine{"NvrtcKernelWrong", "FAKE_WRONG_KERNEL", "cudnn_ci_fill", "nvrtc-kernel-failed", "image", 1},
        Machine{"OldCudnn", "FAKE_CUDNN_VERSION", "91100", "cudnn-outside-contract", "image", 1},
        Machine{"CudnnOfAnotherMajor", "FAKE_CUDNN_CUDART", "12080", "cudnn-flavour-mismatch", "image", 1},
        Machine{"NoHandle", "FAKE_CUDNN_FAULT", "call:cudnnCreate:0:1001", "cudnn-init-failed", "image", 1},
        Machine{"WrongElement", "FAKE_CUDNN_FAULT", "element:last:2", "wrong-value", "image", 1},
        Machine{"OutOfBounds", "FAKE_CUDNN_FAULT", "guard:behind-y", "out-of-bounds-write", "image", 1},
        Machine{"KernelsFail", "FAKE_CUDNN_FAULT", "call:cudnnConvolutionForward:0:5000",
                "convolution-failed", "image", 1},
        Machine{"NothingIsOffered", "FAKE_CUDNN_FAULT", "call:cudnnConvolutionForward:0:3000",
                "convolution-failed", "image", 1},
        Machine{"CrashingCudnn", "FAKE_CUDNN_FAULT", "call:cudnnGetConvolutionForwardWorkspaceSize:0:abort",
                "crashed", "image", 1}),
    [](const auto& fault) { return std::string(fault.param.name); });

// What nothing looks at would be green whatever the image holds.
TEST_F(ShippedTest, APromiseThatNoCheckJudgesIsRefusedWithItsPlace) {
  Promise("image.toolkit", ">=99");
  const GateResult refused = Run(Entry("cudnn.load"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, ContainsRegex("\"image.toolkit\" .*\\{ \"check\": \"toolkit.runtime\" \\}"));
  EXPECT_EQ(Run(Entry("cudnn.load") + ", " + Entry("toolkit.runtime")).exit_code, 1);
}

}  // namespace
}  // namespace cudnn_ci
