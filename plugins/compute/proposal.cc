#include "compute/proposal.h"

#include <optional>

namespace cudnn_ci {

void JudgeProposal(Context& ctx, const ComputeFindings& findings, const std::string& call, const Trial& trial,
                   const std::string& about) {
  const std::optional<std::size_t> allowed = trial.candidate->allowed_bytes();
  if (allowed && trial.workspace_bytes > *allowed)
    ctx.Finding(findings.workspace_understated, call + " was allowed " + std::to_string(*allowed) +
                                                    " bytes of workspace, but returned " +
                                                    trial.candidate->Name() + ", which needs " +
                                                    std::to_string(trial.workspace_bytes) + about);
  const std::optional<std::size_t> said = trial.candidate->proposed_bytes();
  if (!said) return;
  ctx.Measure("proposed_workspace_bytes", static_cast<double>(*said), "B");
  if (*said >= trial.workspace_bytes) return;
  ctx.Finding(findings.workspace_understated,
              call + " returned " + std::to_string(*said) +
                  " bytes of workspace, but the query for the same algorithm and math " +
                  std::to_string(trial.workspace_bytes) + about);
}

}  // namespace cudnn_ci
