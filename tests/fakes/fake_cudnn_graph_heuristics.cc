// The engines of the fake graph API, and which of them its heuristics name.
#include <sstream>

#include "fake_cudnn_graph.h"

namespace fake_graph {

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

bool Offered(const Fake& graph, int64_t engine) {
  const Fake* const operation = Named(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
  const Operation* const names = operation ? OperationOf(*operation) : nullptr;
  if (!names || fake_cudnn::Refused(static_cast<int>(engine))) return false;
  const Fake* const x = Named(*operation, names->x);
  const auto type = x->One(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
  const bool fused = OperationsOf(graph).size() > 1;
  const bool channels_last = x->List<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)[1] == 1;
  if (type == CUDNN_DATA_INT8)
    return engine == 0 && channels_last && names->operation == fake_cudnn::Operation::kForward;
  if (fake_cudnn::SizeOf(type) == 1) return engine == 0 && channels_last;
  if (fused) return engine <= 2 || engine == 4;
  if (engine == 3) return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF;
  if (engine == 17) return names->operation == fake_cudnn::Operation::kBackwardFilter;
  return engine <= 2 || (engine == 6 && type != CUDNN_DATA_DOUBLE);
}

namespace {

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
  Fake* const engine = Add(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine->finalized = engine->of_heuristics = true;
  engine->Put(CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
              heuristics.One<cudnnBackendDescriptor_t>(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, nullptr));
  engine->Put(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index);
  configuration->Put(CUDNN_ATTR_ENGINECFG_ENGINE, static_cast<cudnnBackendDescriptor_t>(engine));
  configuration->finalized = configuration->of_heuristics = true;
}

}  // namespace

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

}  // namespace fake_graph
