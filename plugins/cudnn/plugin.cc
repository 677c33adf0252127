// The cuDNN plugin: its name, its findings, and the facts about the image's cuDNN. Facts come from
// files: a call into an incomplete cuDNN 9 aborts the process.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <algorithm>

#include "common/elf_file.h"
#include "cudnn/findings.h"
#include "cudnn/install.h"

CCI_FINDING(
    cudnn_ci::kCudnnMissing, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the image promises cuDNN and its main library is not found by the loader",
    "Install cuDNN's runtime package in the image, or put the directory of the copy it has (a Python wheel's "
    "nvidia/cudnn/lib) on the loader's path.",
    "https://docs.nvidia.com/deeplearning/cudnn/installation/latest/linux.html")
CCI_FINDING(
    cudnn_ci::kCudnnSublibraryUnloadable, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a library of the cuDNN install is missing or cannot be loaded",
    "Install the complete cuDNN set of one version in one directory, and have only that directory on the "
    "loader's path. A truncated file means a full disk or a broken layer: build or pull the image again.",
    "https://docs.nvidia.com/deeplearning/cudnn/installation/latest/linux.html")
CCI_FINDING(
    cudnn_ci::kCudnnMixedDirectories, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the loader assembles cuDNN from several directories",
    "Complete the install that comes first on the loader's path, or remove it: an incomplete one is silently "
    "completed from another.",
    "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(cudnn_ci::kCudnnMixedVersions, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "the sub-libraries of cuDNN are of different versions",
            "Reinstall cuDNN in one version; do not overlay packages or wheels in one directory.",
            "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(cudnn_ci::kCudnnNotPromised, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "the matrix promises an image without cuDNN, and there is one",
            "Remove cuDNN from the image, or promise its version in image.cudnn.",
            "https://docs.nvidia.com/deeplearning/cudnn/installation/latest/linux.html")
CCI_FINDING(cudnn_ci::kCudnnOutsideContract, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "the image's cuDNN is outside what the matrix promises",
            "Install the promised cuDNN, take a copy that hides it off the loader's path, or change "
            "image.cudnn in the "
            "matrix.",
            "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/release-notes.html")
CCI_FINDING(cudnn_ci::kCudnnFlavourMismatch, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "cuDNN is built for another CUDA major than the image's toolkit",
            "Install the package of the same cuDNN version for the toolkit's CUDA major (cudnn9-cuda-12, "
            "nvidia-cudnn-cu12, ...).",
            "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/reference/support-matrix.html")
CCI_FINDING(
    cudnn_ci::kCudnnInitFailed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "cudnnCreate fails although driver and GPU work",
    "Compare the cuDNN version with the GPU's architecture and the driver in NVIDIA's support matrix; "
    "CUDNN_LOGLEVEL_DBG=2 CUDNN_LOGDEST_DBG=stderr names the condition that failed.",
    "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/reference/support-matrix.html")
CCI_FINDING(cudnn_ci::kCudnnInitOutOfMemory, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
            "cudnnCreate fails with hardly any device memory left",
            "Free the GPU: another process on this runner holds its memory.",
            "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")

namespace cudnn_ci {
namespace {

// The CUDA major a cuDNN was built for, by the directory of the toolkit's wheel in its run path
// ($ORIGIN/../../cu13/lib); empty where it names none. The library's own answer, cudnnGetCudartVersion,
// would be a call.
std::string CudaMajorOfRunPath(const CudnnInstall& install) {
  for (const auto& part : install.parts) {
    for (const std::string& directory : ElfFile(part.path).RunPath()) {
      const size_t at = directory.find("/cu1");
      if (at != std::string::npos && directory.compare(at + 5, 1, "/") == 0)
        return directory.substr(at + 3, 2);
    }
  }
  return {};
}

void Facts(FactSink& facts) {
  const CudnnInstall install = InspectCudnn();
  if (!install.found()) return;
  facts.Report(CCI_FACT_CUDNN_PATH, install.main.path);
  const std::string version = install.Version(), cuda = CudaMajorOfRunPath(install);
  if (!version.empty()) facts.Report(CCI_FACT_CUDNN_VERSION, version);
  if (!cuda.empty()) facts.Report(CCI_FACT_CUDNN_CUDART, cuda);
}

CCI_FACTS(Facts, true)

}  // namespace
}  // namespace cudnn_ci

CCI_PLUGIN("cudnn", "0.1.0", "the image's cuDNN: complete, of one piece, of the promised version, usable")
