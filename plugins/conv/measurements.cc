#include "conv/measurements.h"

#include "conv/findings.h"
#include "conv/kernel_class.h"

namespace cudnn_ci {

void MeasureComparison(Context& ctx, const Judgement& judgement, const Trial& trial) {
  ctx.Measure("max_error", judgement.worst_error, "", CCI_GOAL_LOWER);
  ctx.Measure("error_bound", trial.bound, "");
}

void MeasureRepetition(Context& ctx, const Trial& trial, const Repetition& repetition,
                       const ConvShape& shape) {
  ctx.Measure("deterministic", trial.candidate->deterministic() ? 1 : 0, "");
  ctx.Measure("differing_elements", static_cast<double>(repetition.difference.elements), "");
  ctx.Measure("milliseconds", repetition.milliseconds, "ms", CCI_GOAL_LOWER);
  if (const double teraflops = TeraflopsOf(repetition, shape); teraflops > 0)
    ctx.Measure("tflops", teraflops, "TFLOP/s", CCI_GOAL_HIGHER);
}

void NameKernels(Context& ctx, const Trial& trial) {
  const std::string kernels = KernelsText(trial.candidate->kernels());
  if (!kernels.empty()) ctx.Step(kernels);
}

void TellRefusals(Context& ctx, const std::vector<std::string>& refusals) {
  if (refusals.empty()) return;
  ctx.Measure("proposals_refused", static_cast<double>(refusals.size()), "");
  ctx.Finding(kProposalRefused,
              std::to_string(refusals.size()) + " passed over, the first " + refusals.front());
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
