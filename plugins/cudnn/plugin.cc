// The cuDNN plugin: its name, its findings, and the facts about the image's cuDNN. Facts come from
// files: a call into an incomplete cuDNN 9 aborts the process.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include "common/loader_path.h"
#include "cudnn/copies.h"
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
CCI_FINDING(cudnn_ci::kCudnnOtherLibrary, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a file under the name of one of cuDNN's libraries is another library",
            "Reinstall cuDNN as a whole: a copy or a link went wrong. The loader takes the file by its name, "
            "cuDNN does not find its functions in it, and goes on with another install's or with none.",
            "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
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
CCI_FINDING(
    cudnn_ci::kCudnnOverridden, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
    "LD_LIBRARY_PATH hides the cuDNN that the subject brings with another one",
    "Take the directory out of LD_LIBRARY_PATH, unless the other cuDNN is meant: packages and programs find "
    "their own without it.",
    "https://docs.nvidia.com/deeplearning/cudnn/installation/latest/linux.html")
CCI_FINDING(cudnn_ci::kCudnnOverriddenByOlder, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "LD_LIBRARY_PATH hides the cuDNN that the Python packages brought with an older one",
            "Take the directory out of LD_LIBRARY_PATH, or upgrade the cuDNN in it to the packages' minor "
            "version or a "
            "later one: frameworks refuse one that is older than they were built with.",
            "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(cudnn_ci::kCudnnPartsOverridden, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "LD_LIBRARY_PATH has sub-libraries of another cuDNN, which the subject's own would take",
            "Take the directory out of LD_LIBRARY_PATH: unless a program loads every sub-library by its "
            "path, cuDNN gets "
            "them from there, and versions mix.",
            "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(cudnn_ci::kCudnnPartLacking, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "cuDNN opens a sub-library by name that its own install lacks",
            "It works without it. But if another release's copy comes onto the loader's path, such as a "
            "host's, cuDNN takes that one: upgrade to a release that brings the sub-library, or keep other "
            "cuDNNs off the path.",
            "https://github.com/pytorch/pytorch/issues/188892")
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
    cudnn_ci::kCudnnAwaitsDriver, CCI_SEVERITY_NOTE, CCI_BLAME_RUNNER,
    "a library of cuDNN needs the driver's, which is not on this machine: it was not loaded",
    "Nothing is wrong with the image. A run on a machine with a GPU proves this library too.",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html")
CCI_FINDING(
    cudnn_ci::kCudnnDriverLibraryMissing, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "a library of cuDNN needs one of the driver's that this container was not given",
    "Give the container the whole driver: NVIDIA_DRIVER_CAPABILITIES=compute,utility, and a host driver "
    "whose "
    "packages are complete.",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html")
CCI_FINDING(
    cudnn_ci::kCudnnJitOnly, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
    "this cuDNN is a JIT-only package: it has the graph API with engines compiled at run time",
    "Install the full package (nvidia-cudnn-cu13, libcudnn9-cuda-13) if programs of the image use the "
    "legacy API or rely on engines compiled ahead.",
    "https://docs.nvidia.com/deeplearning/cudnn/installation/latest/linux.html")
CCI_FINDING(
    cudnn_ci::kCudnnJitCompleted, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
    "a JIT-only cuDNN comes first on the loader's path, and a full one behind it",
    "Keep one of the two on the loader's path: a program that calls the legacy API gets the first one's "
    "main library with the other's parts, and CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH if they differ.",
    "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(cudnn_ci::kCublasLtUnusable, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "cuDNN's engines need libcublasLt of their CUDA major, and it is missing or cannot be loaded",
            "Install the libcublas package of that CUDA major (libcublas-13-0, nvidia-cublas, ...) where the "
            "loader or "
            "the run path of cuDNN finds it. Without it a convolution aborts the program.",
            "https://docs.nvidia.com/deeplearning/cudnn/installation/latest/linux.html")
CCI_FINDING(cudnn_ci::kCudnnHeaderMismatch, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "cuDNN's headers are of another version than its libraries",
            "Install headers and libraries of one version: what is built here calls with other enumerations "
            "than the library knows.",
            "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/release-notes.html")
CCI_FINDING(cudnn_ci::kCudnnPackageMismatch, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "what package managers record of cuDNN does not agree with its libraries",
            "Two packages wrote into one folder (wheels for two CUDA majors do), or files were copied over a "
            "package's: "
            "uninstall them all, then install the one that is meant.",
            "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(
    cudnn_ci::kCudnnGpuUnsupported, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the image's cuDNN no longer supports a GPU as old as those of this runner",
    "Pin an older cuDNN that supports them (9.10 is the last for compute capability 5.0 to 7.0), or run the "
    "image on newer GPUs and promise them in runner.compute_capability.",
    "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/reference/support-matrix.html")
CCI_FINDING(
    cudnn_ci::kGpuNewerThanCudnn, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
    "the image's cuDNN is older than the architecture of this runner's GPUs",
    "Upgrade cuDNN to a release that has kernels for them; until then some are compiled at the first use, "
    "and others are missing.",
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
CCI_FINDING(
    cudnn_ci::kCudnnHandleLeak, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
    "every cuDNN handle leaves device memory behind when it is destroyed",
    "Create one handle per thread and keep it, as frameworks do, or take another patch release of cuDNN.",
    "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/release-notes.html")
CCI_FINDING(cudnn_ci::kCudnnPressureUnclear, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
            "with hardly any device memory left cudnnCreate fails, and does not say that it is memory",
            "Nothing to do. If you see this status in a log, check the free device memory first: a missing "
            "driver and a broken install return the same status.",
            "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(cudnn_ci::kCudnnLostUnderPressure, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a process in which cudnnCreate once found no device memory cannot use cuDNN any more",
            "Take another patch release of cuDNN, or restart a process after it ran out of device memory.",
            "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/release-notes.html")
CCI_FINDING(cudnn_ci::kKnownRegression, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "this release of cuDNN is known to compute something wrong or to crash",
            "Take the release that the finding names, or make sure that nothing here computes such "
            "convolutions: a case of "
            "the matrix with one of them shows whether it is wrong on this GPU, and is red if it is. "
            "known-regressions.txt, attached to the case, has all that is known of this release, with "
            "sources.",
            "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/release-notes.html")
CCI_FINDING(cudnn_ci::kCudnnNoPlans, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "cuDNN's heuristics find no engine for plain convolutions",
            "The library with the heuristics or the engines is present but unusable: it is from another "
            "release, or another file has its name. Reinstall cuDNN as a whole, in one version.",
            "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(
    cudnn_ci::kCudnnPlansFailed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "cuDNN cannot be asked for engines or plans",
    "1002 and 1008 mean libraries of different versions or one that cannot be loaded: reinstall cuDNN as a "
    "whole, in one version. CUDNN_LOGLEVEL_DBG=2 CUDNN_LOGDEST_DBG=stderr names the condition that failed.",
    "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html")

namespace cudnn_ci {
namespace {

// More copies than any image has; facts of one plugin are bounded.
constexpr size_t kMostCopies = 32;

void ReportCopies(FactSink& facts) {
  const CudnnCopies found = FindCudnnCopies();
  for (size_t i = 0; i < found.copies.size() && i < kMostCopies; ++i) {
    const CudnnCopy& copy = found.copies[i];
    const std::string key = CCI_FACT_CUDNN_COPY + std::to_string(i);
    facts.Report(key + CCI_FACT_CUDNN_COPY_PATH, copy.directory + "/" + CudnnSoname(copy.major));
    facts.Report(key + CCI_FACT_CUDNN_COPY_ORIGIN, copy.origin);
    if (!copy.version.empty()) facts.Report(key + CCI_FACT_CUDNN_COPY_VERSION, copy.version);
  }
  if (!found.complete || found.copies.size() > kMostCopies)
    facts.Report("cudnn.copies", "incomplete: the search gave up at its bound");
}

// What changes which libraries a process gets, and how the loader and the allocator work.
void ReportLoaderVariables(FactSink& facts) {
  for (const char* name : {"LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "CUDNN_LIB_CONFIG"})
    if (const std::string value = Environment(name); !value.empty())
      facts.Report(std::string("env.") + name, value);
}

void Facts(FactSink& facts) {
  ReportCopies(facts);
  ReportLoaderVariables(facts);
  const CudnnInstall install =
      InspectCudnn(CudnnMajors(PromiseOf(facts, "image.cudnn"), facts.SubjectFolders()));
  if (!install.found()) return;
  facts.Report(CCI_FACT_CUDNN_PATH, install.main.path);
  const std::string version = install.Version(), cuda = CudaMajorOfRunPath(install);
  if (!version.empty()) facts.Report(CCI_FACT_CUDNN_VERSION, version);
  if (!cuda.empty()) facts.Report(CCI_FACT_CUDNN_CUDART, cuda);
  if (install.jit_only()) facts.Report(CCI_FACT_CUDNN_LIBRARIES, "jit");
}

CCI_FACTS(Facts, true)

}  // namespace
}  // namespace cudnn_ci

CCI_PLUGIN("cudnn", "0.1.0", "the image's cuDNN: complete, of one piece, of the promised version, usable")
