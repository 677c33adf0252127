// Gate: what earlier runs say, and which cases are held to the times of one.
#include <algorithm>
#include <utility>
#include <variant>

#include "cli/gate.h"
#include "cli/rerun.h"
#include "model/plan/speed.h"
#include "review/compare.h"

namespace cudnn_ci {

bool Gate::ReadEarlierRuns(const OutputPaths& paths) {
  if (options_.rerun_failed) {
    Result<std::vector<CaseRef>> cases = CasesToRerun(paths);
    // Nothing is withdrawn: the record is an input, and what lies beside it says the same.
    if (!cases.ok()) return Invalid("--rerun-failed: " + cases.error());
    rerun_ = std::move(*cases);
    // Nor where the matrix is mistyped: the list of what failed would be lost.
    if (!options_.selection.matrix.name.empty()) {
      const auto loaded = LoadMatrix(options_.selection.matrix.name, installation_.matrices_dir(),
                                     options_.selection.matrix.root);
      if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) {
        exit_code_ = PrintProblems(*problems);
        return false;
      }
    }
  }
  if (options_.baseline.empty() || options_.dry_run) return true;
  Result<RunView> earlier = ReadRun(options_.baseline);
  if (!earlier.ok()) {
    WithdrawReports(WithoutInputs(paths, {options_.baseline}));
    return Invalid("--baseline: " + earlier.error());
  }
  baseline_ = std::make_shared<const RunView>(std::move(*earlier));
  return true;
}

// Who asked for no number gets times that can be held to a baseline, and be one, where the matrix asks for
// that.
int Gate::WorkersPerGpu() const {
  return options_.workers_per_gpu == 0 && HeldToTimes(plan_) > 0 ? 1 : options_.workers_per_gpu;
}

void Gate::SelectTimedCases() {
  if (baseline_) {
    Summary now;
    now.run = MakeRunStarted();
    now.workers_per_gpu = std::max(1, WorkersPerGpu());
    speed_ = SpeedBaselineOf(*baseline_, ViewOf(now));
  }
  if (options_.isolation == Isolation::kNone) {
    speed_.cases.clear();
    speed_.why_not = "--isolation none leaves no process to repeat a case in";
  }
  if (options_.workers_per_gpu > 1 && options_.isolation == Isolation::kShared) {
    speed_.cases.clear();
    speed_.why_not = "--workers-per-gpu " + std::to_string(options_.workers_per_gpu) +
                     " lets several cases share a GPU "
                     "while they are timed";
  }
  if (!baseline_) speed_.why_not = "no --baseline was given";
  for (Notice& notice : SpeedNotGated(plan_, speed_)) plan_.not_gated.push_back(std::move(notice));
}

}  // namespace cudnn_ci
