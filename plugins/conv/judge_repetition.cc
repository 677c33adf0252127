#include "conv/judge_repetition.h"

#include <vector>

#include "conv/bounds.h"
#include "conv/findings.h"

namespace cudnn_ci {
namespace {

constexpr char kAgain[] = ", when it was run again";

// To copy and compare more would cost as much as the runs.
constexpr std::size_t kSmallInputs = std::size_t{1} << 20;

bool Report(Context& ctx, const std::string& guards, const std::vector<std::string>& changed,
            const Behind& behind, const std::string& when = "") {
  if (!guards.empty()) ctx.Finding(kOutOfBoundsWrite, guards + when + behind.about + behind.overwrites);
  for (const std::string& input : changed) ctx.Finding(kInputModified, input + when + behind.about);
  return guards.empty() && changed.empty();
}

}  // namespace

bool JudgeSurroundings(Context& ctx, const Behind& behind, Session* session, CaseData* data) {
  return Report(ctx, session->memory().TouchedGuards(), data->ChangedInputs(), behind);
}

bool JudgeSurroundingsAgain(Context& ctx, const Behind& behind, Session* session, CaseData* data) {
  const std::string guards = session->memory().TouchedGuards();
  std::vector<std::string> changed;
  if (!guards.empty() || data->InputBytes() <= kSmallInputs) changed = data->ChangedRandomInputs();
  return Report(ctx, guards, changed, behind, kAgain);
}

const char* JudgeRepetition(Context& ctx, const Repetition& again, const Trial& trial,
                            const CaseMemory& needs, const std::string& about) {
  const Problem& problem = needs.problem();
  // These have no number to spare for the fill: one element, or some, may well have got it as a result.
  const DataType type = needs.output_type();
  const bool is_a_value = type == DataType::kInt8 || type == DataType::kFloat8E4m3;
  if (again.difference.unwritten > 0 &&
      (!is_a_value || again.difference.unwritten == again.difference.elements)) {
    Judgement left;
    left.elements = problem.Y().Count();
    left.unwritten = again.difference.unwritten;
    left.first_unwritten = again.difference.first_unwritten;
    ctx.Finding(kOutputNotWritten, DescribeUnwritten(left, problem) + kAgain + about);
    return "leaves elements unwritten when it is run again";
  }
  if (!trial.candidate->deterministic() || again.difference.elements == 0) return nullptr;
  ctx.Finding(kNotRepeatable, DescribeDifference(again.difference, problem, needs.output_type()) + about);
  return "does not repeat its bits";
}

}  // namespace cudnn_ci
