// Gate: which cases are held to the times of an earlier run.
#include <algorithm>

#include "cli/gate.h"
#include "model/plan/speed.h"
#include "review/compare.h"

namespace cudnn_ci {

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
    speed_.why_not =
        "--workers-per-gpu " + std::to_string(options_.workers_per_gpu) + " leaves no case a time of its own";
  }
  if (!baseline_) speed_.why_not = "there is no --baseline";
  for (Notice& notice : SpeedNotGated(plan_, speed_)) plan_.not_gated.push_back(std::move(notice));
}

}  // namespace cudnn_ci
