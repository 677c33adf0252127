#include "model/plan/speed.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

bool IsUnitOfSpeed(const std::string& unit, const std::string& goal) {
  if (goal == "lower") return unit == "s" || unit == "ms" || unit == "us" || unit == "ns";
  return goal == "higher" && unit.size() > 2 && unit.compare(unit.size() - 2, 2, "/s") == 0;
}

constexpr double kShortestSeconds = 0.0002;

// Of a time.
double SecondsOf(const Speed& speed) {
  const std::string& unit = speed.unit;
  return speed.value * (unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : unit == "ns" ? 1e-9 : 1);
}

bool IsHeldToATime(const Case& c) { return c.max_slowdown > 0 && !c.predetermined; }

}  // namespace

std::optional<Speed> SpeedOf(double value, const std::string& unit, const std::string& goal) {
  if (!IsUnitOfSpeed(unit, goal) || !std::isfinite(value) || value <= 0) return std::nullopt;
  return Speed{value, SingleLine(unit, 20), goal == "higher"};
}

std::string SpeedName(const std::string& measurement) { return SingleLine(measurement, 100); }

Speeds SpeedsOf(const std::vector<Measured>& measurements) {
  Speeds speeds;
  for (const Measured& m : measurements)
    if (const std::optional<Speed> speed = SpeedOf(m.value, m.unit, m.goal))
      speeds[SpeedName(m.name)] = *speed;
  return speeds;
}

Speeds HeldSpeeds(const Speeds& speeds) {
  const bool has_time =
      std::any_of(speeds.begin(), speeds.end(), [](const auto& s) { return !s.second.higher_is_better; });
  Speeds held;
  for (const auto& [name, speed] : speeds)
    if (speed.higher_is_better ? !has_time : SecondsOf(speed) >= kShortestSeconds) held[name] = speed;
  return held;
}

bool IsComparable(const Speed& a, const Speed& b) {
  return a.unit == b.unit && a.higher_is_better == b.higher_is_better;
}

double Slowdown(const Speed& then, const Speed& now) {
  return now.higher_is_better ? then.value / now.value : now.value / then.value;
}

std::string SpeedText(const std::string& name, const Speed& speed) {
  char number[40];
  snprintf(number, sizeof number, "%.4g", speed.value);
  return name + " " + number + (speed.unit.empty() ? "" : " " + speed.unit);
}

int64_t HeldToTimes(const Plan& plan) {
  return std::count_if(plan.cases.begin(), plan.cases.end(), IsHeldToATime);
}

Notices SpeedNotGated(const Plan& plan, const SpeedBaseline& baseline) {
  const int64_t held = HeldToTimes(plan);
  const int64_t unknown = std::count_if(plan.cases.begin(), plan.cases.end(), [&](const Case& c) {
    return IsHeldToATime(c) && baseline.cases.count(c.planned.ref) == 0;
  });
  if (held == 0) return {};
  const auto not_compared = [](int64_t cases, const std::string& why) {
    return Notice{NoticeCode::kSpeedNotCompared, {{"cases", cases}, {"why", why}}};
  };
  if (!baseline.why_not.empty()) return {not_compared(held, baseline.why_not)};
  if (unknown > 0)
    return {not_compared(unknown, "they did not pass there, or measured no time of 0.2 ms or more")};
  return {};
}

}  // namespace cudnn_ci
