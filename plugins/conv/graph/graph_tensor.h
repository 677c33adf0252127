// A tensor of an operation graph, described. Must not know operations.
#ifndef CUDNN_CI_PLUGINS_CONV_GRAPH_GRAPH_TENSOR_H_
#define CUDNN_CI_PLUGINS_CONV_GRAPH_GRAPH_TENSOR_H_

#include <cudnn.h>

#include <cstdint>

#include "common/cudnn_api.h"
#include "common/graph_descriptor.h"
#include "common/numeric/data_type.h"
#include "conv/operation.h"

namespace cudnn_ci {

// How a tensor of a graph is held.
struct GraphTensor {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Layout layout = Layout::kNchw;
  std::int64_t uid = 0;     // what it is called in the graph and in the memory that is given to a plan
  bool is_virtual = false;  // it lies between two operations, and has no memory
};

// With the last `spatial` sizes of it, finalized. Throws CudnnFailure.
GraphDescriptor MakeGraphTensor(const CudnnApi& api, const Tensor& tensor, int spatial,
                                const GraphTensor& held);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_GRAPH_GRAPH_TENSOR_H_
