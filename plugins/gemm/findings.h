// The ids of this plugin's findings, spelled once.
#ifndef CUDNN_CI_PLUGINS_GEMM_FINDINGS_H_
#define CUDNN_CI_PLUGINS_GEMM_FINDINGS_H_

#include "compute/findings.h"

namespace cudnn_ci {

inline constexpr ComputeFindings kMatmulFindings = {"matmul-failed",
                                                    "matmul-cudnn-mixed",
                                                    "matmul-wrong-value",
                                                    "matmul-wrong-value-unexplained",
                                                    "matmul-imprecise-value",
                                                    "matmul-not-written",
                                                    "matmul-out-of-bounds-write",
                                                    "matmul-input-modified",
                                                    "matmul-workspace-understated",
                                                    "matmul-proposal-refused",
                                                    "matmul-not-repeatable"};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_FINDINGS_H_
