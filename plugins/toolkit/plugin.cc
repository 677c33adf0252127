// The toolkit plugin: its name, its findings, and the facts about the image's toolkit. Facts judge
// nothing and compile nothing.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include "base/path.h"
#include "common/cudart_api.h"
#include "common/nvrtc_api.h"
#include "toolkit/findings.h"

CCI_FINDING(cudnn_ci::kToolkitRuntimeMissing, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "the image promises a CUDA toolkit and its runtime library cannot be loaded",
            "Install the cuda-cudart package (or base the image on an nvidia/cuda runtime image) and keep "
            "its directory "
            "on the loader's path.",
            "https://docs.nvidia.com/cuda/cuda-installation-guide-linux/index.html")
CCI_FINDING(cudnn_ci::kToolkitOutsideContract, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "the image's CUDA runtime is outside what the matrix promises",
            "Build the image on the promised toolkit, or change image.toolkit in the matrix.",
            "https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html")
CCI_FINDING(cudnn_ci::kToolkitNotPromised, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "the matrix promises an image without a CUDA toolkit, and there is one",
            "Remove the toolkit's packages from the image, or promise its version in image.toolkit.",
            "https://docs.nvidia.com/cuda/cuda-installation-guide-linux/index.html")
CCI_FINDING(
    cudnn_ci::kCublasUnusable, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE, "the image's cuBLAS cannot be loaded",
    "Install libcublas and libcublasLt of one version in one directory, and take the directory of the "
    "other libcublasLt out of LD_LIBRARY_PATH.",
    "https://docs.nvidia.com/cuda/cublas/index.html")
CCI_FINDING(cudnn_ci::kCublasMixedDirectories, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "libcublas and libcublasLt are taken from different installs",
            "Keep both from one CUDA install: take the directory of the other one out of LD_LIBRARY_PATH.",
            "https://docs.nvidia.com/cuda/cublas/index.html")
CCI_FINDING(
    cudnn_ci::kCublasGemmFailed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a matrix product by the image's cuBLASLt fails or is wrong, although the driver's own kernel runs",
    "Install a libcublasLt that supports this GPU, whole and of one version with libcublas. If "
    "conv.forward is wrong on this GPU and right on another, have the GPU looked at.",
    "https://docs.nvidia.com/cuda/cublas/index.html")
CCI_FINDING(cudnn_ci::kNvrtcMissing, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "the image promises a CUDA toolkit and its run-time compiler (NVRTC) cannot be loaded",
            "Install the cuda-nvrtc package of the toolkit's version; cuDNN's runtime-compiled engines and "
            "frameworks "
            "need it.",
            "https://docs.nvidia.com/cuda/nvrtc/index.html")
CCI_FINDING(
    cudnn_ci::kNvrtcOutsideContract, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the image's NVRTC is outside what the matrix promises",
    "Install the cuda-nvrtc package of the promised toolkit, or take the other one off the loader's path.",
    "https://docs.nvidia.com/cuda/nvrtc/index.html")
CCI_FINDING(cudnn_ci::kNvrtcCompileFailed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "NVRTC cannot compile a kernel",
            "Install libnvrtc and libnvrtc-builtins of one version, in one directory on the loader's path.",
            "https://docs.nvidia.com/cuda/nvrtc/index.html")
CCI_FINDING(
    cudnn_ci::kNvrtcKernelFailed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a kernel compiled by the image's NVRTC does not run right, although the driver's own kernel does",
    "Use an NVRTC that supports this GPU and that the driver accepts: of the driver's CUDA version or older, "
    "or "
    "compile to SASS.",
    "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html")

namespace cudnn_ci {
namespace {

void Facts(FactSink& facts) {
  const Promise promise = PromiseOf(facts, "image.toolkit");
  const std::vector<CudartLibrary> found = FindCudart(facts.SubjectFolders());
  const CudartLibrary* judged = JudgedCudart(found, promise);
  std::string version = judged ? judged->version : "", all, versions;
  if (judged && !version.empty()) facts.Report("toolkit.runtime.path", RealPath(judged->path));
  for (const CudartLibrary& cudart : found) {
    if (cudart.version.empty()) continue;
    all += (all.empty() ? "" : ", ") + cudart.version + " " + RealPath(cudart.path);
    versions += (versions.empty() ? "" : " ") + cudart.version;
  }
  if (!all.empty()) {
    facts.Report("toolkit.runtime.all", all);
    facts.Report("toolkit.runtime.versions", versions);
  }
  NvrtcApi nvrtc;
  if (nvrtc.Load(promise, facts.SubjectFolders())) {
    const std::string nvrtc_version = nvrtc.Version();
    if (version.empty()) version = nvrtc_version;
    if (!nvrtc_version.empty()) facts.Report("toolkit.nvrtc.version", nvrtc_version);
    facts.Report("toolkit.nvrtc.path", RealPath(nvrtc.path()));
  }
  if (!version.empty()) facts.Report(CCI_FACT_TOOLKIT_VERSION, version);
}

CCI_FACTS(Facts, true)

}  // namespace
}  // namespace cudnn_ci

CCI_PLUGIN("toolkit", "0.1.0", "the image's CUDA runtime, run-time compiler and cuBLAS")
