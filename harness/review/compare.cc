// What changed from one run to another. See compare.h; how it is shown is in compare_text.cc.
#include "review/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr double kSlower = 1.2;         // less is no news
constexpr size_t kFewMeasurements = 8;  // fewer do not show the noise
constexpr double kDeviations = 5;  // of the spread of all; with thousands of cases 3 would be a false alarm

std::string StandingText(const CaseView& view) {
  const std::string name = Name(view.standing);
  return view.reason.empty() ? name : name + ": " + view.reason;
}

bool WasTested(Standing standing) {
  return standing == Standing::kPassed || standing == Standing::kFailed || standing == Standing::kWaived;
}

// "the subjects opt_venv, system", by the ids of the cases.
std::string SubjectsOf(const RunView& view) {
  constexpr std::string_view kKey = "subject=";
  std::set<std::string> subjects;
  for (const auto& [ref, unused] : view.cases)
    if (const size_t at = ref.id.find(kKey); at != std::string::npos)
      subjects.insert(ref.id.substr(at + kKey.size(), ref.id.find_first_of(",]", at) - at - kKey.size()));
  if (subjects.empty()) return "no subject";
  return (subjects.size() == 1 ? "the subject " : "the subjects ") +
         Join(std::vector<std::string>(subjects.begin(), subjects.end()), ", ");
}

Status CheckComparable(const RunView& before, const RunView& after) {
  if (!before.complete)
    return Error{before.source + " is of a run that did not finish, so it has no verdict to compare"};
  if (before.partial != after.partial) {
    const auto part = [](const RunView& v) { return v.partial.empty() ? std::string("whole") : v.partial; };
    return Error{"one is " + part(before) + ", the other " + part(after)};
  }
  const bool any = std::any_of(before.cases.begin(), before.cases.end(),
                               [&](const auto& one) { return after.cases.count(one.first) > 0; });
  if (any) return Status();
  const std::string one = SubjectsOf(before), other = SubjectsOf(after);
  return Error{"they have no case in common" +
               (one == other ? std::string() : ": one tests " + one + ", the other " + other)};
}

// One case that is in both.
void AddCase(const CaseRef& ref, const CaseView& before, const CaseView& after, Comparison* c) {
  const CaseChange change{ref, StandingText(before), StandingText(after), after.required || before.required};
  if (after.standing == Standing::kFailed) {
    if (before.standing == Standing::kFailed) {
      ++c->still_failing;
    } else {
      c->failing.push_back(change);
    }
  } else if (after.standing == Standing::kWaived) {
    if (before.standing == Standing::kFailed || before.standing == Standing::kWaived) {
      ++c->still_failing;
    } else {
      c->failing.push_back(change);
      c->failing.back().counts = false;  // it was accepted
    }
  } else if (!WasTested(after.standing)) {
    // A skip that closes the gate is worse than any that did not, tested before or not.
    if (WasTested(before.standing) || (after.skip_not_allowed && !before.skip_not_allowed)) {
      c->skipped.push_back(change);
    } else {
      ++c->unchanged;
    }
  } else if (before.standing == Standing::kFailed || before.standing == Standing::kWaived) {
    c->fixed.push_back(change);
  } else {
    ++c->unchanged;
  }
}

void AddCases(const RunView& before, const RunView& after, Comparison* c) {
  for (const auto& [ref, view] : after.cases) {
    const auto old = before.cases.find(ref);
    if (old != before.cases.end()) {
      AddCase(ref, old->second, view, c);
    } else if (view.standing == Standing::kFailed) {
      c->failing.push_back({ref, "not in the plan", StandingText(view), view.required});
    } else if (view.skip_not_allowed) {
      c->skipped.push_back({ref, "not in the plan", StandingText(view), view.required});
    } else {
      ++c->added;
    }
  }
  // Of another matrix a case may be gone on purpose.
  const bool same_matrix = before.matrix_sha256 == after.matrix_sha256;
  for (const auto& [ref, view] : before.cases)
    if (after.cases.count(ref) == 0 && WasTested(view.standing))
      c->skipped.push_back({ref, StandingText(view), "not in the plan", view.required && same_matrix});
}

