// Engines, their configurations, plans, and a run.
#include "compute/graph/graph_candidates.h"

#include <optional>
#include <utility>

#include "compute/graph/engine_facts.h"

namespace cudnn_ci {
namespace {

// More than cuDNN has of either.
constexpr std::int64_t kMostNotes = 64;
constexpr std::int64_t kMostConfigurations = 1000;

struct HeuristicsMode {
  const char* choice;
  const char* name;
  cudnnBackendHeurMode_t mode;
};
constexpr HeuristicsMode kModes[] = {{"heuristics_a", "heuristics A", CUDNN_HEUR_MODE_A},
                                     {"heuristics_b", "heuristics B", CUDNN_HEUR_MODE_B},
                                     {"fallback", "fallback", CUDNN_HEUR_MODE_FALLBACK}};

// An execution plan and what it was made of.
struct Plan {
  GraphDescriptor plan;
  std::size_t workspace_bytes;
};

// One configuration of one engine.
class GraphCandidate : public Candidate {
 public:
  // An engine by its index, as it is without knobs.
  GraphCandidate(std::shared_ptr<const OperationGraph> graph, std::int64_t index, bool strict)
      : graph_(std::move(graph)), strict_(strict), name_("engine " + std::to_string(index)) {
    engine_.index = index;
  }
  // One that heuristics named. `list` is where it stands: "heuristics A 0".
  GraphCandidate(std::shared_ptr<const OperationGraph> graph, GraphDescriptor configuration,
                 const std::string& list, bool strict)
      : graph_(std::move(graph)), strict_(strict) {
    GraphDescriptor engine(graph_->api(), CUDNN_BACKEND_ENGINE_DESCRIPTOR, "engine");
    configuration.GetDescriptors(CUDNN_ATTR_ENGINECFG_ENGINE, {engine.get()});
    ReadEngine(engine);
    name_ = list + ", engine " + std::to_string(engine_.index);
    configuration_.emplace(std::move(configuration));
  }

  std::string Name() const override { return name_; }

  std::size_t Prepare() override {
    if (!configuration_) Configure();
    if (strict_ && IsShort(graph_->type(), engine_))
      throw CudnnFailure("computes in a shorter type (TF32 or float16), which fma math forbids", true, 0,
                         RefusalCause::kTypeOrArchitecture);
    if (!plan_) plan_.emplace(Build(*configuration_));
    return plan_->workspace_bytes;
  }

  bool deterministic() const override { return IsDeterministic(engine_); }
  std::vector<int> numerical_notes() const override { return engine_.numerical; }
  std::int64_t number() const override { return engine_.index; }

  void Run(const VariantPack& memory) override {
    std::vector<std::int64_t> uids = graph_->uids().inputs;
    std::vector<const void*> pointers = memory.inputs;
    uids.insert(uids.end(), graph_->uids().outputs.begin(), graph_->uids().outputs.end());
    pointers.insert(pointers.end(), memory.outputs.begin(), memory.outputs.end());
    GraphDescriptor pack(graph_->api(), CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "variant pack");
    pack.SetIntegers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, uids)
        .Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers)
        .Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, std::vector<void*>{memory.workspace})
        .Finalize();
    const cudnnStatus_t status =
        graph_->api().BackendExecute(graph_->handle(), plan_->plan.get(), pack.get());
    if (status == CUDNN_STATUS_SUCCESS) return;
    // The library has built a plan for exactly this: it cannot call it unsupported now.
    throw CudnnFailure(
        "cudnnBackendExecute(" + name_ + ") of a built plan: " + graph_->api().Describe(status), false);
  }

 private:
  void ReadEngine(const GraphDescriptor& engine) {
    engine_.index = engine.GetInteger(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
    engine_.numerical =
        engine.GetEnumerators(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, kMostNotes);
  }

  void Configure() {
    engine_descriptor_.emplace(graph_->api(), CUDNN_BACKEND_ENGINE_DESCRIPTOR, "engine");
    engine_descriptor_->Set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph_->graph())
        .SetIntegers(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {engine_.index})
        .Finalize();
    ReadEngine(*engine_descriptor_);
    GraphDescriptor configuration(graph_->api(), CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "engine configuration");
    configuration.Set(CUDNN_ATTR_ENGINECFG_ENGINE, *engine_descriptor_).Finalize();
    configuration_.emplace(std::move(configuration));
  }

  Plan Build(const GraphDescriptor& configuration) const {
    GraphDescriptor plan(graph_->api(), CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "execution plan");
    plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE,
             std::vector<cudnnHandle_t>{graph_->handle()})
        .Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration)
        .Finalize();
    const std::int64_t bytes = plan.GetInteger(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    if (bytes < 0)
      throw CudnnFailure("the execution plan asks for a workspace of " + std::to_string(bytes) + " bytes",
                         false);
    return {std::move(plan), static_cast<std::size_t>(bytes)};
  }

  const std::shared_ptr<const OperationGraph> graph_;
  const bool strict_;
  std::string name_;
  EngineFacts engine_;
  std::optional<GraphDescriptor> engine_descriptor_, configuration_;
  std::optional<Plan> plan_;
};

using Graph = std::shared_ptr<const OperationGraph>;

// All configurations of one list. One that the library does not have for this problem is empty.
void AddHeuristics(const Graph& graph, const HeuristicsMode& mode, bool strict, Candidates* candidates) {
  const CudnnApi& api = graph->api();
  std::vector<GraphDescriptor> configurations;
  std::int64_t given = 0;
  try {
    GraphDescriptor heuristics(api, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, mode.name);
    heuristics.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph->graph())
        .Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, std::vector<cudnnBackendHeurMode_t>{mode.mode})
        .Finalize();
    const std::int64_t announced = heuristics.GetDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, {});
    std::vector<cudnnBackendDescriptor_t> into;
    for (std::int64_t i = 0; i < announced && i < kMostConfigurations; ++i) {
      configurations.emplace_back(api, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "engine configuration");
      into.push_back(configurations.back().get());
    }
    // It announces more than it then gives.
    if (!into.empty()) given = heuristics.GetDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, into);
  } catch (const CudnnFailure& e) {
    if (!e.unsupported()) throw;
  }
  for (std::size_t i = 0; i < configurations.size() && static_cast<std::int64_t>(i) < given; ++i)
    candidates->list.push_back(std::make_unique<GraphCandidate>(
        graph, std::move(configurations[i]), std::string(mode.name) + " " + std::to_string(i), strict));
}

}  // namespace

Candidates GraphCandidates(const std::shared_ptr<const OperationGraph>& graph, const std::string& choice,
                           bool strict) {
  const bool every = choice == "every", automatic = choice == "auto";
  Candidates candidates;
  candidates.asked = "cudnnBackendFinalize(heuristics)";
  if (every || choice == kEveryEngine) {
    const std::int64_t engines = graph->graph().GetInteger(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
    for (std::int64_t i = 0; i < engines; ++i)
      candidates.list.push_back(std::make_unique<GraphCandidate>(graph, i, strict));
  }
  for (const HeuristicsMode& mode : kModes) {
    if (every || choice == mode.choice || (automatic && mode.mode == CUDNN_HEUR_MODE_A))
      AddHeuristics(graph, mode, strict, &candidates);
    // As frameworks: only where nothing of A's will do. To name them takes longer than most convolutions.
    if (automatic && mode.mode == CUDNN_HEUR_MODE_FALLBACK)
      candidates.more = [graph, &mode, strict](Candidates* c) { AddHeuristics(graph, mode, strict, c); };
  }
  return candidates;
}

}  // namespace cudnn_ci
