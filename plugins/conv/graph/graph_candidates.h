// Convolutions through cuDNN's graph API: the operation graph of a problem, the engines that its heuristics
// name or that there are, and their plans. Judges nothing; must not know the SDK's Context or the oracle's
// data.
#ifndef CUDNN_CI_PLUGINS_CONV_GRAPH_GRAPH_CANDIDATES_H_
#define CUDNN_CI_PLUGINS_CONV_GRAPH_GRAPH_CANDIDATES_H_

#include <string>

#include "common/cudnn_api.h"
#include "common/numeric/data_type.h"
#include "conv/candidate.h"
#include "conv/operation.h"

namespace cudnn_ci {

// No choice of a matrix: to ask those that nothing proposes.
inline constexpr char kEveryEngine[] = "every engine";

// The engines that a matrix asks for:
//   auto          what heuristics A name, then the fallback's, best first, as frameworks take them
//   heuristics_a, heuristics_b, fallback    all configurations of that list
//   every         every engine by its global index, and all configurations of the three lists
//   kEveryEngine  every engine by its global index
// With `strict`, engines that are noted to compute in a shorter type (TF32, float16) are refused when they
// are prepared. Sums as in the legacy API. Throws CudnnFailure.
Candidates GraphCandidates(const CudnnApi& api, cudnnHandle_t handle, const Problem& problem, DataType type,
                           Layout layout, const std::string& choice, bool strict);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_GRAPH_GRAPH_CANDIDATES_H_
