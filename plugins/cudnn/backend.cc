#include "cudnn/backend.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cudnn_ci {
namespace {

// By number: not every cudnn.h that this is built with declares them.
constexpr auto kDeviceProp = static_cast<cudnnBackendDescriptorType_t>(38);
constexpr auto kDevicePropJson = static_cast<cudnnBackendAttributeName_t>(2702);
constexpr auto kEngineHeurDeviceProp = static_cast<cudnnBackendAttributeName_t>(204);
constexpr auto kPlanDeviceProp = static_cast<cudnnBackendAttributeName_t>(407);

constexpr int kFirstBadParam = 2000, kFirstUnsupported = 3000;

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
  Descriptor x, w, y, convolution, operation, graph;
};

Descriptor Tensor(const BackendApi& api, const char* what, const PlanProblem& problem,
                  const std::vector<std::int64_t>& dims) {
  const std::int64_t c = dims[1], h = dims[2], w = dims[3];
  const std::vector<std::int64_t> first = {c * h * w, h * w, w, 1}, last = {c * h * w, 1, w * c, c};
  Descriptor tensor(api, CUDNN_BACKEND_TENSOR_DESCRIPTOR, what);
  tensor.Set<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {problem.type})
      .Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims)
      .Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, problem.channels_last ? last : first)
      .Set<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {what[0]})
      .Set<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, {16})
      .Finalize();
  return tensor;
}

Descriptor Convolution(const BackendApi& api, const PlanProblem& problem) {
  const std::vector<std::int64_t> ones = {1, 1}, pad = {problem.filter / 2, problem.filter / 2};
  Descriptor convolution(api, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "the convolution");
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

Operation Forward(const BackendApi& api, const PlanProblem& problem) {
  Operation o = {Tensor(api, "x", problem, {8, 64, 56, 56}),
                 Tensor(api, "w", problem, {64, 64, problem.filter, problem.filter}),
                 Tensor(api, "y", problem, {8, 64, 56, 56}),
                 Convolution(api, problem),
                 {api, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, "the operation"},
                 {api, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "the graph"}};
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
std::vector<Descriptor> Configurations(const BackendApi& api, const Descriptor& heuristics,
                                       std::int64_t announced, std::int64_t* given) {
  std::vector<Descriptor> configurations;
  std::vector<cudnnBackendDescriptor_t> results;
  for (std::int64_t i = 0; i < announced; ++i) {
    configurations.emplace_back(api, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "a configuration");
    results.push_back(configurations.back().get());
  }
  // It announces a few more than it then gives.
  api.Require(api.Get(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                      announced, given, results.data()),
              "cudnnBackendGetAttribute", "the heuristics");
  return configurations;
}

}  // namespace

BackendApi::BackendApi(const CudnnApi& cudnn, const std::string& path) : cudnn_(cudnn) {
  LateLibrary library;
  library.Open(path);
  Create.Bind(library, "cudnnBackendCreateDescriptor");
  Destroy.Bind(library, "cudnnBackendDestroyDescriptor");
  Set.Bind(library, "cudnnBackendSetAttribute");
  Get.Bind(library, "cudnnBackendGetAttribute");
  Finalize.Bind(library, "cudnnBackendFinalize");
}

void BackendApi::Require(cudnnStatus_t status, const char* call, const char* what) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const int code = static_cast<int>(status);
  const bool unsupported =
      (code >= kFirstBadParam && code < kFirstUnsupported) || cudnn_.IsUnsupported(status);
  throw BackendFailure(unsupported, std::string(call) + " of " + what + ": " + cudnn_.Describe(status));
}

Descriptor::Descriptor(const BackendApi& api, cudnnBackendDescriptorType_t type, const char* what)
    : api_(api), what_(what) {
  api.Require(api.Create(type, &descriptor_), "cudnnBackendCreateDescriptor", what);
}

Descriptor::~Descriptor() {
  if (descriptor_) api_.Destroy(descriptor_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : api_(other.api_), what_(other.what_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}

Descriptor& Descriptor::SetRaw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                               std::int64_t count, const void* values) {
  api_.Require(api_.Set(descriptor_, name, type, count, values), "cudnnBackendSetAttribute", what_);
  return *this;
}

Descriptor& Descriptor::Set(cudnnBackendAttributeName_t name, const Descriptor& other) {
  return SetRaw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor_);
}

Descriptor& Descriptor::Finalize() {
  api_.Require(api_.Finalize(descriptor_), "cudnnBackendFinalize", what_);
  return *this;
}

Descriptor DescribeDevice(const BackendApi& api) {
  Descriptor device(api, kDeviceProp, "the described device");
  const std::vector<char> text(kDescribedDevice, kDescribedDevice + std::strlen(kDescribedDevice));
  device.Set(kDevicePropJson, CUDNN_TYPE_CHAR, text).Finalize();
  return device;
}

BuiltPlans BuildPlans(const BackendApi& api, const Descriptor& device, const PlanProblem& problem,
                      std::int64_t most) {
  const Operation operation = Forward(api, problem);
  Descriptor heuristics(api, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "the heuristics");
  heuristics.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operation.graph)
      .Set<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {CUDNN_HEUR_MODE_A})
      .Set(kEngineHeurDeviceProp, device)
      .Finalize();
  BuiltPlans built;
  api.Require(api.Get(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                      &built.announced, nullptr),
              "cudnnBackendGetAttribute", "the heuristics");
  const std::int64_t asked = std::clamp<std::int64_t>(built.announced, 0, kMostConfigurations);
  const std::vector<Descriptor> configurations = Configurations(api, heuristics, asked, &built.given);
  built.given = std::clamp<std::int64_t>(built.given, 0, asked);
  // One that cannot be built says nothing of the next.
  for (std::int64_t i = 0; i < built.given && static_cast<std::int64_t>(built.plans.size()) < most; ++i) {
    try {
      Descriptor plan(api, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a plan");
      plan.Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configurations[static_cast<std::size_t>(i)])
          .Set(kPlanDeviceProp, device)
          .Finalize();
      built.plans.push_back(std::move(plan));
    } catch (const BackendFailure& e) {
      if (built.refusal.empty()) built.refusal = e.what();
    }
  }
  return built;
}

}  // namespace cudnn_ci
