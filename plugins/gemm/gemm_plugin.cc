// The gemm plugin: its name and the findings it may report.
#include <cudnn_ci/check.hpp>

#include "gemm/findings.h"

namespace cudnn_ci {
namespace {

constexpr char kDocumentation[] = "https://docs.nvidia.com/cuda/cublas/index.html";
constexpr char kTakeAnother[] =
    "Do not ship. Check that libcublas and libcublasLt are of one release, then take another one: the "
    "finding "
    "names it, where one is known.";

CCI_FINDING(kMatmulFindings.failed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "cuBLASLt or cuBLAS could not run a matrix product that it does not call unsupported",
            "Look at the status: 13 and 14 mean a kernel that failed or libraries that do not fit together. "
            "Install libcublas and libcublasLt of one release that supports this GPU and driver.",
            kDocumentation)
CCI_FINDING(kMatmulFindings.mixed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "libraries of two cuDNN installs were in memory at a matrix product",
            "Keep one cuDNN on the loader's path: what an install lacks is silently taken from another.",
            "https://docs.nvidia.com/deeplearning/cudnn/latest/reference/troubleshooting.html")
CCI_FINDING(
    kMatmulFindings.wrong, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE, "a matrix product returned wrong numbers",
    "Do not ship. The inputs were small integers, so no rounding explains it, and another algorithm is "
    "right. Take a cuBLAS release in which this algorithm is fixed.",
    kDocumentation)
CCI_FINDING(kMatmulFindings.unexplained, CCI_SEVERITY_ERROR, CCI_BLAME_UNDETERMINED,
            "a matrix product returned the same wrong numbers each time, and no other algorithm was right",
            "Run the gate once on another GPU of the same model: if it is wrong there too, the image is at "
            "fault (look for a cuBLAS release in which it is fixed), else the GPU.",
            kDocumentation)
CCI_FINDING(kMatmulFindings.imprecise, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a matrix product is right on exact data, but its error on random data is larger than its type "
            "explains",
            kTakeAnother, kDocumentation)
CCI_FINDING(kMatmulFindings.unwritten, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a matrix product reported success and left elements unwritten", kTakeAnother, kDocumentation)
CCI_FINDING(kMatmulFindings.out_of_bounds, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a matrix product wrote outside of the buffers it was given", kTakeAnother, kDocumentation)
CCI_FINDING(kMatmulFindings.input_modified, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a matrix product changed one of its inputs", kTakeAnother, kDocumentation)
CCI_FINDING(kMatmulFindings.workspace_understated, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "cuBLASLt proposes an algorithm with more workspace than it was allowed", kTakeAnother,
            kDocumentation)
CCI_FINDING(kMatmulFindings.proposal_refused, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
            "cuBLASLt proposes algorithms that it then refuses",
            "Nothing to do if the case passed: the next proposal ran, as it does in frameworks.",
            kDocumentation)
CCI_FINDING(
    kMatmulFindings.not_repeatable, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "a matrix product gave two results for the same data",
    "The first result was right, so a part of this GPU may compute differently from time to time: run "
    "the job on another GPU. If it happens there as well, it is a race in this cuBLAS: take another "
    "release. If not, take the GPU out of service.",
    "https://docs.nvidia.com/cuda/cublas/index.html#results-reproducibility")

}  // namespace
}  // namespace cudnn_ci

CCI_PLUGIN("gemm", "0.1.0",
           "matrix products through cuBLASLt and cuBLAS, every result compared with an exact reference")
