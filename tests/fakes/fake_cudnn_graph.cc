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
//   FAKE_CUDNN_CHOOSES         a library that finalizing the heuristics loads, as a real one does its own
//
// Of 20 engines these are offered: 0, plain; 1, TF32 on tensor cores; 2, plain, which accepts the heuristics'
// knobs alone; 3, FFT; 6, Winograd; 17 of the backward filter pass, Winograd without a note.
#include <cudnn.h>
#include <dlfcn.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

#include "fake_cudnn.h"
#include "fake_env.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALL() FAKE_CALL("FAKE_CUDNN_FAULT", cudnnStatus_t)

namespace {

constexpr auto kBadParam = static_cast<cudnnStatus_t>(2000);
constexpr auto kMisaligned = static_cast<cudnnStatus_t>(2003);
constexpr auto kNotFinalized = static_cast<cudnnStatus_t>(2005);
constexpr int64_t kEngines = 20;
constexpr int kOrdinal = -1;  // of a configuration: which of the heuristics' it is
// What older headers do not declare.
constexpr int kDeviceProp = 38, kDevicePropJson = 2702, kEngineHeurDeviceProp = 204, kPlanDeviceProp = 407;

struct Fake {
  int type;
  bool finalized = false;
  bool of_heuristics = false;
  std::map<int, std::string> attributes;  // the bytes of each

