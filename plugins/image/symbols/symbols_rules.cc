#include "image/symbols/symbols_rules.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "image/loader/loader_scope.h"

namespace cudnn_ci {
namespace {

using Need = StepNeed;

// torch/__init__.py, _get_cuda_dep_paths: nvidia/FOLDER/lib, nvidia/cuMAJOR/lib, FOLDER/lib.
OpenStep Torch(std::vector<const char*> folders, const char* name) {
  return {std::move(folders), name, Need::kTried};
}

PackageRule TorchRule() {
  PackageRule rule;
  rule.title = "PyTorch";
  rule.import_name = "torch";
  rule.marker = "torch/lib/libtorch_global_deps.so";
  rule.cuda_of = "torch/lib/libtorch_cuda.so";
  rule.import_names = {"torch", "functorch"};
  rule.libraries = {"libtorch.so",        "libtorch_cpu.so", "libtorch_cuda.so",
                    "libtorch_python.so", "libc10.so",       "libc10_cuda.so"};
  // _preload_cuda_deps, in its order; what is missing is left to the loader.
  rule.first = {
      Torch({"nvidia/cublas/lib", "nvidia/cu%/lib", "cublas/lib"}, "libcublasLt.so.*"),
      Torch({"nvidia/cublas/lib", "nvidia/cu%/lib", "cublas/lib"}, "libcublas.so.*"),
      Torch({"nvidia/cudnn/lib", "nvidia/cu%/lib", "cudnn/lib"}, "libcudnn.so.*"),
      Torch({"nvidia/cuda_nvrtc/lib", "nvidia/cu%/lib", "cuda_nvrtc/lib"}, "libnvrtc.so.*"),
      Torch({"nvidia/cuda_nvrtc/lib", "nvidia/cu%/lib", "cuda_nvrtc/lib"}, "libnvrtc-builtins.so.*"),
      Torch({"nvidia/cuda_runtime/lib", "nvidia/cu%/lib", "cuda_runtime/lib"}, "libcudart.so.*"),
      Torch({"nvidia/cuda_cupti/lib", "nvidia/cu%/lib", "cuda_cupti/lib"}, "libcupti.so.*"),
      Torch({"nvidia/cufft/lib", "nvidia/cu%/lib", "cufft/lib"}, "libcufft.so.*"),
      Torch({"nvidia/curand/lib", "nvidia/cu%/lib", "curand/lib"}, "libcurand.so.*"),
      Torch({"nvidia/nvjitlink/lib", "nvidia/cu%/lib", "nvjitlink/lib"}, "libnvJitLink.so.*"),
      Torch({"nvidia/cusparse/lib", "nvidia/cu%/lib", "cusparse/lib"}, "libcusparse.so.*"),
      Torch({"nvidia/cusparselt/lib", "nvidia/cu%/lib", "cusparselt/lib"}, "libcusparseLt.so.*"),
      Torch({"nvidia/cusolver/lib", "nvidia/cu%/lib", "cusolver/lib"}, "libcusolver.so.*"),
      Torch({"nvidia/nccl/lib", "nvidia/cu%/lib", "nccl/lib"}, "libnccl.so.*"),
      Torch({"nvidia/nvshmem/lib", "nvidia/cu%/lib", "nvshmem/lib"}, "libnvshmem_host.so.*"),
      Torch({"nvidia/cufile/lib", "nvidia/cu%/lib", "cufile/lib"}, "libcufile.so.*"),
      Torch({"nvidia/nvtx/lib", "nvidia/cu%/lib", "nvtx/lib"}, "libnvToolsExt.so.*"),
  };
  rule.main_begins = true;
  rule.main = {{{"torch/lib"}, "libtorch_global_deps.so", Need::kMust, true},
               {{"torch"}, "_C.*so", Need::kMust}};
  // at::cuda::detail::getMagma and at::native::getTorchLinalgLibrary open it with the first solver.
  rule.later = {{{"torch/lib"}, "libtorch_cuda_linalg.so", Need::kTried}};
  rule.source =
      "https://github.com/pytorch/pytorch/blob/main/torch/__init__.py, _load_global_deps and "
      "_preload_cuda_deps";
  return rule;
}

// jax_plugins/xla_cudaNN/__init__.py, _load_nvidia_libraries. XLA opens the same by name at first use.
PackageRule JaxRule(int cuda, const char* marker, const char* import_name) {
  const auto nvidia = [](const char* folder, const char* name, Need need) {
    return OpenStep{{folder, "nvidia/cu%/lib"}, name, need};
  };
  PackageRule rule;
  rule.title = "JAX";
  rule.import_name = "jax";
  rule.marker = marker;
  rule.cuda_major = cuda;  // the plugin's name says it
  rule.import_names = {"jax", "jaxlib", "jax_plugins", import_name};
  rule.first = {
      nvidia("nvidia/cuda_runtime/lib", "libcudart.so.*", Need::kTogether),
      nvidia("nvidia/cuda_nvrtc/lib", "libnvrtc.so.*", Need::kTried),
      nvidia("nvidia/cublas/lib", "libcublas.so.*", Need::kTogether),
      nvidia("nvidia/cublas/lib", "libcublasLt.so.*", Need::kTogether),
      nvidia("nvidia/nccl/lib", "libnccl.so.*", Need::kTried),
      nvidia("nvidia/cuda_cupti/lib", "libcupti.so.*", Need::kTogether),
      nvidia("nvidia/cusparse/lib", "libcusparse.so.*", Need::kTogether),
      nvidia("nvidia/cusolver/lib", "libcusolver.so.*", Need::kTogether),
      nvidia("nvidia/cufft/lib", "libcufft.so.*", Need::kTogether),
      nvidia("nvidia/nvshmem/lib", "libnvshmem_host.so.*", Need::kTried),
      nvidia("nvidia/cudnn/lib", "libcudnn.so.*", Need::kTogether),
  };
  rule.main = {{{"jax_plugins/xla_cuda%"}, "xla_cuda_plugin.so", Need::kMust}};
  rule.source =
      "https://github.com/jax-ml/jax/blob/main/jax_plugins/cuda/__init__.py, _load_nvidia_libraries";
  return rule;
}

PackageRule OnnxRuntimeRule() {
  const auto nvidia = [](const char* folder, const char* name) {
    return OpenStep{{"nvidia/cu%/lib", folder}, name, Need::kTried};
  };
  PackageRule rule;
  rule.title = "ONNX Runtime";
  rule.import_name = "onnxruntime";
  rule.marker = "onnxruntime/capi/libonnxruntime_providers_cuda.so";
  rule.cuda_of = rule.marker;
  rule.import_names = {"onnxruntime"};
  rule.first = {nvidia("nvidia/cublas/lib", "libcublasLt.so.*"),
                nvidia("nvidia/cublas/lib", "libcublas.so.*"),
                nvidia("nvidia/cuda_nvrtc/lib", "libnvrtc.so.*"),
                nvidia("nvidia/curand/lib", "libcurand.so.*"),
                nvidia("nvidia/cufft/lib", "libcufft.so.*"),
                nvidia("nvidia/cuda_runtime/lib", "libcudart.so.*"),
                nvidia("nvidia/cudnn/lib", "libcudnn_engines*.so.*"),
                nvidia("nvidia/cudnn/lib", "libcudnn.so.*")};
  rule.main = {{{"onnxruntime/capi"}, "onnxruntime_pybind11_state*.so", Need::kMust},
               {{"onnxruntime/capi"}, "libonnxruntime_providers_shared.so", Need::kMust, true}};
  rule.later = {{{"onnxruntime/capi"}, "libonnxruntime_providers_cuda.so", Need::kMust}};
  rule.source =
      "https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html#preload-dlls; "
      "onnxruntime/__init__.py, preload_dlls; core/session/provider_bridge_ort.cc";
  return rule;
}

// TensorFlow opens CUDA's libraries by name from libtensorflow_framework, whose DT_RPATH names these folders;
// one that is missing leaves it without a GPU.
PackageRule TensorFlowRule() {
  const auto nvidia = [](const char* folder, const char* name, Need need) {
    return OpenStep{{folder, "nvidia/cu%/lib"}, name, need};
  };
  PackageRule rule;
  rule.title = "TensorFlow";
  rule.import_name = "tensorflow";
  rule.marker = "tensorflow/libtensorflow_framework.so.2";
  rule.import_names = {"tensorflow"};
  rule.main = {{{"tensorflow"}, "libtensorflow_framework.so.2", Need::kMust},
               {{"tensorflow"}, "libtensorflow_cc.so.2", Need::kTried},
               {{"tensorflow/python"}, "_pywrap_tensorflow_internal.so", Need::kTried}};
  rule.later = {nvidia("nvidia/cuda_runtime/lib", "libcudart.so.*", Need::kTogether),
                nvidia("nvidia/cublas/lib", "libcublas.so.*", Need::kTogether),
                nvidia("nvidia/cublas/lib", "libcublasLt.so.*", Need::kTogether),
                nvidia("nvidia/cufft/lib", "libcufft.so.*", Need::kTogether),
                nvidia("nvidia/cusolver/lib", "libcusolver.so.*", Need::kTogether),
                nvidia("nvidia/cusparse/lib", "libcusparse.so.*", Need::kTogether),
                nvidia("nvidia/cudnn/lib", "libcudnn.so.*", Need::kTogether),
                nvidia("nvidia/nccl/lib", "libnccl.so.*", Need::kTried),
                nvidia("nvidia/cuda_cupti/lib", "libcupti.so.*", Need::kTried)};
  rule.source =
      "https://github.com/openxla/xla/blob/main/xla/tsl/platform/default/dso_loader.cc, "
      "MaybeTryDlopenGPULibraries";
  return rule;
}

// cupy_backends/cuda/libs/__init__.py asks cuda.pathfinder for a library, and for what that needs, before it
// imports the extension module that is linked with it.
PackageRule CupyRule() {
  const auto nvidia = [](const char* folder, const char* name, Need need) {
    return OpenStep{{"nvidia/cu%/lib", folder}, name, need};
  };
  PackageRule rule;
  rule.title = "CuPy";
  rule.import_name = "cupy";
  rule.marker = "cupy/_environment.py";
  rule.cuda_of = "cupy_backends/cuda/libs/cublas*.so";
  rule.import_names = {"cupy", "cupy_backends", "cupyx"};
  rule.first = {nvidia("nvidia/nvjitlink/lib", "libnvJitLink.so.*", Need::kTried),
                nvidia("nvidia/cublas/lib", "libcublasLt.so.*", Need::kTogether),
                nvidia("nvidia/cublas/lib", "libcublas.so.*", Need::kTogether),
                nvidia("nvidia/cusparse/lib", "libcusparse.so.*", Need::kTogether),
                nvidia("nvidia/cusolver/lib", "libcusolver.so.*", Need::kTogether),
                nvidia("nvidia/curand/lib", "libcurand.so.*", Need::kTogether),
                nvidia("nvidia/cufft/lib", "libcufft.so.*", Need::kTogether),
                nvidia("nvidia/cuda_nvrtc/lib", "libnvrtc.so.*", Need::kTogether),
                nvidia("nvidia/nccl/lib", "libnccl.so.*", Need::kTried),
                nvidia("nvidia/cusparselt/lib", "libcusparseLt.so.*", Need::kTried),
                OpenStep{{"cutensor/lib", "nvidia/cu%/lib"}, "libcutensor.so.*", Need::kTried},
                OpenStep{{"cutensor/lib", "nvidia/cu%/lib"}, "libcutensorMg.so.*", Need::kTried}};
  rule.source =
      "https://github.com/cupy/cupy/blob/main/cupy_backends/cuda/libs/__init__.py; cuda.pathfinder, "
      "load_nvidia_dynamic_lib";
  return rule;
}

// CTranslate2 opens cuBLAS and cuDNN by name when a model is put on a GPU; its Python package preloads
// nothing on Linux.
PackageRule CTranslate2Rule() {
  PackageRule rule;
  rule.title = "CTranslate2";
  rule.import_name = "ctranslate2";
  rule.marker = "ctranslate2/__init__.py";
  rule.import_names = {"ctranslate2"};
  rule.main = {{{"ctranslate2"}, "_ext.*so", Need::kMust}};
  rule.later = {{{}, "libcublas.so.12", Need::kTried}, {{}, "libcudnn.so.9", Need::kTried}};
  rule.source = "https://opennmt.net/CTranslate2/installation.html; src/cuda/cublas_stub.cc";
  return rule;
}

// tensorrt_libs opens its libraries with ctypes as it is imported, and tensorrt imports it first.
PackageRule TensorRtRule() {
  PackageRule rule;
  rule.title = "TensorRT";
  rule.import_name = "tensorrt";
  rule.marker = "tensorrt_libs/__init__.py";
  rule.import_names = {"tensorrt", "tensorrt_bindings", "tensorrt_libs"};
  rule.main = {{{"tensorrt_libs"}, "libnvinfer.so.*", Need::kMust},
               {{"tensorrt_libs"}, "libnvinfer_plugin.so.*", Need::kTried},
               {{"tensorrt_libs"}, "libnvonnxparser.so.*", Need::kTried}};
  rule.source =
      "https://github.com/NVIDIA/TensorRT/tree/main/python/packaging, libs_wheel/tensorrt_libs/__init__.py";
  return rule;
}

// RAPIDS opens its libraries by path as its packages are imported: librmm, libkvikio and nvCOMP before
// libcudf.
PackageRule RapidsRule(const char* import_name, const char* marker, std::vector<const char*> import_names,
                       std::vector<const char*> libraries, std::vector<OpenStep> main) {
  PackageRule rule;
  rule.title = "RAPIDS";
  rule.import_name = import_name;
  rule.marker = marker;
  rule.import_names = std::move(import_names);
  rule.libraries = std::move(libraries);
  rule.first = {{{"rapids_logger/lib64"}, "librapids_logger.so", Need::kTried}};
  rule.main = std::move(main);
  rule.source = "https://github.com/rapidsai/cudf/blob/main/python/libcudf/libcudf/load.py, load_library";
  return rule;
}

constexpr GpuLibrary kGpuLibraries[] = {
    {"libcudart.so", "nvidia-cuda-runtime", false},
    {"libcublas.so", "nvidia-cublas", false},
    {"libcublasLt.so", "nvidia-cublas", false},
    {"libnvblas.so", "nvidia-cublas", false},
    {"libcufft.so", "nvidia-cufft", false},
    {"libcufftw.so", "nvidia-cufft", false},
    {"libcurand.so", "nvidia-curand", false},
    {"libcusolver.so", "nvidia-cusolver", false},
    {"libcusolverMg.so", "nvidia-cusolver", false},
    {"libcusparse.so", "nvidia-cusparse", false},
    {"libnvJitLink.so", "nvidia-nvjitlink", false},
    {"libnvrtc.so", "nvidia-cuda-nvrtc", false},
    {"libnvrtc-builtins.so", "nvidia-cuda-nvrtc", false},
    {"libcupti.so", "nvidia-cuda-cupti", false},
    {"libcufile.so", "nvidia-cufile", false},
    {"libnvToolsExt.so", "nvidia-nvtx", false},
    {"libnvtx3interop.so", "nvidia-nvtx", false},
    {"libnvjpeg.so", "nvidia-nvjpeg", false},
    {"libnvfatbin.so", "nvidia-nvfatbin", false},
    {"libnppc.so", "nvidia-npp", false},
    {"libnppial.so", "nvidia-npp", false},
    {"libnppicc.so", "nvidia-npp", false},
    {"libnppidei.so", "nvidia-npp", false},
    {"libnppif.so", "nvidia-npp", false},
    {"libnppig.so", "nvidia-npp", false},
    {"libnppim.so", "nvidia-npp", false},
    {"libnppist.so", "nvidia-npp", false},
    {"libnppisu.so", "nvidia-npp", false},
    {"libnppitc.so", "nvidia-npp", false},
    {"libnpps.so", "nvidia-npp", false},
    {"libcudnn.so", "nvidia-cudnn", true},
    {"libcudnn_graph.so", "nvidia-cudnn", true},
    {"libcudnn_ops.so", "nvidia-cudnn", true},
    {"libnccl.so", "nvidia-nccl", true},
    {"libcusparseLt.so", "nvidia-cusparselt", true},
    {"libnvshmem_host.so", "nvidia-nvshmem", true},
    {"libcutensor.so", "cutensor", true},
    {"libcutensorMg.so", "cutensor", true},
    {"libnvinfer.so", "tensorrt", true},
    {"libnvinfer_plugin.so", "tensorrt", true},
    {"libnvonnxparser.so", "tensorrt", true},
};

struct DriverLibrary {
  const char* stem;
  const char* prefix;
};
constexpr DriverLibrary kDriverLibraries[] = {
    {"libcuda.so", "cu"},          {"libnvidia-ml.so", "nvml"},        {"libnvcuvid.so", "cuvid"},
    {"libnvidia-encode.so", "Nv"}, {"libnvidia-opticalflow.so", "Nv"}, {"libnvidia-ptxjitcompiler.so", "ptx"},
    {"libnvoptix.so", "optix"},    {"libcudadebugger.so", "cudbg"},    {"libnvidia-nvvm.so", "nvvm"},
    {"libnvidia-fbc.so", "NvFBC"},
};

}  // namespace

const std::vector<PackageRule>& PackageRules() {
  static const std::vector<PackageRule> kRules = {
      TorchRule(),
      JaxRule(13, "jax_plugins/xla_cuda13/xla_cuda_plugin.so", "jax_cuda13_plugin"),
      JaxRule(12, "jax_plugins/xla_cuda12/xla_cuda_plugin.so", "jax_cuda12_plugin"),
      OnnxRuntimeRule(),
      TensorFlowRule(),
      CupyRule(),
      CTranslate2Rule(),
      TensorRtRule(),
      RapidsRule("cudf", "libcudf/load.py", {"cudf", "pylibcudf", "libcudf"}, {"libcudf.so"},
                 {{{"nvidia/nvjitlink/lib", "nvidia/cu*/lib"}, "libnvJitLink.so.*", Need::kTried},
                  {{"nvidia/cuda_nvrtc/lib", "nvidia/cu*/lib"}, "libnvrtc.so.*", Need::kTried},
                  {{"librmm/lib64"}, "librmm.so", Need::kTried},
                  {{"libkvikio/lib64"}, "libkvikio.so", Need::kTried},
                  {{"nvidia/libnvcomp/lib64", "nvidia/nvcomp"}, "libnvcomp.so*", Need::kTried},
                  {{"libcudf/lib64"}, "libcudf.so", Need::kMust}}),
      RapidsRule("rmm", "librmm/load.py", {"rmm", "librmm"}, {"librmm.so"},
                 {{{"librmm/lib64"}, "librmm.so", Need::kMust}}),
      RapidsRule("kvikio", "libkvikio/load.py", {"kvikio", "libkvikio"}, {"libkvikio.so"},
                 {{{"librmm/lib64"}, "librmm.so", Need::kTried},
                  {{"nvidia/libnvcomp/lib64", "nvidia/nvcomp"}, "libnvcomp.so*", Need::kTried},
                  {{"libkvikio/lib64"}, "libkvikio.so", Need::kMust}}),
  };
  return kRules;
}

const GpuLibrary* GpuLibraryOf(const std::string& name) {
  const std::string stem = LibraryStem(name);
  const auto* found = std::find_if(std::begin(kGpuLibraries), std::end(kGpuLibraries),
                                   [&](const GpuLibrary& library) { return stem == library.stem; });
  return found == std::end(kGpuLibraries) ? nullptr : found;
}

std::string PackageFor(const std::string& library) {
  const GpuLibrary* known = GpuLibraryOf(library);
  if (!known) return "";
  const std::string package = known->package;
  if (known->suffix_in_13) return package + "-cu13 or, of CUDA 12, " + package + "-cu12";
  return package + " or, of CUDA 12, " + package + "-cu12";
}

const char* DriverFunctionsOf(const std::string& library) {
  const std::string stem = LibraryStem(library);
  for (const DriverLibrary& known : kDriverLibraries)
    if (stem == known.stem) return known.prefix;
  return nullptr;
}

bool IsDriverFunction(const std::string& symbol, const std::string& prefix) {
  if (symbol.compare(0, prefix.size(), prefix) != 0 || symbol.size() <= prefix.size()) return false;
  const char next = symbol[prefix.size()];
  return (next >= 'A' && next <= 'Z') || next == '_';
}

}  // namespace cudnn_ci
