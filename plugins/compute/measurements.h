// What a case measured, as the numbers and steps of its record. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_MEASUREMENTS_H_
#define CUDNN_CI_PLUGINS_COMPUTE_MEASUREMENTS_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "compute/choice_table.h"
#include "compute/compute_findings.h"
#include "compute/repetition.h"
#include "compute/trial.h"

namespace cudnn_ci {

// The error and its bound.
void MeasureComparison(Context& ctx, const OutputJudgements& judgements, const Trial& trial);
// Whether it repeated itself, and how long it took.
void MeasureRepetition(Context& ctx, const Candidate& candidate, const Repetition& repetition, double flops);
// Its kernels, as a step, where they are known: the last one, since what a process does in it is none of
// theirs.
void NameKernels(Context& ctx, const Candidate& candidate);
// What the library proposed before the one that runs and then refused: how many, and the first one's answer
// in a note.
void ReportRefusals(Context& ctx, const ComputeFindings& findings, const std::vector<std::string>& refusals);
// "; one; another".
std::string RefusalsText(const std::vector<std::string>& refusals);
// How many of a sweep's choices came to what.
void MeasureChoices(Context& ctx, const ChoiceTable& table);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_MEASUREMENTS_H_
