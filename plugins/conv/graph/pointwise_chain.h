// What follows a convolution in its graph: an epilogue as pointwise operations, joined by tensors that have
// no memory. Must not know engines.
#ifndef CUDNN_CI_PLUGINS_CONV_GRAPH_POINTWISE_CHAIN_H_
#define CUDNN_CI_PLUGINS_CONV_GRAPH_POINTWISE_CHAIN_H_

#include <cudnn.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "common/cudnn_api.h"
#include "common/graph_descriptor.h"
#include "common/numeric/data_type.h"
#include "compute/graph/graph_tensor.h"
#include "conv/operation.h"

namespace cudnn_ci {

// A tensor of a convolution with the last `spatial` sizes of it, finalized. Throws CudnnFailure.
GraphDescriptor MakeTensor(const CudnnApi& api, const Tensor& tensor, int spatial, const GraphTensor& held);

constexpr std::int64_t kUidOfBias = 'b';

// Finalized when it is made. Throws CudnnFailure.
class PointwiseChain {
 public:
  // Its last operation writes `y`, which must outlive it. Inputs are of `type`.
  PointwiseChain(const CudnnApi& api, const Problem& problem, DataType type, Layout layout,
                 const GraphDescriptor& y);

  // What the convolution has to write: y itself where nothing follows it.
  const GraphDescriptor& sums() const { return sums_ ? *sums_ : y_; }
  // In their order; empty where nothing follows.
  std::vector<cudnnBackendDescriptor_t> operations() const;

 private:
  // One operation, and its mode, to which it refers.
  struct Pointwise {
    GraphDescriptor mode, operation;
  };
  Pointwise Make(const CudnnApi& api, cudnnPointwiseMode_t mode, const GraphDescriptor& x,
                 const GraphDescriptor* b, const GraphDescriptor& y) const;

  const cudnnDataType_t computes_in_;
  const GraphDescriptor& y_;
  // In the order in which they refer to one another. biased_ lies between the two operations.
  std::optional<GraphDescriptor> sums_, bias_, biased_;
  std::optional<Pointwise> add_, relu_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_GRAPH_POINTWISE_CHAIN_H_
