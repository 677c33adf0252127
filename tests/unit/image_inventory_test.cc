// What an image holds beside what its subjects use: frameworks by their metadata, and CUDA toolkits.
#include <gmock/gmock.h>

#include "image/contents/environment_packages.h"
#include "image/contents/environments.h"
#include "image/contents/toolkits.h"
#include "shipped_knowledge.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SubjectInventoryTest : public SubjectTree {
 protected:
  PythonEnvironment Describe(const std::string& interpreter) {
    return DescribeEnvironment(At(interpreter), {}, PackageNamesOf(ShippedKnowledge()));
  }
  // "TITLE DISTRIBUTION VERSION" of each framework.
  std::vector<std::string> Frameworks(const std::string& interpreter) {
    std::vector<std::string> lines;
    for (const PythonPackage& p : Describe(interpreter).frameworks)
      lines.push_back(p.title + " " + p.distribution + " " + p.version);
    return lines;
  }
  // "VERSION FOLDER (ORIGIN)" of each; folders that are the machine's own are left out.
  std::vector<std::string> Toolkits(const std::vector<std::string>& interpreters = {}) {
    std::vector<PythonEnvironment> environments;
    for (const std::string& interpreter : interpreters) environments.push_back(Describe(interpreter));
    std::vector<std::string> lines;
    for (const FoundToolkit& t : FindToolkits(environments, {}, root_))
      lines.push_back(t.version + " " + Inside({t.folder})[0] + " (" + t.origin + ")");
    return lines;
  }
};

TEST_F(SubjectInventoryTest, FrameworksAreKnownByTheirMetadata) {
  Python("usr");
  for (const char* entry :
       {"torch-2.11.0+cu128.dist-info", "jax-0.11.2.dist-info", "CuPy_CUDA12x-13.4.1.dist-info",
        "onnxruntime_gpu-1.22.0.dist-info", "torchvision-0.20.dist-info", "torch.dist-info", "-1.dist-info",
        ".dist-info", "torch-2.0"})
    Folder(Site("usr") + "/" + entry);
  File(Site("usr") + "/tensorflow-2.15.0-py3.11.egg-info");
  EXPECT_THAT(Frameworks("usr/bin/python3"),
              ElementsAre("CuPy cupy-cuda12x 13.4.1", "JAX jax 0.11.2", "ONNX Runtime onnxruntime-gpu 1.22.0",
                          "TensorFlow tensorflow 2.15.0", "PyTorch torch 2.11.0+cu128"));
}

TEST_F(SubjectInventoryTest, OfTwoFoldersTheFirstOnThePathCounts) {
  Python("usr/local");
  Venv("opt/venv", "usr/local", true);
  Folder(Site("usr/local") + "/torch-2.0.0.dist-info");
  Folder(Site("opt/venv") + "/torch-2.11.0.dist-info");
  EXPECT_THAT(Frameworks("opt/venv/bin/python"), ElementsAre("PyTorch torch 2.11.0"));
}

TEST_F(SubjectInventoryTest, PackagesTellForWhichCudaTheirCudnnIs) {
  Python("usr");
  EXPECT_EQ(Describe("usr/bin/python3").cuda, "");
  EXPECT_EQ(Describe("usr/bin/python3").cudnn, "");
  Wheel(Site("usr"));
  Folder(Site("usr") + "/nvidia_cudnn_cu12-9.10.2.21.dist-info");
  EXPECT_EQ(Describe("usr/bin/python3").cuda, "12");
  EXPECT_EQ(Describe("usr/bin/python3").cudnn, At(Site("usr")) + "/nvidia/cudnn/lib");
  Folder(Site("usr") + "/nvidia_cudnn_cuda-1.0.dist-info");
  EXPECT_EQ(Describe("usr/bin/python3").cuda, "12");
  Folder(Site("usr") + "/nvidia_cudnn_jit_cu13-9.27.0.dist-info");
  EXPECT_EQ(Describe("usr/bin/python3").cuda, "") << "they contradict each other";
}

// What a framework opens by name is asked for by one that is built for GPUs, not by what lies beside it.
TEST_F(SubjectInventoryTest, AFrameworkForTheCpuBesideAGpuAsksForNothing) {
  Python("usr");
  const std::string site = Site("usr");
  Copy(CUDNN_CI_NEEDS_LIBCUDA, site + "/llama_cpp/lib/libggml-cuda.so");
  Copy(CUDNN_CI_NEEDS_LIBCUDA, site + "/pycuda/_driver.cpython-311-x86_64-linux-gnu.so");
  for (const char* record :
       {"torch-2.8.0+cpu", "onnxruntime-1.22.0", "jax-0.6.0", "jaxlib-0.6.0", "ctranslate2-4.6.0"})
    Folder(site + "/" + record + ".dist-info");
  File(site + "/torch/lib/libtorch_cpu.so");
  File(site + "/ctranslate2-4.6.0.dist-info/RECORD", "ctranslate2/_ext.so,sha256=x,1\nllama_cpp/a.py,,\n");
  File(site + "/ctranslate2/_ext.so");
  const GpuUse cpu = Describe("usr/bin/python3").gpu;
  EXPECT_NE(cpu.example, "");
  EXPECT_FALSE(cpu.asks_for_cudnn || cpu.asks_for_nvrtc);
  // CuPy opens NVRTC, and cuDNN for who asks for it alone.
  Folder(site + "/cupy_cuda12x-13.4.1.dist-info");
  Copy(CUDNN_CI_DEVICE_CODE, site + "/cupy/cuda/cub.so");
  EXPECT_TRUE(Describe("usr/bin/python3").gpu.asks_for_nvrtc);
  EXPECT_FALSE(Describe("usr/bin/python3").gpu.asks_for_cudnn);
}

