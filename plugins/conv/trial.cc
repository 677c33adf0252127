#include "conv/trial.h"

#include <sstream>

#include "conv/bounds.h"
#include "conv/kernel_class.h"

namespace cudnn_ci {

Trial PrepareTrial(Candidate& candidate, const Problem& problem, DataType type, const ApiPromise& promise) {
  Trial trial;
  trial.candidate = &candidate;
  trial.workspace_bytes = candidate.Prepare();
  const Arithmetic arithmetic = ArithmeticByKernels(candidate.arithmetic(), candidate.kernels());
  trial.recipe = RecipeFor(problem, type, arithmetic, promise);
  trial.bound = ErrorBound(arithmetic, type, problem, trial.recipe);
  return trial;
}

Computation ComputationOf(const Candidate& candidate, DataType type, const ApiPromise& promise) {
  return {type, ArithmeticByKernels(candidate.arithmetic(), candidate.kernels()), promise,
          ClassOfKernels(candidate.kernels()), candidate.rounds_to_half()};
}

std::string Short(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

std::string Unverifiable(const Trial& trial, const Problem& problem) {
  return "not verifiable with this data: errors of " + trial.candidate->Name() + " reach " +
         Short(trial.bound) + " over " + std::to_string(problem.Reduction()) + " products";
}

std::string NeedOfVerification(const Problem& problem) {
  return "an error bound below " + Short(kDecisiveBound) + ", which one lost product exceeds; " +
         problem.Text();
}

std::string DescribeUnderstated(const std::string& call, std::size_t said, const Trial& trial) {
  return call + " says " + std::to_string(said) +
         " bytes of workspace, the query for the same algorithm and math " +
         std::to_string(trial.workspace_bytes);
}

bool LearnKernels(Candidate* candidate, const DevicePointers& memory, Session* session) {
  if (!candidate->kernels().empty()) return false;
  candidate->set_kernels(session->KernelsOf([&] { candidate->Run(memory); }));
  const Arithmetic said = candidate->arithmetic();
  return ArithmeticByKernels(said, candidate->kernels()) != said;
}

}  // namespace cudnn_ci
