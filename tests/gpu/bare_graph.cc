// The graph API's part of bare_conv.cc: the same descriptors, heuristics and plans as the conv plugin's, and
// nothing around them.
#include "bare.h"

namespace {

using Descriptor = cudnnBackendDescriptor_t;

Descriptor Make(cudnnBackendDescriptorType_t type) {
  Descriptor d;
  Cudnn(cudnnBackendCreateDescriptor(type, &d), "create");
  return d;
}

template <class T>
void Set(Descriptor d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         const std::vector<T>& values) {
  Cudnn(cudnnBackendSetAttribute(d, name, type, static_cast<int64_t>(values.size()), values.data()), "set");
}
void SetIntegers(Descriptor d, cudnnBackendAttributeName_t name, const Integers& values) {
  Set(d, name, CUDNN_TYPE_INT64, values);
}
void SetDescriptor(Descriptor d, cudnnBackendAttributeName_t name, Descriptor value) {
  Set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::vector<Descriptor>{value});
}

Descriptor Tensor(const Line& line, const Integers& dims, int64_t uid) {
  const Descriptor d = Make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  Integers strides(dims.size());
  const bool last = line.layout == "nhwc";
  int64_t stride = last ? dims[1] : 1;
  for (size_t axis = dims.size(); axis-- > 2; stride *= dims[axis]) strides[axis] = stride;
  strides[1] = last ? 1 : stride;
  strides[0] = last ? stride : stride * dims[1];
  Set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector<cudnnDataType_t>{line.type()});
  SetIntegers(d, CUDNN_ATTR_TENSOR_DIMENSIONS, dims);
  SetIntegers(d, CUDNN_ATTR_TENSOR_STRIDES, strides);
  SetIntegers(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, {uid});
  SetIntegers(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
  Cudnn(cudnnBackendFinalize(d), "tensor");
  return d;
}

Descriptor Convolution(const Line& line) {
  const Descriptor d = Make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  Set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
      std::vector<cudnnDataType_t>{line.sum_type()});
  Set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
      std::vector<cudnnConvolutionMode_t>{CUDNN_CROSS_CORRELATION});
  SetIntegers(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {static_cast<int64_t>(line.spatial())});
  SetIntegers(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, line.pad);
  SetIntegers(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, line.pad);
  SetIntegers(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, line.stride);
  SetIntegers(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, line.dilation);
  Cudnn(cudnnBackendFinalize(d), "convolution");
  return d;
}

// The descriptor of an operation, and its attributes: x, w, y, convolution, alpha, beta.
struct Names {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};
constexpr Names kForward = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
constexpr Names kData = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
constexpr Names kFilter = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};

Descriptor Graph(cudnnHandle_t handle, const Line& line, std::vector<Descriptor>* all) {
  const Names& names = line.operation == "forward"         ? kForward
                       : line.operation == "backward_data" ? kData
                                                           : kFilter;
  const Descriptor operation = Make(names.type), graph = Make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  *all = {Tensor(line, line.X(), 1),
          Tensor(line, line.W(), 2),
          Tensor(line, line.Y(), 3),
          Convolution(line),
          operation,
          graph};
  SetDescriptor(operation, names.x, (*all)[0]);
  SetDescriptor(operation, names.w, (*all)[1]);
  SetDescriptor(operation, names.y, (*all)[2]);
  SetDescriptor(operation, names.convolution, (*all)[3]);
  if (line.type() == CUDNN_DATA_DOUBLE) {
    Set(operation, names.alpha, CUDNN_TYPE_DOUBLE, std::vector<double>{1});
    Set(operation, names.beta, CUDNN_TYPE_DOUBLE, std::vector<double>{0});
  } else {
    Set(operation, names.alpha, CUDNN_TYPE_FLOAT, std::vector<float>{1});
    Set(operation, names.beta, CUDNN_TYPE_FLOAT, std::vector<float>{0});
  }
  Cudnn(cudnnBackendFinalize(operation), "operation");
  Set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, std::vector<cudnnHandle_t>{handle});
  SetDescriptor(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  Cudnn(cudnnBackendFinalize(graph), "graph");
  return graph;
}

// What one list of heuristics gives, behind what `configurations` has.
void Ask(Descriptor graph, cudnnBackendHeurMode_t mode, std::vector<Descriptor>* configurations) {
  const Descriptor heuristics = Make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  SetDescriptor(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  Set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE,
      std::vector<cudnnBackendHeurMode_t>{mode});
  int64_t count = 0;
  if (cudnnBackendFinalize(heuristics) == CUDNN_STATUS_SUCCESS &&
      cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                               &count, nullptr) == CUDNN_STATUS_SUCCESS &&
      count > 0) {
    std::vector<Descriptor> into;
    for (int64_t i = 0; i < count; ++i) into.push_back(Make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    int64_t given = 0;
    Cudnn(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                   count, &given, into.data()),
          "heuristics");
    for (int64_t i = 0; i < count; ++i) {
      if (i < given)
        configurations->push_back(into[static_cast<size_t>(i)]);
      else
        cudnnBackendDestroyDescriptor(into[static_cast<size_t>(i)]);
    }
  }
  cudnnBackendDestroyDescriptor(heuristics);
}

bool RunPlan(cudnnHandle_t handle, const Line& line, Descriptor plan) {
  int64_t workspace = 0, one = 0;
  Cudnn(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &one,
                                 &workspace),
        "workspace");
  return Execute(line, static_cast<size_t>(workspace), [&](const Memory& m) {
    const Descriptor pack = Make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    SetIntegers(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {1, 2, 3});
    Set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, std::vector<void*>{m.x, m.w, m.y});
    Set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, std::vector<void*>{m.workspace});
    Cudnn(cudnnBackendFinalize(pack), "variant pack");
    const bool ran = cudnnBackendExecute(handle, plan, pack) == CUDNN_STATUS_SUCCESS;
    cudnnBackendDestroyDescriptor(pack);
    return ran;
  });
}

}  // namespace

bool ConvolveByGraph(cudnnHandle_t handle, const Line& line) {
  std::vector<Descriptor> all, configurations;
  const Descriptor graph = Graph(handle, line, &all);
  Ask(graph, CUDNN_HEUR_MODE_A, &configurations);
  Ask(graph, CUDNN_HEUR_MODE_FALLBACK, &configurations);
  bool ran = false;
  for (const Descriptor configuration : configurations) {
    const Descriptor plan = Make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    Set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, std::vector<cudnnHandle_t>{handle});
    SetDescriptor(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    ran = cudnnBackendFinalize(plan) == CUDNN_STATUS_SUCCESS && RunPlan(handle, line, plan);
    cudnnBackendDestroyDescriptor(plan);
    if (ran) break;
  }
  for (const Descriptor d : configurations) cudnnBackendDestroyDescriptor(d);
  for (size_t i = all.size(); i-- > 0;) cudnnBackendDestroyDescriptor(all[i]);
  return ran;
}
