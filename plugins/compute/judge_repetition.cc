#include "compute/judge_repetition.h"

#include <vector>

#include "compute/describe_result.h"

namespace cudnn_ci {
namespace {

constexpr char kAgain[] = ", in a repeated run";

// To copy and compare more would cost as much as the runs.
constexpr std::size_t kSmallInputs = std::size_t{1} << 20;

bool Report(Context& ctx, const ComputeFindings& findings, const std::string& guards,
            const std::vector<std::string>& changed, const Behind& behind, const std::string& when = "") {
  if (!guards.empty()) ctx.Finding(findings.out_of_bounds, guards + when + behind.about + behind.overwrites);
  for (const std::string& input : changed) ctx.Finding(findings.input_modified, input + when + behind.about);
  return guards.empty() && changed.empty();
}

}  // namespace

bool JudgeSurroundings(Context& ctx, const ComputeFindings& findings, const Behind& behind,
                       DeviceSession* session, CaseData* data) {
  return Report(ctx, findings, session->memory().TouchedGuards(), data->ChangedInputs(), behind);
}

bool JudgeSurroundingsAgain(Context& ctx, const ComputeFindings& findings, const Behind& behind,
                            const CaseMemory& needs, DeviceSession* session, CaseData* data) {
  const std::string guards = session->memory().TouchedGuards();
  std::vector<std::string> changed;
  if (!guards.empty() || needs.SeededBytes() <= kSmallInputs) changed = data->ChangedRandomInputs();
  return Report(ctx, findings, guards, changed, behind, kAgain);
}

const char* JudgeRepetition(Context& ctx, const ComputeProblem& problem, const Repetition& again,
                            const Candidate& candidate, const std::string& about) {
  const Operands& operands = problem.operands();
  for (std::size_t o = 0; o < operands.outputs.size(); ++o) {
    const Operand& output = operands.outputs[o];
    const Difference& difference = again.differences[o];
    const std::string prefix = OutputPrefix(operands, o);
    // These have no number to spare for the fill: one element, or some, may well have got it as a result.
    const bool is_a_value = output.type == DataType::kInt8 || output.type == DataType::kFloat8E4m3;
    if (difference.unwritten > 0 && (!is_a_value || difference.unwritten == difference.elements)) {
      Judgement left;
      left.elements = output.extent.Count();
      left.unwritten = difference.unwritten;
      ctx.Finding(
          problem.findings().unwritten,
          prefix + DescribeUnwritten(left, problem.Place(o, difference.first_unwritten)) + kAgain + about);
      return "leaves elements unwritten in a repeated run";
    }
    if (!candidate.deterministic() || difference.elements == 0) continue;
    ctx.Finding(problem.findings().not_repeatable,
                prefix + DescribeDifference(difference, output, problem.Place(o, difference.first)) + about);
    return "gives different bits in a repeated run";
  }
  return nullptr;
}

}  // namespace cudnn_ci
