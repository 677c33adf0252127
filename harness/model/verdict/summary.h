// The summary: a fold over events, computed once. The one record of a run: runner, reporters and verdict read
// it and keeps a copy of what it holds.
#ifndef CUDNN_CI_MODEL_VERDICT_SUMMARY_H_
#define CUDNN_CI_MODEL_VERDICT_SUMMARY_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/record/event.h"

namespace cudnn_ci {

struct AttemptRecord {
  int attempt = 1;
  int64_t worker = 0;
  AttemptMode mode = AttemptMode::kAlone;
  Outcome outcome;
  double seconds = 0;
  std::string output, evidence;
  std::vector<ExpectationFailed> expectations;  // refs empty: the case's own
  std::vector<Finding> findings;
  bool finished = false;
};

struct CaseRecord {
  CasePlanned plan;
  Outcome outcome;  // NotRun until finished
  bool finished = false;
  double seconds = 0;
  std::vector<Flag> flags;
  std::vector<AttemptRecord> attempts;  // none of a case that passed at once and said nothing
  std::vector<Finding> findings;        // of all attempts and of the harness, without repeats
  std::vector<Measured> measurements;   // of the last attempt on its own GPU
  std::vector<Attached> attachments;
  std::vector<std::string> steps;  // of the last attempt on its own GPU, at most 64
  std::string waived_by;           // "OWNER until DATE: REASON"; empty: not waived
};

// Cases by outcome. The first seven add up: planned is the sum of the other six; a waived case is counted
// under its outcome too.
struct Totals {
  int64_t planned = 0, passed = 0, failed = 0, errored = 0, skipped = 0, blocked = 0, not_run = 0, waived = 0;
};

struct Summary {
  std::optional<RunStarted> run;
  std::vector<Waiver> waivers;
  std::optional<PlanEnd> plan_end;
  std::optional<RunCancelled> cancelled;
  std::optional<RunFinished> finished;
  std::deque<CaseRecord> cases;       // in plan order; a vector would move all of them when it grows
  std::vector<Finding> run_findings;  // about the run as a whole
  std::vector<DeviceLost> devices_lost;
  int64_t workers = 0;
  // Processes that used one GPU at a time, at most. Above 1 times on it are those of a shared GPU.
  int64_t workers_per_gpu = 1;
  std::string report_failure;  // reports that could not be written, separated by "; "

  // The record of a planned case; null: the plan has no such case. Constant time.
  const CaseRecord* Find(const CaseRef& ref) const;
  // Places in `cases` plus 1, by hash of the case's ref; 0: free. A string for a key would be a third of what
  // a hundred thousand cases cost.
  std::vector<uint32_t> index;
};

// Whether an attempt counts for nothing: others on the device may have caused its result, and the case ran
// again with the device for itself.
bool IsDiscarded(const CaseRecord& record, const AttemptRecord& attempt);

// Events in, summary out. One thread. An event about a case that was not planned changes no case; a finding
// of such a case counts as one about the run, so that no error is ever lost.
class Fold {
 public:
  void Apply(const Event& event) {
    std::visit([this](const auto& e) { On(e); }, event.body);
  }
  const Summary& summary() const { return summary_; }
  Summary* mutable_summary() { return &summary_; }

 private:
  // One per event: what is not here does not compile.
  void On(const RunStarted& e) { summary_.run = e; }
  void On(const WaiverDeclared& e) { summary_.waivers.push_back(e.waiver); }
  void On(const CasePlanned& e);
  void On(const PlanEnd& e) { summary_.plan_end = e; }
  void On(const WorkerStarted& e) {
    ++summary_.workers;
    summary_.workers_per_gpu = std::max(summary_.workers_per_gpu, e.sharing);
  }
  void On(const WorkerEnded&) {}  // evidence in the journal, no fact of a case
  void On(const AttemptStarted& e);
  void On(const StepReached& e);
  void On(const ExpectationFailed& e);
  void On(const FindingReported& e);
  void On(const Measured& e);
  void On(const Attached& e);
  void On(const CaseSlow& e);
  void On(const AttemptFinished& e);
  void On(const CaseFinished& e);
  void On(const DeviceLost& e) { summary_.devices_lost.push_back(e); }
  void On(const RunCancelled& e);
  void On(const RunFinished& e);
  CaseRecord* Record(const CaseRef& ref);
  Summary summary_;
};

// Of all events of a record, in order.
Summary FoldEvents(const std::vector<Event>& events);

Totals Count(const Summary& summary);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_VERDICT_SUMMARY_H_
