#include "compute/graph/engine_facts.h"

#include <cudnn.h>

#include <algorithm>

namespace cudnn_ci {

bool EngineFacts::Has(int note) const {
  return std::find(numerical.begin(), numerical.end(), note) != numerical.end();
}

bool IsShort(DataType type, const EngineFacts& engine) {
  if (type != DataType::kFloat32 && type != DataType::kFloat64) return false;
  return (type == DataType::kFloat32 && engine.Has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE)) ||
         engine.Has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
}

bool RoundsToHalf(const EngineFacts& engine) {
  return engine.Has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
         engine.Has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
}

bool IsDeterministic(const EngineFacts& engine) { return !engine.Has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC); }

}  // namespace cudnn_ci
