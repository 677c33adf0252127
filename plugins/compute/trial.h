// A candidate that the library agreed to, and how its result is judged. Must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_TRIAL_H_
#define CUDNN_CI_PLUGINS_COMPUTE_TRIAL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "common/device_session.h"
#include "compute/candidate.h"
#include "compute/case_memory.h"
#include "compute/problem.h"

namespace cudnn_ci {

struct Trial {
  Candidate* candidate = nullptr;
  std::size_t workspace_bytes = 0;
  Expectation expectation;

  // Whether its result can be told right from wrong.
  bool decisive() const { return !expectation.undecided; }
  // The largest of its outputs' bounds.
  double bound() const;
};

// By its notes, and by its kernels where they are known. Throws CudnnFailure.
Trial PrepareTrial(Candidate& candidate, const ComputeProblem& problem);

// Asks for the kernels of a candidate that has run on this memory, unless they are known. True if they change
// its expectation: PrepareTrial now gives another.
bool LearnKernels(const ComputeProblem& problem, Candidate* candidate, const VariantPack& pack,
                  DeviceSession* session);

// The judgements of all outputs of one run.
struct OutputJudgements {
  std::vector<Judgement> outputs;

  bool AllMatch() const;
  bool AnyWrong() const;
  bool AnyUnwritten() const;
  double WorstError() const;
};

// `downloaded` holds all outputs, as CaseData::Download gives them. Of a trial that is not decisive only what
// is no number is wrong.
OutputJudgements JudgeOutputs(const ReferenceData& data, const Trial& trial, const CaseMemory& needs,
                              const unsigned char* downloaded);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_TRIAL_H_
