#include "conv/proposal.h"

#include <optional>

#include "conv/findings.h"

namespace cudnn_ci {

void JudgeProposal(Context& ctx, const std::string& call, const Trial& trial, const std::string& about) {
  const std::optional<std::size_t> said = trial.candidate->proposed_bytes();
  if (!said) return;
  ctx.Measure("proposed_workspace_bytes", static_cast<double>(*said), "B");
  if (*said >= trial.workspace_bytes) return;
  ctx.Finding(kWorkspaceUnderstated, DescribeUnderstated(call, *said, trial) + about);
}

}  // namespace cudnn_ci
