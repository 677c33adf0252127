// What a plan of the fake graph API computes with the memory of a variant pack.
#include <unistd.h>

#include <sstream>

#include "fake_cudnn_graph.h"

namespace fake_graph {
namespace {

// The engine of a plan.
const Fake& EngineOf(const Fake& plan) {
  return *Named(*Named(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG), CUDNN_ATTR_ENGINECFG_ENGINE);
}

std::string Numbers(const std::vector<int64_t>& values) { return fake_cudnn::List(Ints(values)); }

// What a plan and a variant pack compute together.
struct Execution {
  const Fake *x, *w, *y, *convolution;
  const Fake* bias;  // null: there is none
  int64_t engine;
  fake_cudnn::Convolution v;
};

cudnnDataType_t TypeOf(const Fake& tensor) {
  return tensor.One(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
}

std::string Describe(const Execution& e) {
  std::ostringstream line;
  line << R"({"call":"cudnnBackendExecute","pid":)" << getpid() << ",\"engine\":" << e.engine
       << ",\"compute\":" << e.v.compute << ",\"types\":[" << e.v.x.type << "," << e.v.w.type << ","
       << e.v.y.type << "]";
  for (const auto& [name, tensor] : {std::pair{"x", e.x}, {"w", e.w}, {"y", e.y}})
    line << ",\"" << name << "\":" << Numbers(tensor->List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)) << ",\""
         << name << "_strides\":" << Numbers(tensor->List<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)) << ",\""
         << name << "_alignment\":" << tensor->One<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0);
  if (e.bias)
    line << ",\"bias\":" << Numbers(e.bias->List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS))
         << ",\"bias_strides\":" << Numbers(e.bias->List<int64_t>(CUDNN_ATTR_TENSOR_STRIDES))
         << ",\"bias_type\":" << TypeOf(*e.bias) << ",\"biased\":" << e.v.biased;
  line << ",\"pad\":" << fake_cudnn::List(e.v.pad)
       << ",\"pad_after\":" << Numbers(e.convolution->List<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS))
       << ",\"stride\":" << fake_cudnn::List(e.v.stride) << ",\"dilation\":" << fake_cudnn::List(e.v.dilation)
       << ",\"groups\":" << e.v.groups << ",\"alpha\":" << e.v.alpha << ",\"beta\":" << e.v.beta
       << ",\"relu\":" << (e.v.relu ? "true" : "false") << ",\"sums\":" << e.v.sums
       << ",\"workspace_bytes\":" << e.v.workspace_bytes << ",\"apart\":" << fake_cudnn::Apart(e.v) << "}\n";
  return line.str();
}

double Scale(const Fake& operation, int name, bool wide) {
  return wide ? operation.One<double>(name, 0) : static_cast<double>(operation.One<float>(name, 0));
}

// What follows the convolution, whose own result is `sums`.
void ReadEpilogue(const Fake& graph, const Fake& sums, Execution* e) {
  const std::vector<Fake*> operations = OperationsOf(graph);
  if (operations.size() < 2) return;
  e->v.sums = TypeOf(sums);
  for (size_t i = 1; i < operations.size(); ++i) {
    const Fake& mode = *Named(*operations[i], CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    if (mode.One<int>(CUDNN_ATTR_POINTWISE_MODE, -1) == CUDNN_POINTWISE_RELU_FWD) {
      e->v.relu = true;
      continue;
    }
    e->bias = Named(*operations[i], CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    e->v.biased = TypeOf(*Named(*operations[i], CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
  }
}

// Sets what the descriptors say; the memory is set afterwards.
Execution Read(const Fake& plan) {
  const Fake& engine = EngineOf(plan);
  const Fake& graph = *Named(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  const Fake& operation = *OperationsOf(graph).front();
  const Operation& names = *OperationOf(operation);
  Execution e = {
      Named(operation, names.x),
      Named(operation, names.w),
      names.operation == fake_cudnn::Operation::kForward ? ResultOf(graph) : Named(operation, names.y),
      Named(operation, names.convolution),
      nullptr,
      engine.One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1),
      {}};
  e.v.operation = names.operation;
  e.v.pad = Ints(e.convolution->List<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS));
  e.v.stride = Ints(e.convolution->List<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES));
  e.v.dilation = Ints(e.convolution->List<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS));
  e.v.compute = e.convolution->One(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  e.v.alpha = Scale(operation, names.alpha, e.v.compute == CUDNN_DATA_DOUBLE);
  e.v.beta = Scale(operation, names.beta, e.v.compute == CUDNN_DATA_DOUBLE);
  e.v.tf32 = e.engine == 1;
  ReadEpilogue(graph, *Named(operation, names.y), &e);
  return e;
}

// The memory of a tensor in a variant pack; null: it has none.
unsigned char* MemoryOf(const Fake& pack, const Fake& tensor) {
  const std::vector<int64_t> uids = pack.List<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const std::vector<void*> pointers = pack.List<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (size_t i = 0; i < uids.size() && i < pointers.size(); ++i)
    if (uids[i] == tensor.One<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, -1))
      return static_cast<unsigned char*>(pointers[i]);
  return nullptr;
}

}  // namespace

