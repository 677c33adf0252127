// Our element types as cuDNN names them, in both of its APIs.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_CUDNN_TYPES_H_
#define CUDNN_CI_PLUGINS_COMPUTE_CUDNN_TYPES_H_

#include <cudnn.h>

#include "common/numeric/data_type.h"

namespace cudnn_ci {

cudnnDataType_t CudnnTypeOf(DataType type);

// In which products of that type are summed.
cudnnDataType_t CudnnSumTypeOf(DataType type);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_CUDNN_TYPES_H_
