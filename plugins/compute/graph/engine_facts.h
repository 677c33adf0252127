// What an engine of cuDNN's graph API says of itself, and what follows from its numerical notes for any
// operation. Data and rules alone.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_GRAPH_ENGINE_FACTS_H_
#define CUDNN_CI_PLUGINS_COMPUTE_GRAPH_ENGINE_FACTS_H_

#include <cstdint>
#include <vector>

#include "common/numeric/data_type.h"

namespace cudnn_ci {

struct EngineFacts {
  std::int64_t index = 0;      // CUDNN_ATTR_ENGINE_GLOBAL_INDEX
  std::vector<int> numerical;  // cudnnBackendNumericalNote_t

  bool Has(int note) const;
};

// It computes in a shorter type than its inputs have: float32 in TF32 (tensor cores), float32 or float64 in
// what they are converted down to. Nothing in the graph API forbids either. Tensor cores take the other types
// as they are.
bool IsShort(DataType type, const EngineFacts& engine);

// It is noted to round inputs or sums to a 16-bit type, whatever they are.
bool RoundsToHalf(const EngineFacts& engine);

// It gives the same bits each time: what is not noted otherwise has done so wherever it was looked at.
bool IsDeterministic(const EngineFacts& engine);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_GRAPH_ENGINE_FACTS_H_
