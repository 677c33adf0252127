#include "image/jit_tools_needs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "image/components.h"

namespace cudnn_ci {
namespace {

constexpr char kTriton[] = "triton", kTorchCompile[] = "torch.compile",
               kTorchExtension[] = "torch.cpp_extension", kNumba[] = "numba.cuda", kCupy[] = "cupy",
               kJax[] = "jax", kXla[] = "tensorflow.xla";

// A feature and the packages that have it; "*" at the end of a name stands for what follows.
struct FeatureRow {
  const char* feature;
  std::string_view package;
  bool ordinary;  // for who uses the package
  bool only_if_required;
};

// Triton's own package comes with PyTorch, whose users need it for torch.compile alone: ordinary is it where
// PyTorch is not, and where one of kTritonUsers is. TensorFlow compiles by XLA only where it is told to
// (jit_compile=True). Numba without numba-cuda serves mostly the CPU.
constexpr std::array<FeatureRow, 10> kFeatures = {{
    {kTriton, "triton", false, false},
    {kTriton, "pytorch-triton", false, false},
    {kTorchCompile, "torch", false, false},
    {kTorchExtension, "torch", false, true},
    {kNumba, "numba-cuda", true, false},
    {kNumba, "numba", false, true},
    {kCupy, "cupy-cuda*", true, false},
    {kCupy, "cupy", true, false},
    {kJax, "jax-cuda*", true, false},
    {kXla, "tensorflow", false, false},
}};

// Packages that launch Triton kernels in ordinary use.
constexpr std::array<std::string_view, 8> kTritonUsers = {
    "vllm",         "sglang",        "unsloth", "fla-core", "mamba-ssm", "flash-linear-attention",
    "liger-kernel", "triton-kernels"};

// Triton: python/triton/runtime/build.py compiles driver.c and, before 3.6, a launcher for each kernel;
// third_party/nvidia/backend/driver.py looks for the driver and compiler.py calls ptxas. From 3.6 on it links
// libcuda.so.1 (triton-lang/triton#8667). torch.compile: torch/_inductor/config.py, cpp.cxx. Numba:
// numba_cuda/numba/cuda/cuda_paths.py. CuPy: cupy/_core/include/cupy/float16.cuh, cupy/cuda/compiler.py. JAX:
// xla/service/gpu/llvm_gpu_backend/nvptx_backend.cc (libdevice); a ptxas is not needed, for it falls back to
// its own and the driver's.
constexpr char
    kTritonBuild[] = "https://github.com/triton-lang/triton/blob/main/python/triton/runtime/build.py",
    kTritonDriver[] = "https://github.com/triton-lang/triton/blob/main/third_party/nvidia/backend/driver.py",
    kTritonCompiler[] =
        "https://github.com/triton-lang/triton/blob/main/third_party/nvidia/backend/compiler.py",
    kInductor[] = "https://github.com/pytorch/pytorch/blob/main/torch/_inductor/config.py",
    kExtension[] = "https://docs.pytorch.org/docs/stable/cpp_extension.html",
    kNumbaDocs[] = "https://nvidia.github.io/numba-cuda/user/installation.html",
    kCupyDocs[] = "https://docs.cupy.dev/en/stable/install.html",
    kXlaSource[] =
        "https://github.com/openxla/xla/blob/main/xla/service/gpu/llvm_gpu_backend/nvptx_backend.cc";

constexpr std::array<JitNeed, 23> kNeeds = {{
    {kTriton, "", JitTool::kCCompiler, true, "its launcher", kTritonBuild},
    {kTriton, "", JitTool::kPythonHeaders, true, "its launcher", kTritonBuild},
    {kTriton, "", JitTool::kLdconfig, true, "finding the driver", kTritonDriver},
    {kTriton, "<3.6", JitTool::kDriverLinkName, true, "linking its launcher",
     "https://github.com/triton-lang/triton/issues/8667"},
    {kTriton, "", JitTool::kTritonPtxas, true, "compiling kernels", kTritonCompiler},
    {kTriton, "", JitTool::kTritonLibdevice, true, "kernels with mathematical functions", kTritonCompiler},
    {kTriton, "", JitTool::kTritonCache, true, "keeping and loading what it compiled", kTritonBuild},
    {kTorchCompile, "", JitTool::kTritonPackage, true, "kernels", kInductor},
    {kTorchCompile, "", JitTool::kCxxCompiler, false, "what inductor compiles for the CPU", kInductor},
    {kTorchExtension, "", JitTool::kNvcc, true, "sources of CUDA", kExtension},
    {kTorchExtension, "", JitTool::kCxxCompiler, true, "sources of C++", kExtension},
    {kTorchExtension, "", JitTool::kPythonHeaders, true, "sources of C++", kExtension},
    {kTorchExtension, "", JitTool::kNinja, true, "load() and load_inline()", kExtension},
    {kNumba, "", JitTool::kLibnvvm, true, "compiling kernels", kNumbaDocs},
    {kNumba, "", JitTool::kLibdevice, true, "kernels with mathematical functions", kNumbaDocs},
    {kNumba, "", JitTool::kNvrtc, true, "finding out which cards it can compile for", kNumbaDocs},
    {kCupy, "", JitTool::kNvrtc, true, "compiling kernels", kCupyDocs},
    {kCupy, "", JitTool::kCudaHeaders, true, "kernels, which include cuda_fp16.h", kCupyDocs},
    {kCupy, "", JitTool::kCupyCache, true, "keeping what it compiled", kCupyDocs},
    {kJax, "", JitTool::kLibdevice, true, "kernels with mathematical functions", kXlaSource},
    {kJax, "", JitTool::kToolkitPtxas, false, "compiling kernels; without it XLA falls back to the driver",
     kXlaSource},
    {kXla, "", JitTool::kLibdevice, true, "kernels with mathematical functions", kXlaSource},
    {kXla, "", JitTool::kToolkitPtxas, false, "compiling kernels; without it XLA falls back to the driver",
     kXlaSource},
}};

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.back() != '*') return pattern == name;
  pattern.remove_suffix(1);
  return name.substr(0, pattern.size()) == pattern;
}

