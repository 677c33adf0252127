// The operation graph of a convolution or a gradient. Must not know engines.
#ifndef CUDNN_CI_PLUGINS_CONV_GRAPH_CONVOLUTION_GRAPH_H_
#define CUDNN_CI_PLUGINS_CONV_GRAPH_CONVOLUTION_GRAPH_H_

#include "common/cudnn_api.h"
#include "common/graph_descriptor.h"
#include "common/numeric/data_type.h"
#include "compute/graph/operation_graph.h"
#include "conv/graph/pointwise_chain.h"
#include "conv/operation.h"

namespace cudnn_ci {

// What tensors are called in a graph.
constexpr std::int64_t kUidOfX = 'x', kUidOfW = 'w', kUidOfY = 'y';  // or of dx, dw, dy

// A convolution or a gradient, and the epilogue behind it. Finalized when it is made. Throws CudnnFailure.
class ConvolutionGraph : public OperationGraph {
 public:
  ConvolutionGraph(const CudnnApi& api, cudnnHandle_t handle, const Problem& problem, DataType type,
                   Layout layout);

  const GraphDescriptor& graph() const override { return graph_; }

 private:
  // In the order in which they refer to one another.
  GraphDescriptor x_, w_, y_;
  PointwiseChain epilogue_;
  GraphDescriptor convolution_, operation_, graph_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_GRAPH_CONVOLUTION_GRAPH_H_
