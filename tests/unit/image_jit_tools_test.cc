// Whether what packages need to compile at run time is found, and for which of them it matters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "dotted_versions.h"
#include "image/jit_tools_look.h"
#include "image/jit_tools_needs.h"
#include "image/jit_tools_scan.h"
#include "known_entry.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Cards = std::map<std::string, std::string>;

constexpr char kSite[] = "venv/lib/python3.12/site-packages/";
constexpr char kTritonBin[] = "venv/lib/python3.12/site-packages/triton/backends/nvidia/bin/";

// An environment and a system below one folder.
class JitToolsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/cudnn-ci-jit-XXXXXX";
    root_ = fs::canonical(mkdtemp(pattern)).string();
    Write("venv/pyvenv.cfg", "home = " + root_ + "/usr/bin\n");
    Program("usr/bin/python3.12");
    fs::create_directories(root_ + "/venv/bin");
    fs::create_symlink(root_ + "/usr/bin/python3.12", root_ + "/venv/bin/python");
    fs::create_directories(root_ + "/" + kSite);
    variables_ = {{"PATH", root_ + "/usr/bin"}, {"HOME", root_ + "/home"}};
    fs::create_directories(root_ + "/home");
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string Write(const std::string& path, const std::string& text = "x") {
    const fs::path file = fs::path(root_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  std::string Program(const std::string& path, const std::string& text = "#!") {
    fs::permissions(Write(path, text), fs::perms::owner_all);
    return root_ + "/" + path;
  }
  void Install(const std::string& package) { Write(kSite + package + ".dist-info/RECORD", ""); }
  void Ptxas(const std::string& name, const std::string& release) {
    Program(kTritonBin + name, "Cuda compilation tools, release " + release + ", V" + release + ".1");
  }
  ImageFiles Image() { return FilesOfSubject("python:" + root_ + "/venv/bin/python", {}, ""); }
  ToolLook Look(JitTool tool, const Cards& cards = {}) {
    const ImageFiles image = Image();
    return JitPlaces(image, variables_, root_).Look(tool, cards);
  }
  bool Has(JitTool tool) { return Look(tool).state == ToolState::kPresent; }
  // "triton!" of those that are ordinary.
  std::vector<std::string> Features(const std::vector<std::string>& required = {}) {
    std::vector<std::string> names;
    for (const JitFeature& f : JitFeaturesOf(ReadJitRules(KnownEntry), Image(), required))
      names.push_back(f.name + (f.ordinary ? "!" : ""));
    return names;
  }

  std::string root_;
  std::map<std::string, std::string> variables_;
};

TEST_F(JitToolsTest, ACompilerIsAProgramOfPathWithTheHeadersOfTheCLibrary) {
  EXPECT_THAT(Look(JitTool::kCCompiler).text, Mentions("PATH", "gcc", "clang"));
  Write("usr/bin/gcc");
  EXPECT_FALSE(Has(JitTool::kCCompiler)) << "it is not executable";
  Program("usr/bin/gcc");
  EXPECT_THAT(Look(JitTool::kCCompiler).text, HasSubstr("stdlib.h"));
  Write("usr/include/stdlib.h");
  EXPECT_TRUE(Has(JitTool::kCCompiler));
  EXPECT_FALSE(Has(JitTool::kCxxCompiler));
  Program("usr/bin/g++");
  EXPECT_TRUE(Has(JitTool::kCxxCompiler));
  variables_["CC"] = "ccache gcc";
  EXPECT_THAT(Look(JitTool::kCCompiler).text, Mentions("CC", "ccache gcc, "));
  variables_["CC"] = Program("opt/tools/cc");
  fs::remove(root_ + "/usr/include/stdlib.h");
  EXPECT_EQ(Look(JitTool::kCCompiler).text, root_ + "/opt/tools/cc") << "it brings its own headers";
}

TEST_F(JitToolsTest, HeadersOfPythonAreThoseOfTheInterpreterBehindTheEnvironment) {
  EXPECT_THAT(Look(JitTool::kPythonHeaders).text, HasSubstr("/usr/include/python3.12/Python.h"));
  Write("usr/include/python3.11/Python.h");
  EXPECT_FALSE(Has(JitTool::kPythonHeaders));
  Write("usr/include/python3.12/Python.h");
  EXPECT_TRUE(Has(JitTool::kPythonHeaders));
  // "venv --copies" leaves no link to it.
  fs::remove(root_ + "/venv/bin/python");
  Program("venv/bin/python");
  EXPECT_TRUE(Has(JitTool::kPythonHeaders));
  Write("venv/pyvenv.cfg", "version = 3.12.1\n");
  EXPECT_FALSE(Has(JitTool::kPythonHeaders));
}

TEST_F(JitToolsTest, TritonFindsTheDriverByLdconfigOrIsTold) {
  EXPECT_FALSE(Has(JitTool::kLdconfig));
  Program("sbin/ldconfig");
  EXPECT_TRUE(Has(JitTool::kLdconfig));
  fs::remove(root_ + "/sbin/ldconfig");
  variables_["TRITON_LIBCUDA_PATH"] = root_ + "/driver";
  EXPECT_TRUE(Has(JitTool::kLdconfig));
  EXPECT_EQ(Look(JitTool::kDriverLinkName).state, ToolState::kMissing);
  Write("driver/libcuda.so");
  EXPECT_TRUE(Has(JitTool::kDriverLinkName));
}

TEST_F(JitToolsTest, TheNameOfTheDriverToLinkWithLiesBesideIt) {
  EXPECT_EQ(Look(JitTool::kDriverLinkName).state, ToolState::kUnknown) << "no driver is here";
  variables_["LD_LIBRARY_PATH"] = root_ + "/empty:" + root_ + "/driver";
  Write("driver/libcuda.so.1");
  EXPECT_EQ(Look(JitTool::kDriverLinkName).state, ToolState::kMissing);
  Write("driver/libcuda.so");
  EXPECT_TRUE(Has(JitTool::kDriverLinkName));
}

TEST_F(JitToolsTest, TritonsPtxasMustKnowThePromisedCards) {
  EXPECT_EQ(Look(JitTool::kTritonPtxas).state, ToolState::kMissing);
  Ptxas("ptxas", "12.8");
  EXPECT_TRUE(Has(JitTool::kTritonPtxas)) << "no card is promised";
  const Cards cards = {{"9.0", "11.8"}, {"10.3", "12.9"}};
  EXPECT_THAT(Look(JitTool::kTritonPtxas, cards).text,
              AllOf(Mentions("ptxas", "12.8", "10.3", "12.9"), Not(Mentions("9.0"))));
  EXPECT_EQ(Look(JitTool::kTritonPtxas, cards).state, ToolState::kTooOld);
  Ptxas("ptxas-blackwell", "12.9");
  EXPECT_EQ(Look(JitTool::kTritonPtxas, cards).state, ToolState::kPresent);
  EXPECT_EQ(Look(JitTool::kTritonPtxas, {{"9.0", "12.9"}}).state, ToolState::kTooOld) << "not for Hopper";
  EXPECT_EQ(Look(JitTool::kTritonPtxas, {{"13.7", ""}}).state, ToolState::kPresent) << "nobody knows";
  fs::permissions(root_ + "/" + kTritonBin + "ptxas", fs::perms::owner_read);
  EXPECT_EQ(Look(JitTool::kTritonPtxas, cards).state, ToolState::kMissing);
  variables_["TRITON_PTXAS_PATH"] = Program("opt/ptxas", "Cuda compilation tools, release 13.0, V13.0.1");
  EXPECT_EQ(Look(JitTool::kTritonPtxas, cards).state, ToolState::kPresent);
}

TEST_F(JitToolsTest, ACacheFolderIsMadeBelowOneThatCanBeWritten) {
  EXPECT_TRUE(Has(JitTool::kTritonCache));
  EXPECT_THAT(Look(JitTool::kTritonCache).text, HasSubstr("/home/.triton/cache"));
  variables_["TRITON_CACHE_DIR"] = Write("file");
  EXPECT_THAT(Look(JitTool::kTritonCache).text, Mentions(root_ + "/file"));
  EXPECT_EQ(Look(JitTool::kTritonCache).state, ToolState::kUnusable);
  EXPECT_TRUE(Has(JitTool::kCupyCache));
  variables_["CUPY_CACHE_DIR"] = root_ + "/file/below";
  EXPECT_EQ(Look(JitTool::kCupyCache).state, ToolState::kUnusable);
  variables_["CUPY_CACHE_IN_MEMORY"] = "1";
  EXPECT_TRUE(Has(JitTool::kCupyCache));
  variables_.erase("TRITON_CACHE_DIR"), variables_.erase("HOME");
  EXPECT_EQ(Look(JitTool::kTritonCache).state, ToolState::kUnknown);
}

TEST_F(JitToolsTest, PartsOfAToolkitLieInPackagesOrTheToolkit) {
  for (const JitTool tool :
       {JitTool::kLibdevice, JitTool::kLibnvvm, JitTool::kCudaHeaders, JitTool::kToolkitPtxas, JitTool::kNvcc,
        JitTool::kNvrtc, JitTool::kNinja, JitTool::kTritonLibdevice, JitTool::kTritonPackage})
    EXPECT_FALSE(Has(tool)) << static_cast<int>(tool);
  Write(std::string(kSite) + "nvidia/cu13/nvvm/libdevice/libdevice.10.bc");
  Write(std::string(kSite) + "nvidia/cu13/lib/libnvvm.so.4");
  Write(std::string(kSite) + "nvidia/cuda_runtime/include/cuda_fp16.h");
  Write(std::string(kSite) + "nvidia/cu13/lib/libnvrtc.so.13");
  Write(std::string(kSite) + "triton/backends/nvidia/lib/libdevice.10.bc");
  Program("usr/local/cuda/bin/nvcc");
  Program("usr/local/cuda/bin/ptxas", "Cuda compilation tools, release 12.8, V12.8.1");
  Program("usr/bin/ninja");
  Install("triton-3.6.0");
  for (const JitTool tool :
       {JitTool::kLibdevice, JitTool::kLibnvvm, JitTool::kCudaHeaders, JitTool::kToolkitPtxas, JitTool::kNvcc,
        JitTool::kNvrtc, JitTool::kNinja, JitTool::kTritonLibdevice, JitTool::kTritonPackage})
    EXPECT_TRUE(Has(tool)) << static_cast<int>(tool);
  EXPECT_EQ(Look(JitTool::kToolkitPtxas, {{"10.3", "12.9"}}).state, ToolState::kTooOld);
  variables_["TRITON_LIBDEVICE_PATH"] = root_ + "/none";
  EXPECT_FALSE(Has(JitTool::kTritonLibdevice));
}

// As of FlashInfer with the nvcc of an image that has no libcurand-dev: the wheel's header is none of nvcc's.
TEST_F(JitToolsTest, HeadersAreThoseOfTheNvccThatCompiles) {
  Write(std::string(kSite) + "nvidia/curand/include/curand_kernel.h");
  EXPECT_EQ(Look(JitTool::kCurandHeaders).state, ToolState::kUnknown) << "nothing compiles";
  Program("usr/local/cuda/bin/nvcc");
  EXPECT_EQ(Look(JitTool::kCurandHeaders).state, ToolState::kMissing);
  Write("usr/local/cuda/include/curand_kernel.h");
  EXPECT_TRUE(Has(JitTool::kCurandHeaders));
  Program(std::string(kSite) + "nvidia/cu13/bin/nvcc");
  EXPECT_EQ(Look(JitTool::kCurandHeaders).state, ToolState::kMissing) << "which comes first";
  Write(std::string(kSite) + "nvidia/cu13/include/curand_kernel.h");
  EXPECT_TRUE(Has(JitTool::kCurandHeaders));
}

TEST_F(JitToolsTest, NvrtcOpensTheBuiltinsOfItsOwnVersion) {
  const std::string lib = std::string(kSite) + "nvidia/cu13/lib/";
  Write(lib + "libnvrtc.so.13", std::string("abc\0libnvrtc-builtins.so.13.0\0", 30));
  Write(lib + "libnvrtc-builtins.so.13.1");
  const auto lacking = [this] {
    const ImageFiles image = Image();
    return JitPlaces(image, variables_, root_).LookAtNvrtc().lacking;
  };
  EXPECT_THAT(lacking(),
              ElementsAre(AllOf(HasSubstr("libnvrtc.so.13"), HasSubstr("libnvrtc-builtins.so.13.0"))));
  Write(std::string(kSite) + "torch/lib/libnvrtc-builtins.so.13.0");
  EXPECT_THAT(lacking(), IsEmpty());
}

TEST_F(JitToolsTest, NumbersAreFoundAcrossPartsOfAFile) {
  const std::string marker = "release ";
  for (const size_t before : {size_t{0}, (size_t{1} << 20) - 10, (size_t{1} << 20) - 3, size_t{3} << 20}) {
    const std::string file = Write("text", std::string(before, 'x') + "release none release 12.9, V");
    EXPECT_EQ(NumbersBehind(file, marker), "12.9") << before;
  }
  EXPECT_EQ(NumbersBehind(Write("text", "release 12.9."), marker), "12.9");
  EXPECT_EQ(NumbersBehind(Write("text", "release 13"), marker), "13") << "the file ends";
  EXPECT_EQ(NumbersBehind(Write("text", "release .1"), marker), "");
  EXPECT_EQ(NumbersBehind(Write("text", "rele"), marker), "");
  EXPECT_EQ(NumbersBehind(Write("text", "release " + std::string(5000, '1')), marker).size(), 32u);
  EXPECT_EQ(NumbersBehind(root_ + "/none", marker), "");
  const std::string fifo = root_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(NumbersBehind(fifo, marker), "");
}

TEST_F(JitToolsTest, FeaturesAreThoseOfTheInstalledPackages) {
  EXPECT_THAT(Features(), IsEmpty());
  Install("triton-3.6.0");
  EXPECT_THAT(Features(), ElementsAre("triton!")) << "nobody else brought it";
  Install("torch-2.11.0");
  EXPECT_THAT(Features(), ElementsAre("triton", "torch.compile"));
  EXPECT_THAT(Features({"triton"}), ElementsAre("triton!", "torch.compile"));
  EXPECT_THAT(Features({"torch.compile"}), ElementsAre("triton!", "torch.compile!"));
  EXPECT_THAT(Features({"torch.cpp_extension"}),
              ElementsAre("triton", "torch.compile", "torch.cpp_extension!"));
  Install("vllm-0.11.0");
  EXPECT_THAT(Features(), ElementsAre("triton!", "torch.compile"));
  for (const char* package : {"numba-0.68.1", "cupy_cuda13x-14.2.0", "jax_cuda13_plugin-0.10.2",
                              "jax_cuda13_pjrt-0.10.2", "tensorflow-2.21.0"})
    Install(package);
  EXPECT_THAT(Features(), ElementsAre("triton!", "torch.compile", "cupy!", "jax!", "tensorflow.xla"));
  EXPECT_THAT(Features({"numba.cuda"}),
              ElementsAre("triton!", "torch.compile", "numba.cuda!", "cupy!", "jax!", "tensorflow.xla"));
}

TEST_F(JitToolsTest, APyTorchForTheCpuCompilesNoDeviceCode) {
  Install("torch-2.11.0+cpu");
  EXPECT_THAT(Features(), IsEmpty());
  fs::remove_all(root_ + "/" + kSite + "torch-2.11.0+cpu.dist-info");
  Install("torch-2.11.0");
  EXPECT_THAT(Features(), ElementsAre("torch.compile")) << "records tell nothing";
  Write(std::string(kSite) + "torch/lib/libtorch_cpu.so");
  EXPECT_THAT(Features(), IsEmpty());
  Write(std::string(kSite) + "torch/lib/libtorch_cuda.so");
  EXPECT_THAT(Features(), ElementsAre("torch.compile"));
}

TEST_F(JitToolsTest, TritonBefore3_6LinksWithTheDriversOtherName) {
  const auto asks = [](const std::string& version) {
    for (const JitNeed& need :
         NeedsOf(ReadJitRules(KnownEntry), {"triton", "triton " + version, version, true, ""}, Within))
      if (need.tool == JitTool::kDriverLinkName) return true;
    return false;
  };
  EXPECT_TRUE(asks("3.5.1"));
  EXPECT_FALSE(asks("3.6.0"));
  EXPECT_FALSE(asks(""));
}

}  // namespace
}  // namespace cudnn_ci
