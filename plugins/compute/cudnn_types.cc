#include "compute/cudnn_types.h"

namespace cudnn_ci {

cudnnDataType_t CudnnTypeOf(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return CUDNN_DATA_HALF;
    case DataType::kBfloat16:
      return CUDNN_DATA_BFLOAT16;
    case DataType::kFloat64:
      return CUDNN_DATA_DOUBLE;
    case DataType::kInt8:
      return CUDNN_DATA_INT8;
    case DataType::kInt32:
      return CUDNN_DATA_INT32;
    case DataType::kFloat8E4m3:
      return CUDNN_DATA_FP8_E4M3;
    case DataType::kFloat8E5m2:
      return CUDNN_DATA_FP8_E5M2;
    case DataType::kFloat32:
      break;
  }
  return CUDNN_DATA_FLOAT;
}

cudnnDataType_t CudnnSumTypeOf(DataType type) {
  if (type == DataType::kFloat64) return CUDNN_DATA_DOUBLE;
  return type == DataType::kInt8 ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
}

}  // namespace cudnn_ci
