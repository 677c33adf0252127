// Tensors, the convolution, one of the three operations, the graph.
#include "conv/graph/convolution_graph.h"

#include <vector>

#include "compute/cudnn_types.h"

namespace cudnn_ci {
namespace {

using Integers = std::vector<std::int64_t>;

Integers LastAxes(const Axes& axes, int count) { return Integers(axes.end() - count, axes.end()); }

GraphDescriptor MakeConvolution(const CudnnApi& api, const ConvShape& shape, DataType type) {
  const int spatial = shape.spatial;
  GraphDescriptor d(api, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "convolution");
  d.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
        std::vector<cudnnDataType_t>{CudnnSumTypeOf(type)})
      .Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
           std::vector<cudnnConvolutionMode_t>{CUDNN_CROSS_CORRELATION})
      .SetIntegers(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {spatial})
      .SetIntegers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, LastAxes(shape.pad, spatial))
      .SetIntegers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, LastAxes(shape.pad_after, spatial))
      .SetIntegers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, LastAxes(shape.stride, spatial))
      .SetIntegers(CUDNN_ATTR_CONVOLUTION_DILATIONS, LastAxes(shape.dilation, spatial))
      .Finalize();
  return d;
}

// The attributes of an operation's descriptor.
struct Names {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};

Names NamesOf(Operation operation) {
  switch (operation) {
    case Operation::kBackwardData:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case Operation::kBackwardFilter:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
    case Operation::kForward:
      break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
}

GraphDescriptor MakeOperation(const CudnnApi& api, const Names& names, DataType type,
                              const GraphDescriptor& x, const GraphDescriptor& w, const GraphDescriptor& y,
                              const GraphDescriptor& convolution) {
  GraphDescriptor d(api, names.type, "operation");
  d.Set(names.x, x).Set(names.w, w).Set(names.y, y).Set(names.convolution, convolution);
  if (type == DataType::kFloat64) {
    d.Set(names.alpha, CUDNN_TYPE_DOUBLE, std::vector<double>{1});
    d.Set(names.beta, CUDNN_TYPE_DOUBLE, std::vector<double>{0});
  } else {
    d.Set(names.alpha, CUDNN_TYPE_FLOAT, std::vector<float>{1});
    d.Set(names.beta, CUDNN_TYPE_FLOAT, std::vector<float>{0});
  }
  d.Finalize();
  return d;
}

// a and b, and the bias where there is one; y.
OperationGraph::Uids UidsOf(const Problem& problem) {
  OperationGraph::Uids uids;
  switch (problem.operation) {
    case Operation::kBackwardData:
      uids = {{kUidOfY, kUidOfW}, {kUidOfX}};
      break;
    case Operation::kBackwardFilter:
      uids = {{kUidOfY, kUidOfX}, {kUidOfW}};
      break;
    case Operation::kForward:
      uids = {{kUidOfX, kUidOfW}, {kUidOfY}};
      break;
  }
  if (problem.epilogue.bias) uids.inputs.push_back(kUidOfBias);
  return uids;
}

std::vector<cudnnBackendDescriptor_t> OperationsOf(const GraphDescriptor& operation,
                                                   const PointwiseChain& epilogue) {
  std::vector<cudnnBackendDescriptor_t> operations = epilogue.operations();
  operations.insert(operations.begin(), operation.get());
  return operations;
}

}  // namespace

ConvolutionGraph::ConvolutionGraph(const CudnnApi& api, cudnnHandle_t handle, const Problem& problem,
                                   DataType type, Layout layout)
    : OperationGraph(api, handle, type, UidsOf(problem)),
      x_(MakeTensor(api, {"x", problem.shape.n, problem.shape.c, problem.shape.in}, problem.shape.spatial,
                    {CudnnTypeOf(type), layout, kUidOfX})),
      w_(MakeTensor(api, {"w", problem.shape.k, problem.shape.ChannelsPerGroup(), problem.shape.kernel},
                    problem.shape.spatial, {CudnnTypeOf(type), layout, kUidOfW})),
      y_(MakeTensor(api, {"y", problem.shape.n, problem.shape.k, problem.shape.out}, problem.shape.spatial,
                    {CudnnTypeOf(problem.OutputType(type)), layout, kUidOfY})),
      epilogue_(api, problem, type, layout, y_),
      convolution_(MakeConvolution(api, problem.shape, type)),
      operation_(
          MakeOperation(api, NamesOf(problem.operation), type, x_, w_, epilogue_.sums(), convolution_)),
      graph_(MakeGraph(OperationsOf(operation_, epilogue_))) {}

}  // namespace cudnn_ci
