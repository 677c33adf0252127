// The algorithms that cuBLASLt's heuristics name for a product.
#ifndef CUDNN_CI_PLUGINS_GEMM_MATMUL_CANDIDATES_H_
#define CUDNN_CI_PLUGINS_GEMM_MATMUL_CANDIDATES_H_

#include <cstddef>

#include "compute/candidate.h"
#include "gemm/cublas_session.h"
#include "gemm/matmul_spec.h"

namespace cudnn_ci {

// Of the first so many, in the heuristics' order; a run of any takes at most that workspace. The session must
// outlive them. Throws CudnnFailure, which speaks for cuBLASLt as well.
Candidates MatmulCandidates(const CublasSession& session, const MatmulSpec& spec, std::size_t workspace_limit,
                            int most);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_MATMUL_CANDIDATES_H_
