// The parameters of a matrix product as a matrix gives them. Must not know CUDA, cuBLASLt or the SDK.
#ifndef CUDNN_CI_PLUGINS_GEMM_MATMUL_PARAMS_H_
#define CUDNN_CI_PLUGINS_GEMM_MATMUL_PARAMS_H_

#include <cstdint>
#include <string>

#include "gemm/matmul_spec.h"

namespace cudnn_ci {

// The values that the schema of the check allows (checks.cc).
struct MatmulParams {
  std::string dtype, math, size, trans, epilogue, scales, algo, workspace;
  std::int64_t padding = 0, batch = 1;
  double alpha = 1, beta = 0;

  bool Is8BitFloat() const { return dtype.compare(0, 6, "float8") == 0; }
  MatmulSpec Spec() const;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_MATMUL_PARAMS_H_