// A lost part, a worker that could not be started: no case shows them.
void AddRunErrors(const RunView& before, const RunView& after, Comparison* c) {
  for (const auto& [name, detail] : after.run_errors)
    if (before.run_errors.count(name) == 0)
      c->failing.push_back({{}, "no such error", name + ": " + detail, true});
  for (const auto& [name, detail] : before.run_errors)
    if (after.run_errors.count(name) == 0)
      c->fixed.push_back({{}, name + ": " + detail, "no such error", true});
}

// The worst and the best of what repeated runs say of one measurement.
struct Range {
  Speed slowest, fastest;
};
Range RangeOf(const CaseRef& ref, const std::string& name, const Speed& first,
              const std::vector<RunView>& again) {
  Range range{first, first};
  for (const RunView& run : again) {
    const auto view = run.cases.find(ref);
    if (view == run.cases.end()) continue;
    const auto speed = view->second.speed.find(name);
    if (speed == view->second.speed.end() || speed->second.unit != first.unit) continue;
    if (Slowdown(range.slowest, speed->second) > 1) range.slowest = speed->second;
    if (Slowdown(range.fastest, speed->second) < 1) range.fastest = speed->second;
  }
  return range;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

struct Moved {
  CaseRef ref;
  std::string name;
  Speed before, after;
  double slower = 0, faster = 0;  // how many times, beyond what repeated runs differ by
  bool required = true;           // its case
};

std::vector<Moved> Measurements(const RunView& before, const RunView& after,
                                const std::vector<RunView>& again) {
  std::vector<Moved> moved;
  for (const auto& [ref, view] : after.cases) {
    const auto old = before.cases.find(ref);
    if (old == before.cases.end() || view.standing != Standing::kPassed ||
        old->second.standing != Standing::kPassed)
      continue;
    for (const auto& [name, speed] : view.speed) {
      const auto then = old->second.speed.find(name);
      if (then == old->second.speed.end() || !IsComparable(then->second, speed)) continue;
      const Range range = RangeOf(ref, name, then->second, again);
      moved.push_back({ref, name, then->second, speed, Slowdown(range.slowest, speed),
                       1 / Slowdown(range.fastest, speed), view.required || old->second.required});
    }
  }
  return moved;
}

// Why speeds cannot be held against each other; empty when they can.
std::string NoSpeedReason(const RunView& before, const RunView& after) {
  if (before.gpus != after.gpus)
    return "the GPUs differ (" + Join(before.gpus, ", ") + "; " + Join(after.gpus, ", ") + ")";
  if (before.driver != after.driver)
    return "the drivers differ (" + before.driver + ", " + after.driver + ")";
  if (before.workers_per_gpu != after.workers_per_gpu)
    return std::to_string(before.workers_per_gpu) + " and " + std::to_string(after.workers_per_gpu) +
           " processes shared a GPU (--workers-per-gpu)";
  return before.gpus.empty() ? "there was no GPU" : "";
}

void AddSpeed(const RunView& before, const RunView& after, const std::vector<RunView>& again, Comparison* c) {
  c->speed = NoSpeedReason(before, after);
  for (const RunView& run : again)
    if (c->speed.empty()) c->speed = NoSpeedReason(before, run);
  if (!c->speed.empty()) {
    c->speed.insert(0, "not compared: ");
    return;
  }
  const std::vector<Moved> moved = Measurements(before, after, again);
  if (again.empty() && moved.size() < kFewMeasurements) {
    c->speed = "not compared: " + std::to_string(moved.size()) +
               " measurements in both, too few to tell a change from noise; name repeated runs with --again";
    return;
  }
  // Beyond repeated runs the spread of all measurements is noise as well: a machine has slower and faster
  // days.
  std::vector<double> logs, off;
  for (const Moved& m : moved) logs.push_back(std::log(Slowdown(m.before, m.after)));
  const double median = logs.empty() ? 0 : Median(logs);
  for (const double log : logs) off.push_back(std::abs(log - median));
  const double spread = off.empty() ? 0 : 1.4826 * Median(off);
  const double threshold = kSlower * (again.empty() ? std::exp(kDeviations * spread) : 1);
  for (const Moved& m : moved) {
    CaseChange change{m.ref, SpeedText(m.name, m.before), SpeedText(m.name, m.after), true};
    if (m.faster > threshold) c->faster.push_back(change);
    // One run each does not tell a change from a bad day: then it is worth a look, and no verdict.
    change.counts = m.required && !again.empty();
    if (m.slower > threshold) c->slower.push_back(change);
  }
  char text[160];
  snprintf(text, sizeof text,
           "%zu measurements, %.2f times as long overall; a case is slower beyond %.2f times", moved.size(),
           std::exp(median), threshold);
  c->speed = text;
}

void AddIfChanged(const std::string& label, const std::string& was, const std::string& is,
                  std::vector<LibraryChange>* changes) {
  if (was != is) changes->push_back({label, was.empty() ? "none" : was, is.empty() ? "none" : is});
}

// What the image brings: toolkit and cuDNN.
std::vector<LibraryChange> LibraryChanges(const RunView& before, const RunView& after) {
  std::vector<LibraryChange> changes;
  std::map<std::string, std::string> old(before.libraries.begin(), before.libraries.end());
  for (const auto& [label, value] : after.libraries) {
    const auto was = old.find(label);
    AddIfChanged(label, was == old.end() ? "" : was->second, value, &changes);
    if (was != old.end()) old.erase(was);
  }
  for (const auto& [label, value] : before.libraries)
    if (old.count(label) > 0) AddIfChanged(label, value, "", &changes);
  return changes;
}

void AddLibraries(const RunView& before, const RunView& after, Comparison* c) {
  c->libraries = LibraryChanges(before, after);
  AddIfChanged("driver", before.driver, after.driver, &c->libraries);
  AddIfChanged("gpu", Join(before.gpus, ", "), Join(after.gpus, ", "), &c->libraries);
  if (before.matrix_sha256 != after.matrix_sha256)
    c->notes.push_back("the matrices differ: " + before.matrix + " (sha256 " +
                       Beginning(before.matrix_sha256, 16) + ") and " + after.matrix + " (sha256 " +
                       Beginning(after.matrix_sha256, 16) + ")");
  if (before.version != after.version)
    c->notes.push_back("made by different versions of cudnn-ci: " + before.version + " and " + after.version);
}

std::string VerdictOf(const RunView& view) {
  return view.verdict + (view.headline_cause.empty() ? "" : ": " + view.headline_cause);
}

}  // namespace

