// Faults of runs besides wrong numbers: they write elsewhere, leave something out, give other bits
// when they are repeated. One finding for each.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_JUDGE_REPETITION_H_
#define CUDNN_CI_PLUGINS_COMPUTE_JUDGE_REPETITION_H_

#include <cudnn_ci/check.hpp>

#include <optional>
#include <string>

#include "common/device_session.h"
#include "compute/case_data.h"
#include "compute/case_memory.h"
#include "compute/problem.h"
#include "compute/repetition.h"

namespace cudnn_ci {

// What the repeated runs of a candidate came to.
struct Again {
  std::optional<Repetition> timed;  // unless they did not all do the same work
  const char* wrong = nullptr;      // what they did instead of it or besides it, as a row of a sweep says it
};

// What follows in a finding: behind each, and behind that of a write beyond a buffer.
struct Behind {
  std::string about, overwrites;
};

// That guards and exact inputs are as they were.
bool JudgeSurroundings(Context& ctx, const ComputeFindings& findings, const Behind& behind,
                       DeviceSession* session, CaseData* data);
// The same after the repeated runs, which have random inputs: these are looked at where they are small, or
// where a guard was written to. The run before them was held to all of it.
bool JudgeSurroundingsAgain(Context& ctx, const ComputeFindings& findings, const Behind& behind,
                            const CaseMemory& needs, DeviceSession* session, CaseData* data);

// That all was written each time, and the same bits where the candidate promises them. Null, or Again::wrong.
const char* JudgeRepetition(Context& ctx, const ComputeProblem& problem, const Repetition& again,
                            const Candidate& candidate, const std::string& about);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_JUDGE_REPETITION_H_