int64_t WorkspaceOf(const Fake& plan) {
  return EngineOf(plan).One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0) == 0
             ? 0
             : static_cast<int64_t>(fake_cudnn::WorkspaceBytes());
}

}  // namespace fake_graph

using fake_graph::EngineOf;
using fake_graph::Execution;
using fake_graph::Fake;
using fake_graph::Find;
using fake_graph::kBadParam;

EXPORT cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                         cudnnBackendDescriptor_t variant_pack) {
  if (fake_cudnn::Recording(handle)) {
    const std::lock_guard<std::mutex> lock(fake_graph::mutex);
    const Fake* const recorded = Find(plan);
    if (!recorded || !recorded->finalized) return fake_graph::kNotFinalized;
    const auto index = EngineOf(*recorded).One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1);
    return fake_cudnn::Record(handle, static_cast<int>(index));
  }
  CALL();
  if (!fake_cudnn::IsHandle(handle)) return kBadParam;
  if (const cudnnStatus_t left = fake_cudnn::LeftByRecording()) return left;
  const std::lock_guard<std::mutex> lock(fake_graph::mutex);
  const Fake *const p = Find(plan), *const pack = Find(variant_pack);
  if (!p || !pack) return kBadParam;
  if (!p->finalized || !pack->finalized) return fake_graph::kNotFinalized;
  Execution e = fake_graph::Read(*p);
  const auto view = [&](const Fake* tensor) {
    return fake_graph::ViewOf(*tensor, fake_graph::MemoryOf(*pack, *tensor));
  };
  e.v.x = view(e.x), e.v.w = view(e.w), e.v.y = view(e.y);
  if (e.bias) e.v.bias = view(e.bias);
  e.v.groups = e.v.x.dims[1] / e.v.w.dims[1];
  e.v.workspace_bytes = static_cast<size_t>(fake_graph::WorkspaceOf(*p));
  e.v.workspace = static_cast<unsigned char*>(pack->One<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr));
  const bool lacking = !e.v.x.data || !e.v.w.data || !e.v.y.data || (e.bias && !e.v.bias.data) ||
                       (e.v.workspace_bytes > 0 && !e.v.workspace);
  bool aligned = true;
  for (const unsigned char* data : {e.v.x.data, e.v.w.data, e.v.y.data, e.v.bias.data})
    aligned = aligned && reinterpret_cast<uintptr_t>(data) % 16 == 0;
  const bool can_be =
      e.v.CanBe(fake_graph::Ints(e.convolution->List<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS)));
  if (fake_cudnn::Takes() && (lacking || !aligned || !can_be)) return fake_cudnn::Take();
  if (lacking) return kBadParam;
  if (!aligned) return fake_graph::kMisaligned;
  fake_cudnn::LogLine(fake_graph::Describe(e));
  const int64_t faulty = FakeNumber("FAKE_CUDNN_FAULT_ENGINE", -1);
  const bool spoil = faulty < 0 || faulty == e.engine;
  fake_cudnn::RunAndSpoil(e.v, faulty < 0 ? fake_cudnn::Strikes(static_cast<int>(e.engine)) : spoil);
  return static_cast<cudnnStatus_t>(spoil ? FakeNumber("FAKE_CUDNN_AFTERWARDS", 0) : 0);
}
