// What packages of an image need to compile device code at run time: image.jit_tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "image_environment.h"
#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kTriton[] = "triton/backends/nvidia/";

class JitToolsTest : public ShippedTest {
 protected:
  JitToolsTest() {
    UseFakes({});
    Set("PATH", gate().Path("usr/bin") + ":" + getenv("PATH"));
    Set("HOME", gate().Path("home"));
    Set("CC", Tool("usr/bin/cc"));
    Set("CXX", Tool("usr/bin/c++"));
    std::filesystem::create_directories(gate().Path("home"));
    gate().Write("usr/include/python3.12/Python.h", "");
  }

  std::string Tool(const std::string& path) {
    std::filesystem::create_directories(gate().Path("usr/include/python3.12"));
    std::filesystem::create_directories(gate().Path("usr/bin"));
    gate().Write(path, "#!");
    std::filesystem::permissions(gate().Path(path), std::filesystem::perms::owner_all);
    return gate().Path(path);
  }

  // PyTorch with Triton, as its packages lie there.
  ImageEnvironment Torch(const std::string& ptxas = "12.8", const std::string& blackwell = "12.9",
                         std::vector<std::string> more = {}) {
    more.insert(more.end(), {"torch-2.11.0", "triton-3.6.0"});
    ImageEnvironment environment(gate().Path("env"), more);
    const std::string site = ImageEnvironment::Site() + kTriton, words = "Cuda compilation tools, release ";
    environment.Write(site + "bin/ptxas", words + ptxas + ", V", true);
    environment.Write(site + "bin/ptxas-blackwell", words + blackwell + ", V", true);
    environment.Write(site + "lib/libdevice.10.bc", "BC");
    return environment;
  }

  CheckOutcome Tools(const ImageEnvironment& environment, const std::string& params = "{}") {
    UseSubjects(environment.Subject());
    return Check("image.jit_tools", "\"name\": \"x\", \"params\": " + params);
  }
};

std::vector<std::string> Warnings(const CheckOutcome& r) {
  std::vector<std::string> slugs;
  if (!r.record.is_null())
    for (const json& f : r.record["findings"])
      if (f["severity"] == "warning") slugs.push_back(f["slug"]);
  return slugs;
}

TEST_F(JitToolsTest, ASoundEnvironmentIsSilent) {
  const CheckOutcome r = Tools(Torch(), R"({"require": ["torch.compile"], "gpus": ["8.0", "9.0", "10.3"]})");
  EXPECT_EQ(r.Outcome(), "passed") << r.gate.out;
  EXPECT_THAT(r.Slugs(), IsEmpty());
  EXPECT_THAT(Warnings(r), IsEmpty());
}

TEST_F(JitToolsTest, AMissingCompilerIsAWarningUntilSomebodyNeedsIt) {
  Set("CC", gate().Path("none/gcc"));
  const ImageEnvironment torch = Torch();
  CheckOutcome r = Tools(torch);
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_THAT(Warnings(r), ElementsAre("jit-feature-limited"));
  r = Tools(torch, R"({"require": ["torch.compile"]})");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("jit-tool-missing"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("triton 3.6.0: CC "), HasSubstr("none/gcc, ")));
  torch.Write(ImageEnvironment::Site() + "vllm-0.11.0.dist-info/RECORD", "");
  r = Tools(torch);
  EXPECT_THAT(r.Slugs(), ElementsAre("jit-tool-missing"));
  EXPECT_THAT(r.Detail(), HasSubstr("by vllm 0.11.0"));
}

TEST_F(JitToolsTest, APtxasThatDoesNotKnowAPromisedCardIsNamed) {
  const ImageEnvironment torch = Torch("12.8", "12.8");
  CheckOutcome r = Tools(torch, R"({"require": ["triton"], "gpus": ["9.0", "10.3"]})");
  EXPECT_THAT(r.Slugs(), ElementsAre("jit-ptxas-too-old"));
  EXPECT_THAT(r.Detail(), Mentions("12.8", "10.3", "12.9"));
  EXPECT_EQ(Tools(torch, R"({"require": ["triton"], "gpus": ["9.0", "10.0"]})").gate.exit_code, 0);
  Promise("runner.compute_capability", ">=10.3 <10.4");
  EXPECT_THAT(Tools(torch, R"({"require": ["triton"]})").Slugs(), ElementsAre("jit-ptxas-too-old"));
}

TEST_F(JitToolsTest, EachMissingPieceOfTritonIsNamed) {
  const std::string required = R"({"require": ["triton"]})";
  const ImageEnvironment torch = Torch();
  std::filesystem::remove(gate().Path("usr/include/python3.12/Python.h"));
  EXPECT_THAT(Tools(torch, required).Detail(), HasSubstr("/include/python3.12/Python.h"));
  gate().Write("usr/include/python3.12/Python.h", "");
  std::filesystem::remove(torch.Path(ImageEnvironment::Site() + kTriton + "lib/libdevice.10.bc"));
  EXPECT_THAT(Tools(torch, required).Detail(), HasSubstr("libdevice.10.bc"));
  torch.Write(ImageEnvironment::Site() + kTriton + "lib/libdevice.10.bc", "BC");
  std::filesystem::remove(torch.Path(ImageEnvironment::Site() + kTriton + "bin/ptxas"));
  EXPECT_THAT(Tools(torch, required).Detail(), HasSubstr("no ptxas"));
}

