// What cuBLAS and cuBLASLt have in common: the numbers of types (library_types.h, cublas_api.h), and how a
// call fails. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_GEMM_CUBLAS_TYPES_H_
#define CUDNN_CI_PLUGINS_GEMM_CUBLAS_TYPES_H_

#include "common/cublaslt_api.h"
#include "common/cudnn_failure.h"
#include "common/numeric/data_type.h"

namespace cudnn_ci {

enum CublasRealType { kReal32F = 0, kReal64F = 1, kReal32I = 10 };  // cudaDataType_t, those of factors

// cudaDataType_t.
int RealTypeOf(DataType type);
// cublasComputeType_t of products of this type; float32 may be computed as TF32.
int ComputeTypeOf(DataType type, bool tf32);
// Of alpha and beta.
int ScaleTypeOf(DataType type);

// That of a call which failed; a function that the library lacks is one as well.
CudnnFailure FailureOf(const CublasError& error);
CudnnFailure FailureOf(const MissingSymbol& error);

// Throws what the library did not answer with success as CudnnFailure, which speaks for cuBLAS as well.
template <class Function>
auto Asked(Function function) {
  try {
    return function();
  } catch (const CublasError& e) {
    throw FailureOf(e);
  } catch (const MissingSymbol& e) {
    throw FailureOf(e);
  }
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_CUBLAS_TYPES_H_
