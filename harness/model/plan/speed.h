// Measurements of time and of work per time, and what an earlier run measured of them.
#ifndef CUDNN_CI_MODEL_PLAN_SPEED_H_
#define CUDNN_CI_MODEL_PLAN_SPEED_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/plan/plan.h"
#include "model/record/event.h"

namespace cudnn_ci {

struct Speed {
  double value = 0;  // above 0, finite
  std::string unit;
  bool higher_is_better = false;
};

// Of a measurement; none of an error bound or a number of bytes. `goal` as in Measured.
std::optional<Speed> SpeedOf(double value, const std::string& unit, const std::string& goal);

// The name under which a measurement's speed is kept: cleaned and bounded.
std::string SpeedName(const std::string& measurement);
using Speeds = std::map<std::string, Speed>;  // by SpeedName
Speeds SpeedsOf(const std::vector<Measured>& measurements);

// Those of an earlier run that a later one can be held to. Left out are times below 0.2 ms, which between a
// process that has run for a while and a fresh one differ by a quarter, and work per time where there is a
// time: it says the same.
Speeds HeldSpeeds(const Speeds& speeds);

// Whether both are of one unit and goal.
bool IsComparable(const Speed& a, const Speed& b);
// How many times slower `now` is than `then`, both comparable; below 1: faster.
double Slowdown(const Speed& then, const Speed& now);
// "milliseconds 1.25 ms".
std::string SpeedText(const std::string& name, const Speed& speed);

// What a run is held to: the speeds of an earlier one on GPUs of the same models, with the same driver.
struct SpeedBaseline {
  std::string why_not;    // nothing can be held against it, as the end of a sentence; `cases` is then empty
  std::string source;     // the file, for messages
  std::string libraries;  // of the image, that are others now, in words; empty: the same
  std::map<CaseRef, Speeds> cases;  // that passed
};

// Cases of a plan that are run and may be no slower than in a baseline, by so much.
int64_t HeldToTimes(const Plan& plan);
// How many of these are not held to it, and why; at most one of each reason.
Notices SpeedNotGated(const Plan& plan, const SpeedBaseline& baseline);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_PLAN_SPEED_H_
