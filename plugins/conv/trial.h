// A candidate that the library agreed to, and how its result is judged. Must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_CONV_TRIAL_H_
#define CUDNN_CI_PLUGINS_CONV_TRIAL_H_

#include <cstddef>
#include <string>

#include "common/numeric/compare.h"
#include "common/session.h"
#include "conv/candidate.h"
#include "conv/normal.h"
#include "conv/recipe.h"

namespace cudnn_ci {

struct Trial {
  Candidate* candidate = nullptr;
  std::size_t workspace_bytes = 0;
  Recipe recipe;
  double bound = 0;

  bool decisive() const { return IsDecisive(bound); }
};

// By its notes, and by its kernels where they are known. Throws CudnnFailure.
Trial PrepareTrial(Candidate& candidate, const Problem& problem, DataType type, const ApiPromise& promise);

// Asks for the kernels of a candidate that has run on this memory, unless they are known. True if they show a
// transform that neither note nor table told: what it was given was not for it, and PrepareTrial now gives
// another.
bool LearnKernels(Candidate* candidate, const DevicePointers& memory, Session* session);

// How a prepared candidate computes, as far as notes, tables and its kernels tell.
Computation ComputationOf(const Candidate& candidate, DataType type, const ApiPromise& promise);

// Of three digits, for a report.
std::string Short(double value);
// Why a trial that is not decisive is no pass, and what it would need to be one.
std::string Unverifiable(const Trial& trial, const Problem& problem);
std::string NeedOfVerification(const Problem& problem);
// That `call` said less workspace than the candidate's own query.
std::string DescribeUnderstated(const std::string& call, std::size_t said, const Trial& trial);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_TRIAL_H_
