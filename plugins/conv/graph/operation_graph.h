// The operation graph of one problem, in descriptors of the graph API. Must not know engines.
#ifndef CUDNN_CI_PLUGINS_CONV_GRAPH_OPERATION_GRAPH_H_
#define CUDNN_CI_PLUGINS_CONV_GRAPH_OPERATION_GRAPH_H_

#include "common/cudnn_api.h"
#include "common/graph_descriptor.h"
#include "common/numeric/data_type.h"
#include "conv/graph/pointwise_chain.h"
#include "conv/operation.h"

namespace cudnn_ci {

// What tensors are called in a graph.
constexpr std::int64_t kUidOfX = 'x', kUidOfW = 'w', kUidOfY = 'y';  // or of dx, dw, dy

// A convolution or a gradient, and the epilogue behind it. Finalized when it is made. Throws CudnnFailure.
class OperationGraph {
 public:
  OperationGraph(const CudnnApi& api, cudnnHandle_t handle, const Problem& problem, DataType type,
                 Layout layout);

  const GraphDescriptor& graph() const { return graph_; }
  const Problem& problem() const { return problem_; }
  DataType type() const { return type_; }
  const CudnnApi& api() const { return api_; }
  cudnnHandle_t handle() const { return handle_; }

 private:
  const CudnnApi& api_;
  cudnnHandle_t handle_;
  const Problem problem_;
  const DataType type_;
  // In the order in which they refer to one another.
  GraphDescriptor x_, w_, y_;
  PointwiseChain epilogue_;
  GraphDescriptor convolution_, operation_, graph_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_GRAPH_OPERATION_GRAPH_H_
