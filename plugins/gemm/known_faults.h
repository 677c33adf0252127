// What is known of the cuBLAS in use, by the table of version facts, that explains how a product ended. It
// changes no judgement.
#ifndef CUDNN_CI_PLUGINS_GEMM_KNOWN_FAULTS_H_
#define CUDNN_CI_PLUGINS_GEMM_KNOWN_FAULTS_H_

#include "common/known_regressions.h"
#include "gemm/grouped_spec.h"
#include "gemm/matmul_spec.h"

namespace cudnn_ci {

// Whether a row hits a product; `algorithm` is what ran, -1: whatever may.
bool HitsMatmul(const Predicates& hits, const MatmulSpec& spec, std::int64_t algorithm);
// Whether it hits a grouped call, which has no algorithms.
bool HitsGrouped(const Predicates& hits, const GroupedSpec& spec);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_KNOWN_FAULTS_H_
