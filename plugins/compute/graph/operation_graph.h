// The operation graph of a problem, in descriptors of cuDNN's graph API. An operation derives its own. Must
// not know engines.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_GRAPH_OPERATION_GRAPH_H_
#define CUDNN_CI_PLUGINS_COMPUTE_GRAPH_OPERATION_GRAPH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "common/cudnn_api.h"
#include "common/graph_descriptor.h"
#include "common/numeric/data_type.h"

namespace cudnn_ci {

// Owns all descriptors that the graph refers to. API and handle must outlive it.
class OperationGraph {
 public:
  // What the variant pack's pointers are called in the graph, in the order of the problem's operands.
  struct Uids {
    std::vector<std::int64_t> inputs, outputs;
  };

  // `type` is that of the inputs.
  OperationGraph(const CudnnApi& api, cudnnHandle_t handle, DataType type, Uids uids)
      : api_(api), handle_(handle), type_(type), uids_(std::move(uids)) {}
  virtual ~OperationGraph() = default;
  OperationGraph(const OperationGraph&) = delete;
  OperationGraph& operator=(const OperationGraph&) = delete;

  // Finalized.
  virtual const GraphDescriptor& graph() const = 0;
  DataType type() const { return type_; }
  const Uids& uids() const { return uids_; }
  const CudnnApi& api() const { return api_; }
  cudnnHandle_t handle() const { return handle_; }

 protected:
  // The descriptor of a graph of these operations. Throws CudnnFailure.
  GraphDescriptor MakeGraph(const std::vector<cudnnBackendDescriptor_t>& operations) const;

 private:
  const CudnnApi& api_;
  cudnnHandle_t handle_;
  const DataType type_;
  const Uids uids_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_GRAPH_OPERATION_GRAPH_H_