// By its list of files; where it has none, by its module, or what conda has put beside other libraries.
TEST_F(SubjectInventoryTest, AFrameworkForGpusAsksForCudnnAndNvrtc) {
  const auto asks = [&](const std::string& interpreter) {
    const GpuUse use = Describe(interpreter).gpu;
    return use.asks_for_cudnn && use.asks_for_nvrtc;
  };
  Python("usr");
  Folder(Site("usr") + "/jax_cuda12_plugin-0.6.0.dist-info");
  File(Site("usr") + "/jax_cuda12_plugin-0.6.0.dist-info/RECORD", "jax_plugins/xla_cuda12/xla.so,,\n");
  Copy(CUDNN_CI_DEVICE_CODE, Site("usr") + "/jax_plugins/xla_cuda12/xla.so");
  EXPECT_TRUE(asks("usr/bin/python3"));
  Python("usr/local");
  Folder(Site("usr/local") + "/torch-2.8.0.dist-info");
  Copy(CUDNN_CI_DEVICE_CODE, Site("usr/local") + "/torch/lib/libtorch_cuda.so");
  EXPECT_TRUE(asks("usr/local/bin/python3"));
  Python("opt/conda");
  File("opt/conda/conda-meta/history");
  Folder(Site("opt/conda") + "/ctranslate2-4.6.0.dist-info");
  Copy(CUDNN_CI_DEVICE_CODE, "opt/conda/lib/libctranslate2.so.4");
  EXPECT_TRUE(asks("opt/conda/bin/python3"));
}

TEST_F(SubjectInventoryTest, CondaTellsItsCuda) {
  Python("opt/conda");
  File("opt/conda/conda-meta/cuda-version-12.8-h5d125a7_3.json");
  File("opt/conda/lib/libcudnn.so.9");
  EXPECT_EQ(Describe("opt/conda/bin/python3").cuda, "12.8");
  EXPECT_EQ(Describe("opt/conda/bin/python3").cudnn, At("opt/conda/lib"));
}

TEST_F(SubjectInventoryTest, EnvironmentsWithoutACudnnOfTheirOwnAreToldApart) {
  Python("usr");
  Wheel(Site("usr"));
  Venv("opt/borrows", "usr", true);
  Venv("opt/without", "usr");
  const FoundEnvironments found = FindEnvironments({}, PackageNamesOf(ShippedKnowledge()), root_);
  ASSERT_EQ(found.subjects.size(), 1u);
  EXPECT_EQ(InterpreterOf(found.subjects[0]), At("usr/bin/python3"));
  EXPECT_THAT(Inside(found.others), ElementsAre("opt/borrows/bin/python", "opt/without/bin/python"));
}

TEST_F(SubjectInventoryTest, ToolkitsAreFoundWhereTheyAreInstalled) {
  File("usr/local/cuda-13.0/targets/x86_64-linux/lib/libcudart.so.13");
  File("usr/local/cuda-13.0/targets/x86_64-linux/lib/libcudart.so.13.0.96");
  Link("targets/x86_64-linux/lib", "usr/local/cuda-13.0/lib64");
  Link("cuda-13.0", "usr/local/cuda");
  File("usr/local/cuda-12.8/lib64/libcudart.so.12.8.90");
  File("usr/local/cuda-12.8/version.json",
       R"({"cuda": {"name": "CUDA SDK", "version": "12.8.1"}, "nvcc": {}})");
  File("opt/cuda/version.json", "{ broken");
  Folder("usr/local/cuda-11.8/bin");
  EXPECT_THAT(Toolkits(),
              ElementsAre("13.0.96 usr/local/cuda-13.0 (toolkit)", "12.8.1 usr/local/cuda-12.8 (toolkit)"));
  for (const FoundToolkit& t : FindToolkits({}, {}, root_)) EXPECT_EQ(t.libraries.size(), 1u);
  EXPECT_THAT(Inside(FindToolkits({}, {}, root_)[0].libraries),
              ElementsAre("usr/local/cuda-13.0/targets/x86_64-linux/lib"));
}

TEST_F(SubjectInventoryTest, AVersionFileOfAnotherShapeIsNone) {
  for (const char* text :
       {"[]", "{}", R"({"cuda": "13.0"})", R"({"cuda": {"version": 13}})", R"({"cuda": {}})"}) {
    File("opt/cuda/version.json", text);
    EXPECT_THAT(Toolkits(), IsEmpty()) << text;
  }
}

TEST_F(SubjectInventoryTest, RuntimesOfPackagesAndDistributionsCount) {
  Python("usr");
  File(Site("usr") + "/nvidia/cuda_runtime/lib/libcudart.so.12");
  Folder(Site("usr") + "/nvidia_cuda_runtime_cu12-12.8.90.dist-info");
  File(Site("usr") + "/nvidia/cu13/lib/libcudart.so.13");
  Folder(Site("usr") + "/nvidia_cuda_runtime-13.0.96.dist-info");
  Python("opt/conda");
  File("opt/conda/conda-meta/history");
  File("opt/conda/lib/libcudart.so.12.4.127");
  File("usr/lib64/libcudart.so.12.0.146");
  EXPECT_THAT(
      Toolkits({"usr/bin/python3", "opt/conda/bin/python3"}),
      ElementsAre("12.0.146 usr/lib64 (system)",
                  "13.0.96 " + Site("usr") + "/nvidia/cu13/lib (Python package nvidia-cuda-runtime 13.0.96)",
                  "12.8.90 " + Site("usr") +
                      "/nvidia/cuda_runtime/lib (Python package nvidia-cuda-runtime-cu12 12.8.90)",
                  "12.4.127 opt/conda/lib (conda environment)"));
}

}  // namespace
}  // namespace cudnn_ci
