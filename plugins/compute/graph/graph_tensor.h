// A tensor of an operation graph, described. Must not know operations.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_GRAPH_GRAPH_TENSOR_H_
#define CUDNN_CI_PLUGINS_COMPUTE_GRAPH_GRAPH_TENSOR_H_

#include <cudnn.h>

#include <cstdint>
#include <vector>

#include "common/cudnn_api.h"
#include "common/graph_descriptor.h"
#include "common/numeric/data_type.h"

namespace cudnn_ci {

// How a tensor of a graph is held.
struct GraphTensor {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Layout layout = Layout::kNchw;
  std::int64_t uid = 0;     // what it is called in the graph and in the memory that is given to a plan
  bool is_virtual = false;  // it lies between two operations, and has no memory
};

// Of the sizes n, c and as many more as it has, without gaps, finalized. `name` is for messages and must live
// as long as the descriptor. Throws CudnnFailure.
GraphDescriptor MakeGraphTensor(const CudnnApi& api, const char* name, const std::vector<std::int64_t>& dims,
                                const GraphTensor& held);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_GRAPH_GRAPH_TENSOR_H_
