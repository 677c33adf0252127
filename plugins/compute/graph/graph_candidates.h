// The candidates of cuDNN's graph API for an operation graph: the engine configurations that its heuristics
// name, all engines that there are, and their execution plans. Judges nothing; must not know the SDK's
// Context.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_GRAPH_GRAPH_CANDIDATES_H_
#define CUDNN_CI_PLUGINS_COMPUTE_GRAPH_GRAPH_CANDIDATES_H_

#include <memory>
#include <string>

#include "compute/candidate.h"
#include "compute/graph/operation_graph.h"

namespace cudnn_ci {

// No choice of a matrix: to ask those that nothing proposes.
inline constexpr char kEveryEngine[] = "every engine";

// The engines that a matrix asks for:
//   auto          what heuristics A name, then the fallback's, best first, as frameworks take them
//   heuristics_a, heuristics_b, fallback    all configurations of that list
//   every         every engine by its global index, and all configurations of the three lists
//   kEveryEngine  every engine by its global index
// With `strict`, engines that are noted to compute in a shorter type (TF32, float16) are refused when they
// are prepared. Throws CudnnFailure.
Candidates GraphCandidates(const std::shared_ptr<const OperationGraph>& graph, const std::string& choice,
                           bool strict);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_GRAPH_GRAPH_CANDIDATES_H_