bool Has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The first installed package that has the feature; null: none.
const Package* PackageOf(const ImageFiles& image, const FeatureRow& row) {
  for (const Package& package : image.packages.packages())
    if (package.manager == PackageManager::kPython && Matches(row.package, package.name)) return &package;
  return nullptr;
}

// PyTorch without CUDA compiles for the CPU alone.
bool IsForCpu(const ImageFiles& image, const Package& torch) {
  if (torch.version.find("+cpu") != std::string::npos) return true;
  bool has_library = false, has_cuda = false;
  for (const ImageFile& file : image.files) {
    const std::string_view name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
    has_library = has_library || name == "libtorch_cpu.so";
    has_cuda = has_cuda || name == "libtorch_cuda.so";
  }
  return has_library && !has_cuda;
}

// Who uses Triton whatever PyTorch does; empty: nobody that is known.
std::string TritonUser(const ImageFiles& image) {
  for (const std::string_view name : kTritonUsers)
    if (const Package* user = image.packages.Python(std::string(name))) return user->Text();
  return "";
}

}  // namespace

std::vector<JitFeature> JitFeaturesOf(const ImageFiles& image, const std::vector<std::string>& required) {
  std::vector<JitFeature> features;
  const Package* torch = image.packages.Python("torch");
  const auto known = [&](const std::string& name) {
    return std::any_of(features.begin(), features.end(), [&](const JitFeature& f) { return f.name == name; });
  };
  for (const FeatureRow& row : kFeatures) {
    const bool is_required = Has(required, row.feature);
    const Package* package = PackageOf(image, row);
    if (!package || known(row.feature) || (row.only_if_required && !is_required)) continue;
    if (package == torch && IsForCpu(image, *torch) && !is_required) continue;
    JitFeature feature{row.feature, package->Text(), ReleaseOf(package->version), row.ordinary, ""};
    if (feature.name == kTriton) {
      feature.why = TritonUser(image);
      // torch.compile is Triton's user.
      feature.ordinary = !torch || !feature.why.empty() || Has(required, kTorchCompile);
    }
    feature.ordinary = feature.ordinary || is_required;
    features.push_back(std::move(feature));
  }
  return features;
}

std::vector<JitNeed> NeedsOf(const JitFeature& feature, const Satisfies& satisfies) {
  std::vector<JitNeed> needs;
  for (const JitNeed& need : kNeeds) {
    if (feature.name != need.feature) continue;
    const std::string versions = need.versions;
    // Of a version that is not known the newest releases' needs are asked.
    if (!versions.empty() && (feature.version.empty() || !satisfies(feature.version, versions))) continue;
    needs.push_back(need);
  }
  return needs;
}

}  // namespace cudnn_ci