TEST_F(JitToolsTest, TritonsCacheMustBeWritableAndLoadable) {
  const ImageEnvironment torch = Torch();
  const std::string cache = gate().Path("cache");
  std::filesystem::create_directories(cache);
  Set("TRITON_CACHE_DIR", cache);
  EXPECT_EQ(Tools(torch, R"({"require": ["triton"]})").gate.exit_code, 0);
  for (const char* option : {"noexec", "ro"}) {
    const std::vector<std::string> before =
        InMountNamespace("mount -t tmpfs -o " + std::string(option) + " tmpfs " + cache);
    ASSERT_FALSE(before.empty()) << "this machine lets nobody make a mount namespace";
    gate().Before(before);
    const CheckOutcome r = Tools(torch, R"({"require": ["triton"]})");
    EXPECT_THAT(r.Slugs(), ElementsAre("jit-cache-unusable")) << option;
    EXPECT_THAT(r.Detail(), HasSubstr(cache));
  }
}

TEST_F(JitToolsTest, OrdinaryNeedsOfOtherPackagesAreErrors) {
  const ImageEnvironment numba(gate().Path("env"), {"numba_cuda-0.30.4", "jax_cuda13_plugin-0.10.2"});
  // A toolkit of this machine would do.
  const std::vector<std::string> before = InMountNamespace(
      "for folder in /usr/local/cuda*; do [ ! -d $folder ] || mount -t tmpfs tmpfs $(realpath $folder); "
      "done");
  ASSERT_FALSE(before.empty()) << "this machine lets nobody make a mount namespace";
  gate().Before(before);
  const CheckOutcome r = Tools(numba);
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), Contains("jit-tool-missing"));
  std::string details;
  for (const json& f : r.record["findings"]) details += f["detail"].get<std::string>() + "\n";
  EXPECT_THAT(details,
              Mentions("numba-cuda 0.30.4: no libnvvm.so", "jax-cuda13-plugin 0.10.2: no libdevice.10.bc"));
}

// DeepGEMM compiles each kernel at its first call, by the nvcc of a toolkit and with its headers.
TEST_F(JitToolsTest, DeepGemmNeedsAToolkit) {
  const ImageEnvironment environment(gate().Path("env"), {"sgl_deep_gemm-0.2.5"});
  // A toolkit of this machine would come first.
  const std::vector<std::string> before = InMountNamespace(
      "for folder in /usr/local/cuda*; do [ ! -d $folder ] || mount -t tmpfs tmpfs $(realpath $folder); "
      "done");
  ASSERT_FALSE(before.empty()) << "this machine lets nobody make a mount namespace";
  gate().Before(before);
  Tool("usr/bin/nvcc");
  CheckOutcome r = Tools(environment);
  EXPECT_EQ(r.Outcome(), "passed") << r.gate.out << r.gate.err;
  EXPECT_THAT(Warnings(r), ElementsAre("jit-feature-limited"));
  EXPECT_THAT(r.Detail(), HasSubstr("deep_gemm of sgl-deep-gemm 0.2.5: no include/curand_kernel.h in "));
  gate().Write("usr/include/curand_kernel.h", "");
  r = Tools(environment);
  EXPECT_EQ(r.Outcome(), "passed") << r.gate.out << r.gate.err;
  EXPECT_THAT(Warnings(r), IsEmpty());
}

TEST_F(JitToolsTest, AFeatureThatIsRequiredAndNotInstalledIsRed) {
  const CheckOutcome r = Tools(Torch(), R"({"require": ["cupy"]})");
  EXPECT_THAT(r.Slugs(), ElementsAre("jit-tool-missing"));
  EXPECT_THAT(r.Detail(), HasSubstr("cupy "));
}

TEST_F(JitToolsTest, NvrtcWithoutItsBuiltinsIsRedWhoeverBroughtIt) {
  const ImageEnvironment environment(gate().Path("env"), {"nvidia_cuda_nvrtc-13.0.88"});
  const std::string lib = ImageEnvironment::Site() + "nvidia/cu13/lib/";
  environment.Write(lib + "libnvrtc.so.13", "libnvrtc-builtins.so.99.0 ");
  CheckOutcome r = Tools(environment);
  EXPECT_THAT(r.Slugs(), ElementsAre("jit-tool-missing"));
  EXPECT_THAT(r.Detail(), Mentions("libnvrtc.so.13", "libnvrtc-builtins.so.99.0, "));
  environment.Write(lib + "libnvrtc-builtins.so.99.0", "x");
  r = Tools(environment);
  EXPECT_EQ(r.Outcome(), "passed") << r.gate.out;
}

TEST_F(JitToolsTest, WithoutAnythingThatCompilesItIsASkip) {
  const CheckOutcome r = Tools(ImageEnvironment(gate().Path("env"), {"numpy-2.0"}));
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_EQ(r.Skip("kind"), "absent");
}

}  // namespace
}  // namespace cudnn_ci
