// How the arithmetic of the graph API's engines for convolutions shows: from their numerical notes, and from
// a table for those that do not say. Data and rules alone.
#ifndef CUDNN_CI_PLUGINS_CONV_GRAPH_ENGINES_H_
#define CUDNN_CI_PLUGINS_CONV_GRAPH_ENGINES_H_

#include "common/numeric/data_type.h"
#include "compute/graph/engine_facts.h"
#include "conv/operation.h"
#include "conv/recipe.h"

namespace cudnn_ci {

Arithmetic ArithmeticOfEngine(const Problem& problem, DataType type, const EngineFacts& engine);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_GRAPH_ENGINES_H_
