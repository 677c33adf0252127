// A candidate once more: several times on the same random data, how long it takes and whether it gives the
// same bits; or on fresh exact data, whether it is right. Must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_REPETITION_H_
#define CUDNN_CI_PLUGINS_COMPUTE_REPETITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/device_session.h"
#include "common/numeric/repeat.h"
#include "compute/candidate.h"
#include "compute/case_data.h"
#include "compute/case_memory.h"
#include "compute/second_opinion.h"
#include "compute/trial.h"

namespace cudnn_ci {

struct Repetition {
  double milliseconds = 0;  // on the device, the median, which of two is their mean
  // Of each output, between the first result and the last, and what that left unwritten.
  std::vector<Difference> differences;
  // The outputs of the first run, until the session's readback is used again.
  std::vector<const unsigned char*> first;

  std::int64_t DifferingElements() const;
};

// Runs it on random data `runs` times, at least twice; where one takes long, twice. The candidate has run
// before: what is made at a first run is not timed. Each run finds outputs and workspace filled anew, outside
// of what is timed: one that does nothing would leave the last one's. Throws CudnnFailure and DriverError.
Repetition Repeat(const CaseMemory& needs, int runs, Candidate* candidate, CaseData* data,
                  DeviceSession* session);

// Of a run of so many operations in that time; 0 where it could not be measured.
double TeraflopsOf(const Repetition& repetition, double flops);
// "error 0 of 0, workspace 100 B, 1 ms, 2.5 TFLOP/s", whether it varied where it may, and its kernels: what
// is told of a trial that was right with this error.
std::string FiguresOf(const Trial& trial, double error, const Repetition& repetition, double flops);

// Prepares it and runs it on exact inputs that are uploaded anew. Empty where its result cannot be judged: it
// is not offered, needs more memory than there is, or is inexact. Throws CudnnFailure and DriverError.
std::optional<Rerun> RunOnceMore(const ComputeProblem& problem, Candidate& candidate, CaseMemory* needs,
                                 CaseData* data, DeviceSession* session);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_REPETITION_H_
