// One problem, computed by what a library offers for it, and judged: every element of the outputs, every
// guard byte and every input byte, with exact data, and runs that are repeated on random data. Tells the
// library's answers apart: not offered, failed, wrong. Knows no operation.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_COMPUTE_CASE_H_
#define CUDNN_CI_PLUGINS_COMPUTE_COMPUTE_CASE_H_

#include <cudnn_ci/check.hpp>

#include "compute/problem.h"

namespace cudnn_ci {

// Runs the case and reports through `ctx`; returns or throws as a check does.
void RunComputeCase(Context& ctx, ComputeProblem* problem);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_COMPUTE_CASE_H_
