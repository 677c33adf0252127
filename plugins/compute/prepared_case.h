// The candidates of a case whose plan was built before the case ran, while the checks that it requires did.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_PREPARED_CASE_H_
#define CUDNN_CI_PLUGINS_COMPUTE_PREPARED_CASE_H_

#include <cudnn_ci/check.hpp>

#include <functional>

#include "compute/candidate.h"
#include "compute/problem.h"

namespace cudnn_ci {

// Opens the library for the case and has it build the plan of its first candidate, which is what the case
// takes its time for; keeps the candidates. Not where the case runs several of them. Throws what the library
// does, as CudnnFailure, DriverError or std::runtime_error; nothing is kept then.
void PrepareComputeCase(Context& ctx, ComputeProblem* problem);

// The candidates that were kept for the case of this context, once; else those that `open` gives, which may
// throw.
Candidates PreparedOr(const Context& ctx, const std::function<Candidates()>& open);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_PREPARED_CASE_H_
