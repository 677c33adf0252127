#include "gemm/cublas_types.h"

namespace cudnn_ci {
namespace {

enum Status { kAllocFailed = 3, kArchMismatch = 8, kNotSupported = 15 };
enum Compute { kCompute32F = 68, kCompute64F = 70, kCompute32I = 72, kComputeTf32 = 77 };
enum OtherRealType { kReal16F = 2, kReal8I = 3, kReal16Bf = 14, kReal8E4m3 = 28, kReal8E5m2 = 29 };

}  // namespace

int RealTypeOf(DataType type) {
  switch (type) {
    case DataType::kFloat64:
      return kReal64F;
    case DataType::kFloat16:
      return kReal16F;
    case DataType::kBfloat16:
      return kReal16Bf;
    case DataType::kInt8:
      return kReal8I;
    case DataType::kInt32:
      return kReal32I;
    case DataType::kFloat8E4m3:
      return kReal8E4m3;
    case DataType::kFloat8E5m2:
      return kReal8E5m2;
    case DataType::kFloat32:
      break;
  }
  return kReal32F;
}

int ComputeTypeOf(DataType type, bool tf32) {
  if (type == DataType::kFloat64) return kCompute64F;
  if (type == DataType::kInt8) return kCompute32I;
  return tf32 ? kComputeTf32 : kCompute32F;
}

int ScaleTypeOf(DataType type) {
  if (type == DataType::kFloat64) return kReal64F;
  return type == DataType::kInt8 ? kReal32I : kReal32F;
}

CudnnFailure FailureOf(const CublasError& error) {
  const bool unsupported = error.status() == kNotSupported || error.status() == kArchMismatch;
  RefusalCause cause = unsupported ? RefusalCause::kNotSaid : RefusalCause::kError;
  if (error.status() == kArchMismatch) cause = RefusalCause::kTypeOrArchitecture;
  if (error.status() == kAllocFailed) cause = RefusalCause::kMemory;
  return CudnnFailure(error.what(), unsupported, error.status(), cause);
}

CudnnFailure FailureOf(const MissingSymbol& error) {
  return CudnnFailure(error.what(), false, 0, RefusalCause::kInstallation);
}

}  // namespace cudnn_ci
