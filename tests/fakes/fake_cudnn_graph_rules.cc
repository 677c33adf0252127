// What the fake graph API finalizes: descriptors that are whole, of convolutions that can be.
#include <sstream>

#include "fake_cudnn_graph.h"

namespace fake_graph {
namespace {

bool IsWhole(const Fake& tensor) {
  const size_t rank = tensor.List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS).size();
  if (!fake_cudnn::Countable(Ints(tensor.List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS))) &&
      !fake_cudnn::Takes())
    return false;
  return rank >= 4 && tensor.List<int64_t>(CUDNN_ATTR_TENSOR_STRIDES).size() == rank &&
         tensor.attributes.count(CUDNN_ATTR_TENSOR_UNIQUE_ID) > 0 &&
         tensor.One<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0) >= 1;
}

// Heuristics and plans can be had without a handle where a device is described in its place.
bool HasDevice(const Fake& fake, int handle, int device) {
  return fake_cudnn::IsHandle(fake.One<cudnnHandle_t>(handle, nullptr)) || Named(fake, device);
}

// Whether an operation's descriptors are all there, and fit one another or are taken as if they did.
bool IsWhole(const Fake& operation, const Operation& names, bool taken) {
  const Fake *const x = Named(operation, names.x), *const w = Named(operation, names.w),
                    *const y = Named(operation, names.y), *const c = Named(operation, names.convolution);
  if (!x || !w || !y || !c) return false;
  fake_cudnn::Convolution v;
  v.x = ViewOf(*x, nullptr), v.w = ViewOf(*w, nullptr), v.y = ViewOf(*y, nullptr);
  v.pad = Ints(c->List<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS));
  v.stride = Ints(c->List<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES));
  v.dilation = Ints(c->List<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS));
  v.groups = v.x.dims[1] / v.w.dims[1];
  return v.CanBe(Ints(c->List<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS))) || taken;
}

bool IsVirtual(const Fake& tensor) { return tensor.One<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) != 0; }

bool SameSizes(const Fake& one, const Fake& other) {
  return one.List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS) == other.List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
}

// Whether a tensor is a number for each channel of another: [1][k][1]...
bool IsPerChannel(const Fake& one, const Fake& other) {
  std::vector<int64_t> dims = other.List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != 1) dims[i] = 1;
  return one.List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS) == dims;
}

// Whether a pointwise operation is one of those that are known: an addition of a bias, a rectifier.
bool IsWholePointwise(const Fake& operation) {
  const Fake *const mode = Named(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR),
                    *const x = Named(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
                    *const b = Named(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC),
                    *const y = Named(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  if (!mode || !x || !y || !SameSizes(*x, *y)) return false;
  const int what = mode->One<int>(CUDNN_ATTR_POINTWISE_MODE, -1);
  return what == CUDNN_POINTWISE_ADD ? b && IsPerChannel(*b, *y) : what == CUDNN_POINTWISE_RELU_FWD && !b;
}

// A convolution, and pointwise operations that each read what the one before them gives them without memory.
bool IsWholeGraph(const Fake& graph) {
  const std::vector<Fake*> operations = OperationsOf(graph);
  if (operations.empty() ||
      operations.size() != graph.List<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS).size())
    return false;
  const Operation* const convolution = OperationOf(*operations.front());
  if (!convolution) return false;
  const Fake* before = Named(*operations.front(), convolution->y);
  for (size_t i = 1; i < operations.size(); ++i) {
    if (operations[i]->type != CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR || !IsVirtual(*before) ||
        Named(*operations[i], CUDNN_ATTR_OPERATION_POINTWISE_XDESC) != before)
      return false;
    before = Named(*operations[i], CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  }
  return !IsVirtual(*before);
}

// Whether heuristics name anything for their graph.
bool Advises(const Fake& heuristics) {
  const Fake* const graph = Named(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  if (!graph) return false;
  const auto mode = heuristics.One(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  if (mode != CUDNN_HEUR_MODE_FALLBACK || !getenv("FAKE_CUDNN_FALLBACK_REFUSES")) return true;
  const Fake* const operation = Named(*graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
  const Operation* const names = operation ? OperationOf(*operation) : nullptr;
  return names && IsWhole(*operation, *names, false);
}

// What an engine that is not offered answers.
cudnnStatus_t RefusalOf(int64_t engine) {
  const char* list = getenv("FAKE_CUDNN_REFUSALS");
  std::istringstream items(list ? list : "");
  int64_t refusing = -1;
  int status = 0;
  for (std::string item; std::getline(items, item, ',');)
    if (sscanf(item.c_str(), "%ld/%d", &refusing, &status) == 2 && refusing == engine)
      return static_cast<cudnnStatus_t>(status);
  return fake_cudnn::Unsupported();
}

}  // namespace

cudnnStatus_t Check(const Fake& fake) {
  const auto if_so = [](bool complete) { return complete ? CUDNN_STATUS_SUCCESS : kBadParam; };
  if (const Operation* o = OperationOf(fake)) return if_so(IsWhole(fake, *o, fake_cudnn::Takes()));
  switch (fake.type) {
    case kDeviceProp: {
      const auto json = fake.attributes.find(kDevicePropJson);
      return if_so(json != fake.attributes.end() && json->second.find("\"deviceVer\":") != std::string::npos);
    }
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return if_so(IsWhole(fake));
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return if_so(IsWholeGraph(fake));
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return if_so(IsWholePointwise(fake));
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return if_so(Advises(fake));
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: {
      const Fake* const graph = Named(fake, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
      if (!graph) return kBadParam;
      const int64_t engine = fake.One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1);
      return Offered(*graph, engine) ? CUDNN_STATUS_SUCCESS : RefusalOf(engine);
    }
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: {
      const Fake* const engine = Named(fake, CUDNN_ATTR_ENGINECFG_ENGINE);
      if (!engine) return kBadParam;
      return engine->One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0) == 2 ? fake_cudnn::Unsupported()
                                                                          : CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      if (const Fake* const config = Named(fake, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
          config && config->One<int64_t>(kOrdinal, kEngines) < FakeNumber("FAKE_CUDNN_PLANS_REFUSED", 0))
        return fake_cudnn::Unsupported();
      return if_so(Named(fake, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) &&
                   HasDevice(fake, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, kPlanDeviceProp));
    default:
      return if_so(!fake.attributes.empty());
  }
}

}  // namespace fake_graph
