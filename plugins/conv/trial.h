// A candidate that the library agreed to, and how its result is judged. Must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_CONV_TRIAL_H_
#define CUDNN_CI_PLUGINS_CONV_TRIAL_H_

#include <cstddef>

#include "common/numeric/compare.h"
#include "conv/candidate.h"
#include "conv/recipe.h"

namespace cudnn_ci {

struct Trial {
  Candidate* candidate = nullptr;
  std::size_t workspace_bytes = 0;
  Recipe recipe;
  double bound = 0;

  bool decisive() const { return IsDecisive(bound); }
};

// Throws CudnnFailure.
Trial PrepareTrial(Candidate& candidate, const Problem& problem, DataType type, const ApiPromise& promise);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_TRIAL_H_
