// The candidates of cuDNN for an attention, by the graph that frameworks build: that of cudnn-frontend. Its
// headers and its exceptions stay in graph.cc. Must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_ATTENTION_GRAPH_H_
#define CUDNN_CI_PLUGINS_ATTENTION_GRAPH_H_

#include <string>

#include "attention/data.h"
#include "common/session.h"
#include "compute/candidate.h"

namespace cudnn_ci {

// "1.32.0".
std::string FrontendVersion();

// The choices of a matrix:
//   auto           what heuristics A name, best first, and behind them the fallback's
//   heuristics_a, heuristics_b, fallback    all plans of that list
//   every          the plans of the three lists, and every engine by its index, without knobs
// `deterministic`: asks the backward pass for an algorithm that repeats its bits. Throws CudnnFailure: what
// the frontend refuses is not supported, and its text says that the frontend did.
Candidates AttentionCandidates(const Session& session, const AttentionProblemSpec& spec, bool deterministic,
                               const std::string& choice);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_ATTENTION_GRAPH_H_
