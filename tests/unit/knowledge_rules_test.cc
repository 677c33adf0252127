// What the rows of knowledge mean to those who use them: each name has the answer that it always had.
#include <gmock/gmock.h>

#include "base/package_names.h"
#include "image/component_rules.h"
#include "image/contents/components.h"
#include "image/jit_tools_needs.h"
#include "image/symbols/symbols_rules.h"
#include "known_entry.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;

struct NamedPackage {
  const char *type, *name, *library;  // library: empty for what is none
};

TEST(KnowledgeRules, PackagesBringTheirLibraries) {
  const ComponentRules rules = ReadComponentRules(KnownEntry);
  for (const auto& [type, name, library] :
       std::vector<NamedPackage>{{"pypi", "nvidia-cudnn-cu12", "cuDNN"},
                                 {"pypi", "nvidia_cudnn.cu13", "cuDNN"},
                                 {"pypi", "nvidia-cudnn", "cuDNN"},
                                 {"pypi", "nvidia-cudnn-cu", ""},
                                 {"pypi", "nvidia-cudnn-cuda", ""},
                                 {"pypi", "nvidia-cudnn-cu12-extra", "cuDNN"},
                                 {"pypi", "nvidia-cudnn-jit-cu13", "cuDNN"},
                                 {"pypi", "nvidia-cudnn-frontend", ""},
                                 {"pypi", "nvidia-cublas", "cuBLAS"},
                                 {"pypi", "nvidia-cublas-cu11", "cuBLAS"},
                                 {"pypi", "nvidia-nccl", ""},
                                 {"pypi", "nvidia-cuda-runtime", "CUDA toolkit"},
                                 {"pypi", "torch", "PyTorch"},
                                 {"pypi", "torchvision", ""},
                                 {"pypi", "pytorch-triton", "Triton"},
                                 {"pypi", "jax", ""},
                                 {"pypi", "jaxlib", "JAX"},
                                 {"pypi", "tensorflow-gpu", "TensorFlow"},
                                 {"pypi", "tensorflow-cpu", ""},
                                 {"conda", "cudnn", "cuDNN"},
                                 {"conda", "libcublas", "cuBLAS"},
                                 {"conda", "torch", ""},
                                 {"conda", "tensorflow-base", "TensorFlow"},
                                 {"deb", "libcudnn9-cuda-12", "cuDNN"},
                                 {"rpm", "cudnn9-cuda-13-0", "cuDNN"},
                                 {"deb", "libcudnn9-dev-cuda-12", ""},
                                 {"deb", "libcublas-12-8", "cuBLAS"},
                                 {"deb", "libcublas-dev-12-8", ""},
                                 {"deb", "libnccl2", "NCCL"},
                                 {"deb", "libnccl-dev", ""},
                                 {"deb", "libnvshmem3-cuda-12", "NVSHMEM"},
                                 {"deb", "cuda-cudart-13-0", "CUDA toolkit"}}) {
    const auto found = ComponentsOf(rules, std::vector<SbomPackage>{{type, name, "1.2.3"}});
    EXPECT_EQ(found.empty() ? "" : found[0].library, library) << type << " " << name;
  }
}

TEST(KnowledgeRules, LibrariesHaveTheirPackagesAndFunctions) {
  const SymbolRules rules = ReadSymbolRules(KnownEntry);
  EXPECT_EQ(rules.gpu_libraries.size(), 40U);
  EXPECT_THAT(rules.openers, ::testing::Contains("load_op_library"));
  EXPECT_EQ(rules.machines.at("cu"), MachineKind::kCuda);
  EXPECT_EQ(rules.machines.at("rocm"), MachineKind::kOther);
  EXPECT_EQ(rules.PackageFor("libcublasLt.so.13"), "nvidia-cublas or, for CUDA 12, nvidia-cublas-cu12");
  EXPECT_EQ(rules.PackageFor("libcudnn_ops.so.9"),
            "nvidia-cudnn-cu11 9.* or nvidia-cudnn-cu12 9.* or nvidia-cudnn-cu13 9.*");
  EXPECT_EQ(rules.PackageFor("libcudnn.so.8"), "nvidia-cudnn-cu11 8.* or nvidia-cudnn-cu12 8.*");
  EXPECT_EQ(rules.PackageFor("libcusparse.so.11"), "nvidia-cusparse-cu11");
  EXPECT_EQ(rules.PackageFor("libcurand.so.*"), "nvidia-curand or, for CUDA 12, nvidia-curand-cu12");
  EXPECT_EQ(rules.PackageFor("libcusparse.so.9"), "");
  EXPECT_EQ(rules.PackageFor("libcudnn_ops_infer.so.8"), "");
  EXPECT_EQ(rules.GpuLibraryOf("libcuda.so.1"), nullptr);
  EXPECT_EQ(rules.DriverFunctionsOf("libcuda.so.1"), "cu");
  EXPECT_EQ(rules.DriverFunctionsOf("libnvidia-ml.so.1"), "nvml");
  EXPECT_EQ(rules.DriverFunctionsOf("libnvidia-glcore.so.580"), "");
}

TEST(KnowledgeRules, WhatPackagesOpenHasItsOrder) {
  const SymbolRules rules = ReadSymbolRules(KnownEntry);
  std::vector<std::string> imports;
  for (const PackageRule& rule : rules.packages) imports.push_back(rule.import_name);
  EXPECT_THAT(imports,
              ElementsAre("torch", "jax", "jax", "onnxruntime", "tensorflow", "cupy", "ctranslate2", "paddle",
                          "paddle", "tensorrt", "transformer_engine", "cudf", "rmm", "kvikio"));
  const PackageRule& torch = rules.packages[0];
  ASSERT_EQ(torch.first.size(), 17U);
  EXPECT_EQ(torch.first[4].name, "libnvrtc-builtins.so.*");
  EXPECT_THAT(torch.first[4].folders,
              ElementsAre("nvidia/cuda_nvrtc/lib", "nvidia/cu%/lib", "cuda_nvrtc/lib"));
  EXPECT_TRUE(torch.main_begins && torch.main[0].global && !torch.main[1].global);
  EXPECT_EQ(torch.main[1].need, StepNeed::kMust);
  EXPECT_EQ(rules.packages[1].cuda_major, 13);
  EXPECT_EQ(rules.packages[2].marker, "jax_plugins/xla_cuda12/xla_cuda_plugin.so");
  EXPECT_EQ(rules.packages[2].first[0].need, StepNeed::kTogether);
}

TEST(KnowledgeRules, WhatCompilesHasItsNeeds) {
  const JitRules rules = ReadJitRules(KnownEntry);
  EXPECT_EQ(rules.needs.size(), 26U);
  EXPECT_EQ(rules.needs[3].versions, "<3.6");
  EXPECT_EQ(rules.needs[3].tool, JitTool::kDriverLinkName);
  EXPECT_EQ(rules.needs[3].source, "https://github.com/triton-lang/triton/issues/8667");
  EXPECT_FALSE(rules.needs[8].always);
  EXPECT_EQ(rules.users.front().package, "vllm");
}

TEST(KnowledgeRules, APatternIsLookedAtOnce) {
  EXPECT_TRUE(NameMatches("cupy-cuda*", "cupy-cuda"));
  EXPECT_TRUE(NameMatches("a#b", "a1b"));
  EXPECT_FALSE(NameMatches("a#b", "axb"));
  EXPECT_FALSE(NameMatches("a#", "a"));
  EXPECT_FALSE(NameMatches("a", "ab"));
  EXPECT_FALSE(NameMatches("", "a"));
}

}  // namespace
}  // namespace cudnn_ci
