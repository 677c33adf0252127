// The graph API of the fake cuDNN: descriptors that keep what they are given, a few engines, heuristics that
// name some of them, and plans that compute. With a described device in place of a handle heuristics and
// plans are made as well, but nothing runs.
//
//   FAKE_CUDNN_GRAPH_A, _B, _FALLBACK  the engines that each list of the heuristics names ("1,0", "0", "2")
//   FAKE_CUDNN_FALLBACK_REFUSES  the fallback, asked for a convolution that cannot be, refuses it (not set)
//   FAKE_CUDNN_FAULT_ENGINE    the one engine that FAKE_CUDNN_FAULT's faults in memory are for (all)
//   FAKE_CUDNN_NOTES           "ENGINE/NOTE": the one numerical note of that engine, by its number
//   FAKE_CUDNN_AFTERWARDS      what cudnnBackendExecute of such an engine answers when it has run (0)
//   FAKE_CUDNN_CONFIGURATIONS  "ANNOUNCED/GIVEN": of how many configurations the heuristics speak for a
//                              described device, and how many they then give ("18/6")
//   FAKE_CUDNN_PLANS_REFUSED   of how many of these no plan can be built, from the first on (0)
//   FAKE_CUDNN_FINALIZE        "TYPE:STATUS": what finalizing a descriptor of that type (its number) answers
//   FAKE_CUDNN_REFUSALS        "ENGINE/STATUS,...": what engines that are not offered answer instead of
//                              NOT_SUPPORTED
//   FAKE_CUDNN_CHOOSES         a library that finalizing the heuristics loads, as a real one does its own
//
// Of 20 engines these are offered: 0, plain; 1, TF32 on tensor cores; 2, plain, which accepts the heuristics'
// knobs alone; 3, FFT; 6, Winograd; 17 of the backward filter pass, Winograd without a note. With pointwise
// operations behind a convolution there are 11, of which 0 to 2 and 4, plain, are offered.
#include "fake_cudnn_graph.h"

#include <dlfcn.h>

#include <algorithm>
#include <set>

namespace fake_graph {

std::mutex mutex;

namespace {

std::set<Fake*> descriptors;  // those that live

}  // namespace

Fake* Find(cudnnBackendDescriptor_t descriptor) {
  auto* const fake = static_cast<Fake*>(descriptor);
  return descriptors.count(fake) > 0 ? fake : nullptr;
}

Fake* Add(int type) {
  auto* const fake = new Fake{type, false, false, {}};
  descriptors.insert(fake);
  return fake;
}

void Remove(Fake* fake) {
  descriptors.erase(fake);
  delete fake;
}

Fake* Named(const Fake& fake, int name) {
  Fake* const found = Find(fake.One<cudnnBackendDescriptor_t>(name, nullptr));
  return found && found->finalized ? found : nullptr;
}

const Operation* OperationOf(const Fake& fake) {
  for (const Operation& o : kOperations)
    if (o.type == fake.type) return &o;
  return nullptr;
}

std::vector<int> Ints(const std::vector<int64_t>& values) { return {values.begin(), values.end()}; }

fake_cudnn::View ViewOf(const Fake& tensor, unsigned char* data) {
  return {Ints(tensor.List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)),
          tensor.List<int64_t>(CUDNN_ATTR_TENSOR_STRIDES),
          tensor.One(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT), data};
}

std::vector<Fake*> OperationsOf(const Fake& graph) {
  std::vector<Fake*> operations;
  for (cudnnBackendDescriptor_t one : graph.List<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS))
    if (Fake* const found = Find(one); found && found->finalized) operations.push_back(found);
  return operations;
}

Fake* ResultOf(const Fake& graph) {
  const std::vector<Fake*> operations = OperationsOf(graph);
  if (operations.empty()) return nullptr;
  const Operation* const convolution = OperationOf(*operations.back());
  return Named(*operations.back(), convolution ? convolution->y : CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
}

}  // namespace fake_graph

using fake_graph::Fake;
using fake_graph::Find;
using fake_graph::kBadParam;
using fake_graph::kEngines;
using fake_graph::kNotFinalized;
using fake_graph::mutex;
using fake_graph::Named;

EXPORT cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                  cudnnBackendDescriptor_t* descriptor) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  *descriptor = fake_graph::Add(static_cast<int>(type));
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  Fake* const fake = Find(descriptor);
  if (!fake) return kBadParam;
  fake_graph::Remove(fake);
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                              cudnnBackendAttributeName_t name,
                                              cudnnBackendAttributeType_t type, int64_t count,
                                              const void* values) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  Fake* const fake = Find(descriptor);
  if (!fake || fake->finalized || count <= 0 || !values) return kBadParam;
  const bool eight = type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_BACKEND_DESCRIPTOR ||
                     type == CUDNN_TYPE_HANDLE || type == CUDNN_TYPE_VOID_PTR || type == CUDNN_TYPE_DOUBLE;
  const size_t element = eight ? 8 : type == CUDNN_TYPE_CHAR || type == CUDNN_TYPE_BOOLEAN ? 1 : 4;
  fake->attributes[static_cast<int>(name)].assign(static_cast<const char*>(values),
                                                  static_cast<size_t>(count) * element);
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  Fake* const fake = Find(descriptor);
  if (!fake) return kBadParam;
  const char* fault = getenv("FAKE_CUDNN_FINALIZE");
  int type = 0, status = 0;
  if (fault && sscanf(fault, "%d:%d", &type, &status) == 2 && type == fake->type)
    return static_cast<cudnnStatus_t>(status);
  if (const cudnnStatus_t answer = fake_graph::Check(*fake)) return answer;
  const char* const library = getenv("FAKE_CUDNN_CHOOSES");
  if (library && fake->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) dlopen(library, RTLD_NOW);
  fake->finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                              cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t,
                                              int64_t wanted, int64_t* count, void* values) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  const Fake* const fake = Find(descriptor);
  if (!fake) return kBadParam;
  if (!fake->finalized) return kNotFinalized;
  const auto integer = [&](int64_t value) {
    *count = 1;
    if (values && wanted > 0) memcpy(values, &value, sizeof value);
    return CUDNN_STATUS_SUCCESS;
  };
  switch (static_cast<int>(name)) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      return fake_graph::Results(*fake, wanted, count, static_cast<cudnnBackendDescriptor_t*>(values));
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
      return integer(fake_graph::OperationsOf(*fake).size() > 1 ? fake_graph::kEnginesOfFusions : kEngines);
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
      return integer(fake->One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1));
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      return integer(fake_graph::WorkspaceOf(*fake));
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: {
      const std::vector<int> notes =
          fake_graph::NotesOf(fake->One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1));
      *count = static_cast<int64_t>(notes.size());
      if (values && wanted >= *count) std::copy(notes.begin(), notes.end(), static_cast<int*>(values));
      return CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_ATTR_ENGINECFG_ENGINE: {
      const Fake* const engine = Named(*fake, CUDNN_ATTR_ENGINECFG_ENGINE);
      Fake* const into =
          values && wanted > 0 ? Find(*static_cast<cudnnBackendDescriptor_t*>(values)) : nullptr;
      if (!engine || !into || into->type != engine->type) return kBadParam;
      *into = *engine;
      *count = 1;
      return CUDNN_STATUS_SUCCESS;
    }
    default:
      return kBadParam;
  }
}
