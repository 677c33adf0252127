#include "conv/trial.h"

#include "conv/bounds.h"

namespace cudnn_ci {

Trial PrepareTrial(Candidate& candidate, const Problem& problem, DataType type, const ApiPromise& promise) {
  Trial trial;
  trial.candidate = &candidate;
  trial.workspace_bytes = candidate.Prepare();
  trial.recipe = RecipeFor(problem, type, candidate.arithmetic(), promise);
  trial.bound = ErrorBound(candidate.arithmetic(), type, problem, trial.recipe);
  return trial;
}

}  // namespace cudnn_ci
