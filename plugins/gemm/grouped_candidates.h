// The ways in which cuBLAS computes the products of a grouped call.
#ifndef CUDNN_CI_PLUGINS_GEMM_GROUPED_CANDIDATES_H_
#define CUDNN_CI_PLUGINS_GEMM_GROUPED_CANDIDATES_H_

#include "compute/candidate.h"
#include "gemm/cublas_session.h"
#include "gemm/grouped_spec.h"

namespace cudnn_ci {

// All by one call of cublasGemmGroupedBatchedEx. The session must outlive it, and use cuBLAS.
Candidates GroupedCall(const CublasSession& session, const GroupedSpec& spec);
// Each by one of cublasGemmEx, as which the documentation defines the grouped one: what tells a wrong result
// of that from a GPU that computes wrong.
Candidates SingleCalls(const CublasSession& session, const GroupedSpec& spec);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_GROUPED_CANDIDATES_H_
