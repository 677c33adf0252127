#include "compute/graph/operation_graph.h"

namespace cudnn_ci {

GraphDescriptor OperationGraph::MakeGraph(const std::vector<cudnnBackendDescriptor_t>& operations) const {
  GraphDescriptor d(api_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "operation graph");
  d.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, std::vector<cudnnHandle_t>{handle_})
      .Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, operations)
      .Finalize();
  return d;
}

}  // namespace cudnn_ci