  template <class T>
  std::vector<T> List(int name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<T> values(found->second.size() / sizeof(T));
    memcpy(values.data(), found->second.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  T One(int name, T otherwise) const {
    const std::vector<T> values = List<T>(name);
    return values.empty() ? otherwise : values.front();
  }
  template <class T>
  void Put(int name, const T& value) {
    attributes[name].assign(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

std::mutex mutex;
std::set<Fake*> descriptors;  // those that live

Fake* Find(cudnnBackendDescriptor_t descriptor) {
  auto* const fake = static_cast<Fake*>(descriptor);
  return descriptors.count(fake) > 0 ? fake : nullptr;
}

// The finalized descriptor that an attribute names; null if it names none.
Fake* Named(const Fake& fake, int name) {
  Fake* const found = Find(fake.One<cudnnBackendDescriptor_t>(name, nullptr));
  return found && found->finalized ? found : nullptr;
}

// The attributes of an operation: x, w, y, convolution, alpha, beta.
struct Operation {
  fake_cudnn::Operation operation;
  int type, x, w, y, convolution, alpha, beta;
};
constexpr Operation kOperations[] = {
    {fake_cudnn::Operation::kForward, 10, 704, 703, 705, 702, 700, 701},
    {fake_cudnn::Operation::kBackwardFilter, 11, 716, 715, 717, 714, 712, 713},
    {fake_cudnn::Operation::kBackwardData, 12, 710, 709, 711, 708, 706, 707}};

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

std::vector<int> NotesOf(int64_t engine) {
  int64_t noted = -1;
  int note = 0;
  const char* text = getenv("FAKE_CUDNN_NOTES");
  if (text && sscanf(text, "%ld/%d", &noted, &note) == 2 && noted == engine) return {note};
  if (engine == 1) return {CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
  if (engine == 3) return {CUDNN_NUMERICAL_NOTE_FFT};
  if (engine == 6) return {CUDNN_NUMERICAL_NOTE_WINOGRAD};
  return {};
}

// Whether an engine is for the operation of a graph.
bool Offered(const Fake& graph, int64_t engine) {
  const Fake* const operation = Named(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
  const Operation* const names = operation ? OperationOf(*operation) : nullptr;
  if (!names || fake_cudnn::Refused(static_cast<int>(engine))) return false;
  const Fake* const x = Named(*operation, names->x);
  const auto type = x->One(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
  const bool channels_last = x->List<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)[1] == 1;
  if (type == CUDNN_DATA_INT8)
    return engine == 0 && channels_last && names->operation == fake_cudnn::Operation::kForward;
  if (fake_cudnn::SizeOf(type) == 1) return engine == 0 && channels_last;
  if (engine == 3) return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF;
  if (engine == 17) return names->operation == fake_cudnn::Operation::kBackwardFilter;
  return engine <= 2 || (engine == 6 && type != CUDNN_DATA_DOUBLE);
}

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
      return if_so(Named(fake, CUDNN_ATTR_OPERATIONGRAPH_OPS));
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return if_so(Advises(fake));
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: {
      const Fake* const graph = Named(fake, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
      if (!graph) return kBadParam;
      return Offered(*graph, fake.One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1))
                 ? CUDNN_STATUS_SUCCESS
                 : fake_cudnn::Unsupported();
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

// The engines of the list that the heuristics were asked for.
std::vector<int64_t> ListOf(const Fake& heuristics) {
  const auto mode = heuristics.One(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  const bool a = mode == CUDNN_HEUR_MODE_A, b = mode == CUDNN_HEUR_MODE_B;
  const char* text = getenv(a   ? "FAKE_CUDNN_GRAPH_A"
                            : b ? "FAKE_CUDNN_GRAPH_B"
                                : "FAKE_CUDNN_GRAPH_FALLBACK");
  std::istringstream numbers(text ? text : a ? "1,0" : b ? "0" : "2");
  const Fake* const graph = Named(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  std::vector<int64_t> engines;
  for (std::string number; std::getline(numbers, number, ',');)
    if (Offered(*graph, std::stoll(number))) engines.push_back(std::stoll(number));
  return engines;
}

// Makes a configuration of the heuristics of one that was created for it.
void Configure(const Fake& heuristics, int64_t index, Fake* configuration) {
  auto* const engine = new Fake{CUDNN_BACKEND_ENGINE_DESCRIPTOR, true, true, {}};
  descriptors.insert(engine);
  engine->Put(CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
              heuristics.One<cudnnBackendDescriptor_t>(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, nullptr));
  engine->Put(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index);
  configuration->Put(CUDNN_ATTR_ENGINECFG_ENGINE, static_cast<cudnnBackendDescriptor_t>(engine));
  configuration->finalized = configuration->of_heuristics = true;
}

cudnnStatus_t Results(const Fake& heuristics, int64_t wanted, int64_t* count,
                      cudnnBackendDescriptor_t* values) {
  std::vector<int64_t> engines;
  int64_t announced = 18, given = 6;
  if (Named(heuristics, kEngineHeurDeviceProp)) {
    const char* text = getenv("FAKE_CUDNN_CONFIGURATIONS");
    if (text && sscanf(text, "%ld/%ld", &announced, &given) != 2) abort();
    engines.assign(static_cast<size_t>(given), 0);
  } else {
    engines = ListOf(heuristics);
    given = static_cast<int64_t>(engines.size());
    announced = given == 0 ? 0 : given + 4;  // a real one announces up to so many too many
  }
  *count = values ? given : announced;
  for (int64_t i = 0; values && i < wanted && i < given; ++i) {
    Fake* const configuration = Find(values[i]);
    if (!configuration || configuration->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) return kBadParam;
    Configure(heuristics, engines[static_cast<size_t>(i)], configuration);
    configuration->Put(kOrdinal, i);
  }
  return CUDNN_STATUS_SUCCESS;
}

// The engine of a plan.
const Fake& EngineOf(const Fake& plan) {
  return *Named(*Named(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG), CUDNN_ATTR_ENGINECFG_ENGINE);
}

int64_t WorkspaceOf(const Fake& plan) {
  return EngineOf(plan).One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0) == 0
             ? 0
             : static_cast<int64_t>(fake_cudnn::WorkspaceBytes());
}

std::string Numbers(const std::vector<int64_t>& values) { return fake_cudnn::List(Ints(values)); }

// What a plan and a variant pack compute together.
struct Execution {
  const Fake *x, *w, *y, *convolution;
  int64_t engine;
  fake_cudnn::Convolution v;
};

std::string Describe(const Execution& e) {
  std::ostringstream line;
  line << R"({"call":"cudnnBackendExecute","pid":)" << getpid() << ",\"engine\":" << e.engine
       << ",\"compute\":" << e.v.compute << ",\"types\":[" << e.v.x.type << "," << e.v.w.type << ","
       << e.v.y.type << "]";
  for (const auto& [name, tensor] : {std::pair{"x", e.x}, {"w", e.w}, {"y", e.y}})
    line << ",\"" << name << "\":" << Numbers(tensor->List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)) << ",\""
         << name << "_strides\":" << Numbers(tensor->List<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)) << ",\""
         << name << "_alignment\":" << tensor->One<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0);
  line << ",\"pad\":" << fake_cudnn::List(e.v.pad)
       << ",\"pad_after\":" << Numbers(e.convolution->List<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS))
       << ",\"stride\":" << fake_cudnn::List(e.v.stride) << ",\"dilation\":" << fake_cudnn::List(e.v.dilation)
       << ",\"groups\":" << e.v.groups << ",\"alpha\":" << e.v.alpha << ",\"beta\":" << e.v.beta
       << ",\"workspace_bytes\":" << e.v.workspace_bytes << ",\"apart\":" << fake_cudnn::Apart(e.v) << "}\n";
  return line.str();
}

double Scale(const Fake& operation, int name, bool wide) {
  return wide ? operation.One<double>(name, 0) : static_cast<double>(operation.One<float>(name, 0));
}

// Sets what the descriptors say; the memory is set afterwards.
Execution Read(const Fake& plan) {
  const Fake& engine = EngineOf(plan);
  const Fake& operation =
      *Named(*Named(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH), CUDNN_ATTR_OPERATIONGRAPH_OPS);
  const Operation& names = *OperationOf(operation);
  Execution e = {Named(operation, names.x),
                 Named(operation, names.w),
                 Named(operation, names.y),
                 Named(operation, names.convolution),
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

EXPORT cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                  cudnnBackendDescriptor_t* descriptor) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  auto* const fake = new Fake{static_cast<int>(type), false, false, {}};
  descriptors.insert(fake);
  *descriptor = fake;
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  Fake* const fake = Find(descriptor);
  if (!fake) return kBadParam;
  descriptors.erase(fake);
  delete fake;
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
  const size_t element = eight ? 8 : type == CUDNN_TYPE_CHAR ? 1 : 4;
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
  if (const cudnnStatus_t answer = Check(*fake)) return answer;
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
      return Results(*fake, wanted, count, static_cast<cudnnBackendDescriptor_t*>(values));
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
      return integer(kEngines);
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
      return integer(fake->One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1));
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      return integer(WorkspaceOf(*fake));
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: {
      const std::vector<int> notes = NotesOf(fake->One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1));
      *count = static_cast<int64_t>(notes.size());
      if (values && wanted >= *count) memcpy(values, notes.data(), notes.size() * sizeof(int));
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

EXPORT cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                         cudnnBackendDescriptor_t variant_pack) {
  if (fake_cudnn::Recording(handle)) {
    const std::lock_guard<std::mutex> lock(mutex);
    const Fake* const recorded = Find(plan);
    if (!recorded || !recorded->finalized) return kNotFinalized;
    const auto index = EngineOf(*recorded).One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1);
    return fake_cudnn::Record(handle, static_cast<int>(index));
  }
  CALL();
  if (!fake_cudnn::IsHandle(handle)) return kBadParam;
  if (const cudnnStatus_t left = fake_cudnn::LeftByRecording()) return left;
  const std::lock_guard<std::mutex> lock(mutex);
  const Fake *const p = Find(plan), *const pack = Find(variant_pack);
  if (!p || !pack) return kBadParam;
  if (!p->finalized || !pack->finalized) return kNotFinalized;
  Execution e = Read(*p);
  const auto view = [&](const Fake* tensor) { return ViewOf(*tensor, MemoryOf(*pack, *tensor)); };
  e.v.x = view(e.x), e.v.w = view(e.w), e.v.y = view(e.y);
  e.v.groups = e.v.x.dims[1] / e.v.w.dims[1];
  e.v.workspace_bytes = static_cast<size_t>(WorkspaceOf(*p));
  e.v.workspace = static_cast<unsigned char*>(pack->One<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr));
  const bool lacking =
      !e.v.x.data || !e.v.w.data || !e.v.y.data || (e.v.workspace_bytes > 0 && !e.v.workspace);
  bool aligned = true;
  for (const unsigned char* data : {e.v.x.data, e.v.w.data, e.v.y.data})
    aligned = aligned && reinterpret_cast<uintptr_t>(data) % 16 == 0;
  const bool can_be = e.v.CanBe(Ints(e.convolution->List<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS)));
  if (fake_cudnn::Takes() && (lacking || !aligned || !can_be)) return fake_cudnn::Take();
  if (lacking) return kBadParam;
  if (!aligned) return kMisaligned;
  fake_cudnn::LogLine(Describe(e));
  const int64_t faulty = FakeNumber("FAKE_CUDNN_FAULT_ENGINE", -1);
  const bool spoil = faulty < 0 || faulty == e.engine;
  fake_cudnn::RunAndSpoil(e.v, faulty < 0 ? fake_cudnn::Strikes(static_cast<int>(e.engine)) : spoil);
  return static_cast<cudnnStatus_t>(spoil ? FakeNumber("FAKE_CUDNN_AFTERWARDS", 0) : 0);
}
