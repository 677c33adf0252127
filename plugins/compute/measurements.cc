#include "compute/measurements.h"

#include "compute/kernel_class.h"

namespace cudnn_ci {

void MeasureComparison(Context& ctx, const OutputJudgements& judgements, const Trial& trial) {
  ctx.Measure("max_error", judgements.WorstError(), "", CCI_GOAL_LOWER);
  ctx.Measure("error_bound", trial.bound(), "");
}

void MeasureRepetition(Context& ctx, const Candidate& candidate, const Repetition& repetition, double flops) {
  ctx.Measure("deterministic", candidate.deterministic() ? 1 : 0, "");
  ctx.Measure("differing_elements", static_cast<double>(repetition.DifferingElements()), "");
  ctx.Measure("milliseconds", repetition.milliseconds, "ms", CCI_GOAL_LOWER);
  if (const double teraflops = TeraflopsOf(repetition, flops); teraflops > 0)
    ctx.Measure("tflops", teraflops, "TFLOP/s", CCI_GOAL_HIGHER);
}

void NameKernels(Context& ctx, const Candidate& candidate) {
  const std::string kernels = KernelsText(candidate.kernels());
  if (!kernels.empty()) ctx.Step(kernels);
}

void ReportRefusals(Context& ctx, const ComputeFindings& findings, const std::vector<std::string>& refusals) {
  if (refusals.empty()) return;
  ctx.Measure("proposals_refused", static_cast<double>(refusals.size()), "");
  ctx.Finding(findings.proposal_refused,
              std::to_string(refusals.size()) + " refused, the first: " + refusals.front());
}

std::string RefusalsText(const std::vector<std::string>& refusals) {
  std::string text;
  for (const std::string& refusal : refusals) text += "; " + refusal;
  return text;
}

void MeasureChoices(Context& ctx, const ChoiceTable& table) {
  for (const auto& [measured, outcome] : {std::pair{"choices_passed", ChoiceOutcome::kPassed},
                                          {"choices_unsupported", ChoiceOutcome::kUnsupported},
                                          {"choices_unverifiable", ChoiceOutcome::kUnverifiable}})
    ctx.Measure(measured, static_cast<double>(table.Count(outcome)), "");
}

}  // namespace cudnn_ci
