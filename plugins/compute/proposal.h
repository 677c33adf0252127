// What a library's own proposals are held to.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_PROPOSAL_H_
#define CUDNN_CI_PLUGINS_COMPUTE_PROPOSAL_H_

#include <cudnn_ci/check.hpp>

#include <string>

#include "compute/compute_findings.h"
#include "compute/trial.h"

namespace cudnn_ci {

// That the workspace that `call` gave with the proposal is enough: programs allocate it, and do not ask
// again; and that it is no more than the library was allowed. `about` ends the finding.
void JudgeProposal(Context& ctx, const ComputeFindings& findings, const std::string& call, const Trial& trial,
                   const std::string& about);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_PROPOSAL_H_
