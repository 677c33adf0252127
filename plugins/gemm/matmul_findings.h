// What a compute case of a matrix product reports, alone or in a group.
#ifndef CUDNN_CI_PLUGINS_GEMM_MATMUL_FINDINGS_H_
#define CUDNN_CI_PLUGINS_GEMM_MATMUL_FINDINGS_H_

#include "compute/compute_findings.h"
#include "gemm/findings.h"

namespace cudnn_ci {

inline constexpr ComputeFindings kMatmulFindings = {kMatmulFailed,
                                                    kMatmulCudnnMixed,
                                                    kMatmulWrongValue,
                                                    kMatmulWrongValueUnexplained,
                                                    kMatmulImpreciseValue,
                                                    kMatmulNotWritten,
                                                    kMatmulOutOfBoundsWrite,
                                                    kMatmulInputModified,
                                                    kMatmulWorkspaceUnderstated,
                                                    kMatmulProposalRefused,
                                                    kMatmulNotRepeatable};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_MATMUL_FINDINGS_H_