Comparison Compare(const RunView& before, const RunView& after, const std::vector<RunView>& again) {
  Comparison c;
  if (const Status comparable = CheckComparable(before, after); !comparable) {
    c.not_comparable = comparable.error();
    return c;
  }
  c.verdict_before = VerdictOf(before);
  c.verdict_after = VerdictOf(after);
  AddCases(before, after, &c);
  AddRunErrors(before, after, &c);
  AddSpeed(before, after, again, &c);
  AddLibraries(before, after, &c);
  const auto counts = [](const std::vector<CaseChange>& changes) {
    return std::any_of(changes.begin(), changes.end(),
                       [](const CaseChange& change) { return change.counts; });
  };
  // A run that is red now and was green is worse, though no case shows it: a device was lost, a shard is
  // missing.
  c.worse = counts(c.failing) || counts(c.skipped) || counts(c.slower) ||
            (before.exit_code == 0 && after.exit_code != 0);
  return c;
}

SpeedBaseline SpeedBaselineOf(const RunView& before, const RunView& now) {
  SpeedBaseline baseline;
  baseline.source = SingleLine(before.source, 400);
  baseline.why_not = before.complete ? NoSpeedReason(before, now) : "its run did not finish";
  // Whatever this run does, no case of that one was timed alone.
  if (before.complete && before.workers_per_gpu > 1)
    baseline.why_not = "there " + std::to_string(before.workers_per_gpu) +
                       " processes shared a GPU; make a baseline with --workers-per-gpu 1";
  if (!baseline.why_not.empty()) return baseline;
  std::vector<std::string> changes;
  for (const LibraryChange& change : LibraryChanges(before, now))
    changes.push_back(change.label + ": " + change.before + " -> " + change.after);
  baseline.libraries = Join(changes, ", ");
  for (const auto& [ref, view] : before.cases)
    if (Speeds held = HeldSpeeds(view.speed); view.standing == Standing::kPassed && !held.empty())
      baseline.cases[ref] = std::move(held);
  return baseline;
}

int ExitCodeOf(const Comparison& comparison) {
  if (!comparison.not_comparable.empty()) return 2;
  return comparison.worse ? 1 : 0;
}

}  // namespace cudnn_ci
