#include "exec/schedule/second_opinions.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "exec/schedule/reattempts.h"
#include "model/record/finding_ids.h"
#include "model/verdict/attribution.h"

namespace cudnn_ci {
namespace {

// A plugin or a matrix that is at fault says nothing of GPUs.
bool IsDoubtful(const Finding& finding) {
  return finding.blame != Blame::kHarness && finding.blame != Blame::kMatrix;
}

// Whether two failures are one: of the same finding id; or of two ids if one says more ("wrong-value",
// "wrong-value-unexplained"); of a GPU that computes wrong, which looks like anything.
bool IsAlike(const std::string& a, const std::string& b) {
  return a == b || a.rfind(b + "-", 0) == 0 || b.rfind(a + "-", 0) == 0 || a == kGpuComputesWrong ||
         b == kGpuComputesWrong;
}

std::string Times(int count) { return count == 1 ? "once" : std::to_string(count) + " times"; }

}  // namespace

const DeviceInfo* SecondOpinions::Find(const std::string& device) const {
  for (const DeviceInfo& d : devices_)
    if (d.name == device) return &d;
  return nullptr;
}

std::string SecondOpinions::Describe(const std::string& device) const {
  const DeviceInfo* d = Find(device);
  return device + (d ? " (" + d->uuid + ")" : "");
}

std::vector<std::string> SecondOpinions::DevicesFor(size_t i) const {
  std::vector<std::string> out;
  const DeviceInfo* own = Find(plan_.cases[i].planned.ref.device);
  if (!own) return out;
  // Of another model it may be right where the library is wrong for this one.
  for (const DeviceInfo& d : devices_)
    if (&d != own && !d.uuid.empty() && d.uuid != own->uuid && d.model == own->model &&
        d.compute_capability == own->compute_capability)
      out.push_back(d.name);
  std::erase_if(out, [&](const std::string& name) {
    const auto silences = silences_.find(name);
    return silences != silences_.end() && silences->second >= reattempts::kCrossDeviceSilences;
  });
  return out;
}

// What is known before another GPU is asked. Without an error of the check's own it is an expectation.
SecondOpinions::Question SecondOpinions::Ask(size_t i, const Outcome& outcome) const {
  const CasePlanned& planned = plan_.cases[i].planned;
  Question question;
  question.outcome = outcome;
  question.slug = kExpectationFailed;
  const CaseRecord* record = summary_.Find(planned.ref);
  if (const Finding* first = record ? FirstErrorOfLastAttempt(*record) : nullptr) {
    question.slug = first->slug;
    question.blame = first->blame;
    question.brief = question.slug + ": " + SingleLine(first->detail);
  } else {
    question.brief = "an expectation did not hold";
  }
  question.kind = planned.check + "\n" + planned.subject + "\n" + question.slug + "\n" + planned.ref.device;
  if (record) question.attempts = static_cast<int>(record->attempts.size());
  return question;
}

SecondOpinions::Course SecondOpinions::Consider(size_t i, const Outcome& outcome,
                                                std::vector<Finding>* findings) {
  const Case& c = plan_.cases[i];
  if (!c.second_opinion || !std::holds_alternative<Failed>(outcome) || DevicesFor(i).empty())
    return Course::kEnd;
  // The harness has its own reason: the case contradicts itself.
  if (!findings->empty()) return Course::kEnd;
  const CaseRecord* record = summary_.Find(c.planned.ref);
  const Finding* first = record ? FirstErrorOfLastAttempt(*record) : nullptr;
  if (first && !IsDoubtful(*first)) return Course::kEnd;
  Question question = Ask(i, outcome);
  if (FromAnswers(question, c.planned.ref.device, findings)) return Course::kEnd;
  questions_[i] = std::move(question);
  return Course::kWait;
}

std::vector<size_t> SecondOpinions::Waiting() const {
  std::vector<size_t> out;
  for (const auto& [i, question] : questions_) out.push_back(i);
  return out;
}

// A GPU that errs where another of its model does not is broken. What errs on both is not the GPU's.
Finding SecondOpinions::Conclude(const Question& question, bool passed, const std::string& words) const {
  if (passed) return HarnessFinding(kGpuComputesWrong, words + "; " + question.brief);
  Finding finding = HarnessFinding(kFailsOnAnotherGpu, words + "; " + question.brief);
  // Where the check itself knew that it is the image's, it is evidence: a waiver of what it said still holds.
  if (question.blame == Blame::kImage) finding.severity = Severity::kNote;
  return finding;
}

bool SecondOpinions::FromAnswers(const Question& question, const std::string& own,
                                 std::vector<Finding>* findings) const {
  const auto found = answers_.find(question.kind);
  if (found == answers_.end()) return false;
  const Answers& a = found->second;
  const bool passed = a.passed > 0;
  if (std::max(a.passed, a.failed) < reattempts::kCrossDeviceAnswers || (a.passed > 0 && a.failed > 0))
    return false;
  findings->push_back(Conclude(question, passed,
                               Describe(own) + " failed; " + std::to_string(passed ? a.passed : a.failed) +
                                   " others that failed there in the same way " +
                                   (passed ? "passed" : "failed too") + " on " + Describe(a.device) +
                                   ", of the same model"));
  return true;
}

bool SecondOpinions::IsKnown(size_t i, std::vector<Finding>* findings) const {
  return FromAnswers(questions_.at(i), plan_.cases[i].planned.ref.device, findings);
}

// Whether the case failed on the other GPU in the way that the question is about.
bool SecondOpinions::FailedAlike(const Question& question, size_t i) const {
  const CaseRecord* record = summary_.Find(plan_.cases[i].planned.ref);
  const Finding* first = record ? FirstErrorOfLastAttempt(*record) : nullptr;
  if (!first) return IsAlike(question.slug, kExpectationFailed);
  if (!IsDoubtful(*first)) return false;
  const std::vector<Finding>& there = record->attempts.back().findings;
  return std::any_of(there.begin(), there.end(), [&](const Finding& f) {
    return f.severity == Severity::kError && IsAlike(question.slug, f.slug);
  });
}

SecondOpinions::Course SecondOpinions::Answer(const AttemptResult& there, const std::string& device,
                                              std::vector<Finding>* findings) {
  const size_t i = there.case_index;
  const auto found = questions_.find(i);
  if (found == questions_.end()) return Course::kEnd;
  Question& question = found->second;
  const bool passed = std::holds_alternative<Passed>(there.outcome);
  if (!passed && (!std::holds_alternative<Failed>(there.outcome) || !FailedAlike(question, i))) {
    ++silences_[device];
    return Course::kEnd;
  }
  question.passes += passed;
  if (passed && question.blame == Blame::kImage && question.passes < reattempts::kCrossDevicePasses) {
    question.asked = false;
    return Course::kWait;
  }
  Answers& answers = answers_[question.kind];
  ++(passed ? answers.passed : answers.failed);
  answers.device = device;
  std::string how = passed ? "passed" : "failed too";
  if (question.passes > (passed ? 1 : 0))
    how += (passed ? " " : " after it had passed ") + Times(question.passes);
  findings->push_back(Conclude(question, passed,
                               Describe(plan_.cases[i].planned.ref.device) + " failed " +
                                   Times(question.attempts) + ", " + Describe(device) +
                                   ", of the same model, " + how));
  return Course::kEnd;
}

Outcome SecondOpinions::Take(size_t i) {
  const auto found = questions_.find(i);
  Outcome outcome = std::move(found->second.outcome);
  questions_.erase(found);
  return outcome;
}

}  // namespace cudnn_ci
