// An addition and a rectifier. The types are those that frameworks take: sums in the convolution's own, all
// that follows in float32 (of float64 in float64), so that what is stored is rounded once.
#include "conv/graph/pointwise_chain.h"

#include <utility>

#include "compute/cudnn_types.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kUidOfSums = 's', kUidOfBiased = 'a';

}  // namespace

GraphDescriptor MakeTensor(const CudnnApi& api, const Tensor& tensor, int spatial, const GraphTensor& held) {
  std::vector<std::int64_t> dims = {tensor.outer, tensor.channels};
  dims.insert(dims.end(), tensor.sizes.end() - spatial, tensor.sizes.end());
  return MakeGraphTensor(api, tensor.name, dims, held);
}

PointwiseChain::PointwiseChain(const CudnnApi& api, const Problem& problem, DataType type, Layout layout,
                               const GraphDescriptor& y)
    : computes_in_(type == DataType::kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT), y_(y) {
  const Epilogue& epilogue = problem.epilogue;
  if (!epilogue.any()) return;
  const int spatial = problem.shape.spatial;
  Tensor between = problem.Y();
  between.name = "sums";
  sums_.emplace(MakeTensor(api, between, spatial, {CudnnSumTypeOf(type), layout, kUidOfSums, true}));
  if (epilogue.bias) {
    bias_.emplace(
        MakeTensor(api, problem.Bias(), spatial, {CudnnTypeOf(BiasTypeOf(type)), layout, kUidOfBias, false}));
    between.name = "biased sums";
    if (epilogue.relu)
      biased_.emplace(MakeTensor(api, between, spatial, {computes_in_, layout, kUidOfBiased, true}));
    add_.emplace(Make(api, CUDNN_POINTWISE_ADD, *sums_, &*bias_, biased_ ? *biased_ : y));
  }
  if (epilogue.relu)
    relu_.emplace(Make(api, CUDNN_POINTWISE_RELU_FWD, biased_ ? *biased_ : *sums_, nullptr, y));
}

PointwiseChain::Pointwise PointwiseChain::Make(const CudnnApi& api, cudnnPointwiseMode_t mode,
                                               const GraphDescriptor& x, const GraphDescriptor* b,
                                               const GraphDescriptor& y) const {
  GraphDescriptor described(api, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "pointwise");
  described.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, std::vector<cudnnPointwiseMode_t>{mode})
      .Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, std::vector<cudnnDataType_t>{computes_in_})
      .Finalize();
  GraphDescriptor operation(api, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "pointwise operation");
  operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, described)
      .Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
      .Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  if (b) operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
  operation.Finalize();
  return {std::move(described), std::move(operation)};
}

std::vector<cudnnBackendDescriptor_t> PointwiseChain::operations() const {
  std::vector<cudnnBackendDescriptor_t> list;
  if (add_) list.push_back(add_->operation.get());
  if (relu_) list.push_back(relu_->operation.get());
  return list;
}

}  // namespace cudnn_ci
