// What is known of the graph API's engines: how their arithmetic shows, from their numerical notes and from a
// table for those that do not say. Data and rules alone.
#ifndef CUDNN_CI_PLUGINS_CONV_GRAPH_ENGINES_H_
#define CUDNN_CI_PLUGINS_CONV_GRAPH_ENGINES_H_

#include <cstdint>
#include <vector>

#include "conv/operation.h"
#include "conv/recipe.h"

namespace cudnn_ci {

struct EngineFacts {
  std::int64_t index = 0;      // CUDNN_ATTR_ENGINE_GLOBAL_INDEX
  std::vector<int> numerical;  // cudnnBackendNumericalNote_t
};

Arithmetic ArithmeticOfEngine(const Problem& problem, const EngineFacts& engine);

// It computes in a shorter type than float32: TF32 (tensor cores) or float16 (inputs converted down). Nothing
// in the graph API forbids either.
bool IsShort(const EngineFacts& engine);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_GRAPH_ENGINES_H_
