// A candidate once more: several times on the same random data, how long it takes and whether it gives the
// same bits; or on fresh exact data, whether it is right. Must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_CONV_REPETITION_H_
#define CUDNN_CI_PLUGINS_CONV_REPETITION_H_

#include <optional>
#include <string>

#include "common/numeric/repeat.h"
#include "common/session.h"
#include "conv/candidate.h"
#include "conv/case_data.h"
#include "conv/case_memory.h"
#include "conv/second_opinion.h"
#include "conv/trial.h"

namespace cudnn_ci {

struct Repetition {
  double milliseconds = 0;  // on the device, the median, which of two is their mean
  Difference difference;    // between the first result and the last, and what that left unwritten
  const unsigned char* first = nullptr;  // the first result, until the session's readback is used again
};

// Runs it `runs` times, at least twice; where one takes long, twice. The candidate has run before: what is
// made at a first run is not timed. Each run finds result and workspace filled anew, outside of what is
// timed: one that does nothing would leave the last one's. Throws CudnnFailure and DriverError.
Repetition Repeat(const CaseMemory& needs, Layout layout, const DevicePointers& memory, int runs,
                  Candidate* candidate, Session* session);

// "2 of 880 elements differ between two runs on the same data; first (n=0,k=1,p=2,q=3): 0x3c00, then 0x3c01".
std::string DescribeDifference(const Difference& difference, const Problem& problem, DataType type);
// Of this problem in that time; 0 where it could not be measured.
double TeraflopsOf(const Repetition& repetition, const ConvShape& shape);
// "error 0 of 0, workspace 100 B, 1 ms, 2.5 TFLOP/s", whether it varied where it may, and its kernels: what
// is told of a trial that was right with this error.
std::string FiguresOf(const Trial& trial, double error, const Repetition& repetition, const ConvShape& shape);

// Prepares it and runs it on exact inputs that are uploaded anew. Empty where its result cannot be judged: it
// is not offered, needs more memory than there is, or is inexact. Throws CudnnFailure and DriverError.
std::optional<Rerun> RunOnceMore(Candidate& candidate, const ApiPromise& promise, Layout layout,
                                 CaseMemory* needs, CaseData* data, Session* session);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_REPETITION_H_
