#include "exec/schedule/slowness.h"

#include <cstdio>

#include "base/text.h"
#include "exec/schedule/gpu_state.h"
#include "exec/schedule/reattempts.h"
#include "model/verdict/attribution.h"

namespace cudnn_ci {
namespace {

std::string TimesText(double times) {
  char text[40];
  snprintf(text, sizeof text, "%.2f times", times);
  return text;
}

}  // namespace

const Speeds* Slowness::BaselineOf(size_t i) const {
  const auto found = baseline_.cases.find(plan_.cases[i].planned.ref);
  return found == baseline_.cases.end() ? nullptr : &found->second;
}

// Of the last attempt.
Speeds Slowness::SpeedsNow(size_t i) const {
  const CaseRecord* record = summary_.Find(plan_.cases[i].planned.ref);
  return record ? SpeedsOf(record->measurements) : Speeds{};
}

bool Slowness::Consider(size_t i, const Outcome& outcome) {
  const Case& c = plan_.cases[i];
  if (c.max_slowdown <= 0 || !std::holds_alternative<Passed>(outcome) || considered_.count(i)) return false;
  const Speeds* baseline = BaselineOf(i);
  if (!baseline) return false;
  Question question;
  for (const auto& [name, now] : SpeedsNow(i)) {
    const auto then = baseline->find(name);
    if (then == baseline->end() || !IsComparable(then->second, now)) continue;
    const double slowdown = Slowdown(then->second, now);
    if (slowdown <= question.slowdown) continue;
    question.name = name;
    question.first = now;
    question.slowdown = slowdown;
  }
  if (question.slowdown <= c.max_slowdown) return false;
  considered_.insert(i);
  waiting_[i] = std::move(question);
  return true;
}

std::vector<size_t> Slowness::Waiting() const {
  std::vector<size_t> out;
  for (const auto& [i, question] : waiting_) out.push_back(i);
  return out;
}

std::optional<size_t> Slowness::Next() const {
  std::optional<size_t> next;
  double slowest = 0;
  for (const auto& [i, question] : waiting_) {
    if (question.asked) continue;
    if (question.repetitions > 0) return i;  // one that was begun is brought to its end
    if (question.slowdown <= slowest) continue;
    slowest = question.slowdown;
    next = i;
  }
  return next;
}

void Slowness::AddRepetition(size_t i, Question* question) const {
  ++question->repetitions;
  const Speeds* baseline = BaselineOf(i);
  std::map<std::string, Range> all;  // a measurement that one repetition lacks says nothing
  for (const auto& [name, now] : SpeedsNow(i)) {
    const auto then = baseline->find(name);
    if (then == baseline->end() || !IsComparable(then->second, now)) continue;
    const double slowdown = Slowdown(then->second, now);
    Range range{slowdown, slowdown, now, now};
    const auto before = question->alone.find(name);
    if (question->repetitions > 1 && before == question->alone.end()) continue;
    if (question->repetitions > 1 && before->second.least < slowdown) {
      range.least = before->second.least;
      range.fastest = before->second.fastest;
    }
    if (question->repetitions > 1 && before->second.most > slowdown) {
      range.most = before->second.most;
      range.slowest = before->second.slowest;
    }
    all[name] = range;
  }
  question->alone = std::move(all);
}

Slowness::Course Slowness::Answer(size_t i, const Outcome& outcome, std::vector<Finding>* findings) {
  Question& question = waiting_.at(i);
  if (!std::holds_alternative<Passed>(outcome)) {
    findings->push_back(NotRepeated(i, "alone it was skipped"));
    waiting_.erase(i);
    return Course::kPass;
  }
  AddRepetition(i, &question);
  // The worst of what is slower in every repetition, by more than the repetitions differ among themselves.
  std::string slower;
  for (const auto& [name, range] : question.alone) {
    if (range.least <= plan_.cases[i].max_slowdown || range.least - 1 <= range.most - range.least) continue;
    if (slower.empty() || range.least > question.alone.at(slower).least) slower = name;
  }
  Kind& kind = kinds_[KindOf(i)];
  if (slower.empty()) {
    ++kind.unconfirmed;
    waiting_.erase(i);
    return Course::kPass;
  }
  if (question.repetitions < reattempts::kRepetitions) {
    question.asked = false;
    return Course::kRepeat;
  }
  findings->push_back(Conclude(i, slower, question));
  kind.unconfirmed = 0;
  kind.confirmed += ClosesTheGate(i, findings->back()) ? 1 : 0;
  waiting_.erase(i);
  return Course::kFail;
}

// What is waived, or optional, speaks for no other: the run may be green.
bool Slowness::ClosesTheGate(size_t i, const Finding& finding) const {
  const CaseRecord* record = summary_.Find(plan_.cases[i].planned.ref);
  return record && record->plan.required && !FindWaiver(summary_, *record, finding, DayOf(summary_));
}

Finding Slowness::Conclude(size_t i, const std::string& name, const Question& question) const {
  const Range& alone = question.alone.at(name);
  const Speed& then = BaselineOf(i)->at(name);
  std::string detail = SpeedText(name, alone.fastest) + " at best in " +
                       std::to_string(reattempts::kRepetitions) + " repetitions alone, " +
                       SpeedText("at worst", alone.slowest) + "; " + SpeedText("before", then) +
                       " in the baseline " + baseline_.source + ": " + TimesText(alone.least) + " as slow, " +
                       TimesText(plan_.cases[i].max_slowdown) + " are allowed";
  const std::string& device = plan_.cases[i].planned.ref.device;
  const std::string slows = SlowdownCause(facts_, device);
  if (!slows.empty()) detail += "; of " + device + ": " + slows;
  detail +=
      baseline_.libraries.empty() ? "; the libraries are the same" : "; changed: " + baseline_.libraries;
  Finding finding = HarnessFinding("slower-than-baseline", SingleLine(detail, 2000));
  if (!slows.empty()) {
    finding.blame = Blame::kRunner;
  } else if (!baseline_.libraries.empty()) {
    finding.blame = Blame::kImage;
  }
  return finding;
}

std::string Slowness::KindOf(size_t i) const {
  return plan_.cases[i].planned.check + "\n" + plan_.cases[i].planned.ref.device;
}

std::string Slowness::KnownReason(size_t i) const {
  const auto kind = kinds_.find(KindOf(i));
  if (kind == kinds_.end()) return "";
  if (kind->second.confirmed >= reattempts::kSlowConfirmed)
    return std::to_string(reattempts::kSlowConfirmed) +
           " other cases of its check that were slower in the run were slower alone too";
  if (kind->second.unconfirmed >= reattempts::kSlowUnconfirmed)
    return std::to_string(reattempts::kSlowUnconfirmed) +
           " other cases of its check that were slower in the run were not slower alone";
  return "";
}

Finding Slowness::NotRepeated(size_t i, const std::string& why) const {
  const Question& question = waiting_.at(i);
  return HarnessFinding("slower-not-repeated", SpeedText(question.name, question.first) + " in the run, " +
                                                   TimesText(question.slowdown) +
                                                   " as slow as in the baseline; not counted: " + why);
}

std::vector<std::pair<size_t, Finding>> Slowness::TakeKnown() {
  std::vector<std::pair<size_t, Finding>> known;
  for (const auto& [i, question] : waiting_) {
    const std::string why = question.asked || question.repetitions > 0 ? "" : KnownReason(i);
    if (!why.empty()) known.emplace_back(i, NotRepeated(i, why));
  }
  for (const auto& [i, finding] : known) waiting_.erase(i);
  return known;
}

}  // namespace cudnn_ci
