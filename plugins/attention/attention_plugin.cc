// The attention plugin: its name and the findings it may report.
#include <cudnn_ci/check.hpp>

#include "attention/findings.h"

namespace cudnn_ci {
namespace {

constexpr char kReleaseNotes[] =
    "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/release-notes.html";
constexpr char kTakeAnother[] =
    "Do not ship. Check that all cuDNN libraries are of one release, then take another patch release: the "
    "finding says which, where one is known.";

CCI_FINDING(
    kAttentionFindings.failed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "cuDNN could not run an attention that it does not call unsupported",
    "Look at the status and the library's own text: 1002 and 1008 mean libraries of different versions "
    "or missing ones (see the cudnn checks), 5000 and above a kernel that failed. Install one complete "
    "cuDNN that fits the driver and the toolkit, or another patch release of it.",
    "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html")
CCI_FINDING(kAttentionFindings.mixed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "attention loaded libraries of two cuDNN installs into one process",
            "Keep one cuDNN on the loader's path: what an install lacks is silently taken from another.",
            "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(
    kAttentionFindings.wrong, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE, "attention returned wrong numbers",
    "Do not ship what trains or serves with this attention. Exact data round nothing, and normal data "
    "are held to what rounding explains at most. Take a cuDNN release in which this engine is fixed, or have "
    "the framework "
    "use another backend of its attention.",
    kReleaseNotes)
CCI_FINDING(kAttentionFindings.unexplained, CCI_SEVERITY_ERROR, CCI_BLAME_UNDETERMINED,
            "attention returned the same wrong numbers each time, and no other engine was right",
            "Run the gate once on another GPU of the same model: if it is wrong there too, the image is at "
            "fault (look for a cuDNN release in which it is fixed), else the GPU.",
            kReleaseNotes)
CCI_FINDING(kAttentionFindings.imprecise, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "attention is right on exact data, but its error on random data is larger than its type explains",
            kTakeAnother, kReleaseNotes)
CCI_FINDING(kAttentionFindings.unwritten, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "attention reported success and left output elements unwritten", kTakeAnother, kReleaseNotes)
CCI_FINDING(kAttentionFindings.out_of_bounds, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "attention wrote outside of the buffers it was given", kTakeAnother, kReleaseNotes)
CCI_FINDING(kAttentionFindings.input_modified, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "attention changed one of its inputs", kTakeAnother, kReleaseNotes)
CCI_FINDING(kAttentionFindings.workspace_understated, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "cuDNN proposes an attention engine with less workspace than it asks for", kTakeAnother,
            kReleaseNotes)
CCI_FINDING(kAttentionFindings.proposal_refused, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
            "cuDNN proposes attention engines that it then refuses",
            "Nothing to do if the case passed: the next proposal ran, as it does in frameworks.",
            kReleaseNotes)
CCI_FINDING(kAttentionKnownCrash, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
            "this cuDNN is known to crash in such an attention",
            "Nothing to do if the case passed. If its process ended, take the release that the note names.",
            kReleaseNotes)
CCI_FINDING(
    kAttentionFindings.not_repeatable, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "an attention engine that is called deterministic gave two results for the same data",
    "The first result was right, so a part of this GPU may compute differently from time to time: run "
    "the job on another GPU. If it happens there as well, it is a race in this cuDNN: take another "
    "patch release. If not, take the GPU out of service.",
    "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/developer/"
    "misc.html#reproducibility-determinism")

}  // namespace
}  // namespace cudnn_ci

CCI_PLUGIN("attention", "0.1.0",
           "scaled dot product attention, every output compared with an exact reference")
