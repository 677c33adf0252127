#include "cudnn/backend.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/cudnn_failure.h"

namespace cudnn_ci {
namespace {

// By number: not every cudnn.h that this is built with declares them.
constexpr auto kDeviceProp = static_cast<cudnnBackendDescriptorType_t>(38);
constexpr auto kDevicePropJson = static_cast<cudnnBackendAttributeName_t>(2702);
constexpr auto kEngineHeurDeviceProp = static_cast<cudnnBackendAttributeName_t>(204);
constexpr auto kPlanDeviceProp = static_cast<cudnnBackendAttributeName_t>(407);

// As cudnnBackendGetAttribute tells it of a real one. A release refuses a text that lacks a key.
constexpr char kDescribedDevice[] =
    R"({"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
    R"("multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,)"
    R"("maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,)"
    R"("maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":9013,)"
    R"("isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":1980000,"memClockRateKHz":3201000,)"
    R"("l2CacheSize":62914560,"deviceName":"NVIDIA H200","deviceVer":900,"cudaDeviceId":0,)"
    R"("totalGlobalMem":150109880320,"driverVer":13000})";

// More than any heuristics have: they list up to a hundred.
constexpr std::int64_t kMostConfigurations = 1000;

struct Operation {
  GraphDescriptor x, w, y, convolution, operation, graph;
};

GraphDescriptor Tensor(const CudnnApi& api, const char* what, const PlanProblem& problem,
                       const std::vector<std::int64_t>& dims) {
  const std::int64_t c = dims[1], h = dims[2], w = dims[3];
  const std::vector<std::int64_t> first = {c * h * w, h * w, w, 1}, last = {c * h * w, 1, w * c, c};
  GraphDescriptor tensor(api, CUDNN_BACKEND_TENSOR_DESCRIPTOR, what);
  tensor.Set<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {problem.type})
      .Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims)
      .Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, problem.channels_last ? last : first)
      .Set<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {what[0]})
      .Set<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, {16})
      .Finalize();
  return tensor;
}

GraphDescriptor Convolution(const CudnnApi& api, const PlanProblem& problem) {
  const std::vector<std::int64_t> ones = {1, 1}, pad = {problem.filter / 2, problem.filter / 2};
  GraphDescriptor convolution(api, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "convolution");
  convolution.Set<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT})
      .Set<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                                   {CUDNN_CROSS_CORRELATION})
      .Set<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, {2})
      .Set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, pad)
      .Set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, pad)
      .Set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, ones)
      .Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, ones)
      .Finalize();
  return convolution;
}

Operation Forward(const CudnnApi& api, const PlanProblem& problem) {
  Operation o = {Tensor(api, "x", problem, {8, 64, 56, 56}),
                 Tensor(api, "w", problem, {64, 64, problem.filter, problem.filter}),
                 Tensor(api, "y", problem, {8, 64, 56, 56}),
                 Convolution(api, problem),
                 {api, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, "operation"},
                 {api, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "graph"}};
  o.operation.Set<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, {1})
      .Set<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, {0})
      .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, o.convolution)
      .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, o.x)
      .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, o.w)
      .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, o.y)
      .Finalize();
  o.graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, o.operation).Finalize();
  return o;
}

// The configurations that the heuristics give, best first.
std::vector<GraphDescriptor> Configurations(const CudnnApi& api, const GraphDescriptor& heuristics,
                                            std::int64_t announced, std::int64_t* given) {
  std::vector<GraphDescriptor> configurations;
  std::vector<cudnnBackendDescriptor_t> results;
  for (std::int64_t i = 0; i < announced; ++i) {
    configurations.emplace_back(api, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "configuration");
    results.push_back(configurations.back().get());
  }
  // It announces a few more than it then gives.
  *given = heuristics.GetDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, results);
  return configurations;
}

}  // namespace

GraphDescriptor DescribeDevice(const CudnnApi& api) {
  GraphDescriptor device(api, kDeviceProp, "described device");
  const std::vector<char> text(kDescribedDevice, kDescribedDevice + std::strlen(kDescribedDevice));
  device.Set(kDevicePropJson, CUDNN_TYPE_CHAR, text).Finalize();
  return device;
}

BuiltPlans BuildPlans(const CudnnApi& api, const GraphDescriptor& device, const PlanProblem& problem,
                      std::int64_t most) {
  const Operation operation = Forward(api, problem);
  GraphDescriptor heuristics(api, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "heuristics");
  heuristics.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operation.graph)
      .Set<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {CUDNN_HEUR_MODE_A})
      .Set(kEngineHeurDeviceProp, device)
      .Finalize();
  BuiltPlans built;
  built.announced = heuristics.GetDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, {});
  const std::int64_t asked = std::clamp<std::int64_t>(built.announced, 0, kMostConfigurations);
  const std::vector<GraphDescriptor> configurations = Configurations(api, heuristics, asked, &built.given);
  built.given = std::clamp<std::int64_t>(built.given, 0, asked);
  // One that cannot be built says nothing of the next.
  for (std::int64_t i = 0; i < built.given && static_cast<std::int64_t>(built.plans.size()) < most; ++i) {
    try {
      GraphDescriptor plan(api, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "plan");
      plan.Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configurations[static_cast<std::size_t>(i)])
          .Set(kPlanDeviceProp, device)
          .Finalize();
      built.plans.push_back(std::move(plan));
    } catch (const CudnnFailure& e) {
      if (built.refusal.empty()) built.refusal = e.what();
    }
  }
  return built;
}

}  // namespace cudnn_ci
