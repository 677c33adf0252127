// The convolution plugin: its name and the findings it may report.
#include <cudnn_ci/check.hpp>

#include "conv/findings.h"

namespace cudnn_ci {
namespace {

constexpr char kReleaseNotes[] =
    "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/release-notes.html";

CCI_FINDING(
    kConvolutionFailed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "cuDNN could not run a convolution that it does not call unsupported",
    "Look at the status and the library's own text: 1002 and 1008 mean libraries of different versions or "
    "missing ones (see the cudnn checks), 5000 and above a kernel that failed. Install one complete cuDNN "
    "that fits the driver and the toolkit, or another patch release of it.",
    "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html")
CCI_FINDING(
    kConvolutionCudnnMixed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a convolution loaded libraries of two cuDNN installs into one process",
    "Keep one cuDNN on the loader's path: what an install lacks, or asks for by a longer name, is silently "
    "taken from another.",
    "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(
    kWrongValue, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE, "a convolution returned wrong numbers",
    "Do not ship. The inputs were small integers, so no rounding explains it. Check that all cuDNN and "
    "cuBLAS "
    "libraries are of one release, then look in the release notes for a fix of this algorithm and take "
    "that version.",
    kReleaseNotes)
CCI_FINDING(kWrongValueUnexplained, CCI_SEVERITY_ERROR, CCI_BLAME_UNDETERMINED,
            "a convolution returned the same wrong numbers each time, and no other algorithm was right",
            "Run the gate once on another GPU of the same model, or on a machine with two: if it is wrong "
            "there too, the image is at fault (look for a cuDNN release in which it is fixed), else the GPU.",
            kReleaseNotes)
CCI_FINDING(
    kImpreciseValue, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a convolution is right on exact data, but its error on random data is larger than its type and math "
    "explain",
    "Do not ship what trains or serves with this algorithm: it computes in a shorter type than was asked "
    "for, "
    "or is wrong for numbers that are not small integers. The finding has an element, its value and the "
    "bound. "
    "Check that all cuDNN and cuBLAS libraries are of one release, then take another one.",
    kReleaseNotes)
CCI_FINDING(kOutputNotWritten, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a convolution reported success and left output elements unwritten",
            "Do not ship. Check that all cuDNN libraries are of one release and carry kernels for this GPU's "
            "architecture, then try another patch release.",
            kReleaseNotes)
CCI_FINDING(kOutOfBoundsWrite, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a convolution wrote outside of the buffers it was given",
            "Do not ship: it corrupts other tensors. Take a cuDNN release in which this algorithm is fixed.",
            kReleaseNotes)
CCI_FINDING(
    kInputModified, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a convolution changed its input, its filter or its bias",
    "Do not ship: inputs are constant by contract. Take a cuDNN release in which this algorithm is fixed.",
    kReleaseNotes)
CCI_FINDING(kImpossibleAccepted, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "cuDNN accepted an impossible convolution",
            "Do not ship: a program with such a mistake continues with meaningless numbers. Take another "
            "patch release of cuDNN.",
            kReleaseNotes)
CCI_FINDING(kUnusableAfterRefusal, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "cuDNN or the CUDA context was unusable after an impossible convolution was tried",
            "Do not ship: a mistake that should return an error status ends the program instead. Take "
            "another patch release of "
            "cuDNN.",
            kReleaseNotes)
CCI_FINDING(kWorkspaceUnderstated, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "cuDNN proposes an algorithm with less workspace than it asks for",
            "Programs that allocate what cudnnGetConvolution...Algorithm_v7 says fail, or write beyond it. "
            "Check that all cuDNN libraries are of one release, then take another patch release.",
            kReleaseNotes)
CCI_FINDING(kProposalRefused, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
            "cuDNN proposes ways to compute a convolution that it then refuses",
            "Nothing to do if the case passed: the next proposal ran, as it does in frameworks, and may be "
            "slower. If all convolutions say so, check whether a cuDNN library with kernels for this GPU is "
            "missing or of another release.",
            kReleaseNotes)
CCI_FINDING(kKnownCrash, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
            "this cuDNN is known to crash in such a convolution",
            "Nothing to do if the case passed. If its process ended, take the release that the note "
            "names.",
            kReleaseNotes)
CCI_FINDING(
    kNotRepeatable, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "a convolution that the library calls deterministic gave two results for the same data",
    "The first result was right, so a part of this GPU may compute differently from time to time: run the "
    "job "
    "on another GPU. If it happens there as well, it is a race in this cuDNN: take another patch release. If "
    "not, take this one out of service and have it looked at; the finding has the element and its bits.",
    "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/developer/"
    "misc.html#reproducibility-determinism")

}  // namespace
}  // namespace cudnn_ci

CCI_PLUGIN("conv", "0.1.0", "convolutions, every output compared with an exact reference")
