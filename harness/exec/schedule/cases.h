// What an attempt counts for: the rules by which a result is believed, confirmed, retried or continued. Pure,
// but for reading the record of the run. Two principles: only passes and allowed skips may come from a shared
// process, and no second look ever turns red into green.
#ifndef CUDNN_CI_EXEC_SCHEDULE_CASES_H_
#define CUDNN_CI_EXEC_SCHEDULE_CASES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exec/workers/effects.h"
#include "model/plan/plan.h"
#include "model/verdict/summary.h"

namespace cudnn_ci {

enum class Next {
  kFinal,     // outcome and findings are the case's
  kConfirm,   // run again alone, in a fresh process: a shared one, or one beside others, is not believed
  kContinue,  // run again without the steps that ended it
  kRetry      // run again, whole, because --retries allows it
};

struct Decision {
  Next next = Next::kFinal;
  Outcome outcome;                // of kFinal
  std::vector<Finding> findings;  // to add to those that were reported
};

// How the next attempt at a case is to be made.
struct NextAttempt {
  int number = 1;
  AttemptMode mode = AttemptMode::kAlone;
  std::vector<std::string> skip_steps;
};

class Cases {
 public:
  // `confirm`: what a shared process says against a case is looked at again, alone. `summary` is the record
  // of the run, up to date whenever Decide is called.
  Cases(const Plan& plan, const Summary& summary, int retries, bool confirm)
      : plan_(plan), summary_(summary), retries_(retries), confirm_(confirm) {}

  // What comes after this attempt. Call with AttemptFinished recorded.
  Decision Decide(const AttemptResult& result);
  // The outcome of a case that waits for its confirmation and needs it no more, because enough others of its
  // kind were confirmed meanwhile; it is marked so. Null: it is still to be confirmed, or waits for none.
  const Outcome* KnownOutcome(size_t case_index);
  // The attempt after those that were evaluated.
  NextAttempt NextOf(size_t case_index) const;
  // Its preparation ended the process: what the next attempt, alone, has to confirm.
  void Suspect(size_t case_index, Errored how, int signal);
  // Its next attempt is on another GPU, whose answer is no result of the case.
  void AskAnotherDevice(size_t case_index) { histories_[case_index].cross_device = true; }
  // Its next attempt is alone, in a fresh process, though it passed: to be timed.
  void RepeatAlone(size_t case_index) { histories_[case_index].timed = true; }
  // An attempt that is no result of the case has ended; it counts as one, and its time.
  void CountAttempt(const AttemptResult& result);
  // The case is final: its record is handed out and forgotten.
  CaseFinished Take(size_t case_index, Outcome outcome);

 private:
  struct Bad {  // a result that is not good
    std::string kind, brief;
    Outcome outcome;
  };
  // What is known of a case that did not simply pass.
  struct History {
    int attempts = 0, retries = 0;
    double seconds = 0;
    std::vector<std::string> skip_steps;  // that ended earlier attempts
    std::optional<Bad> suspicion;         // what a shared worker said, being confirmed
    std::optional<Bad> decisive;          // the first bad result that counts
    std::vector<Flag> flags;
    bool concurrent = false;    // the shared attempt may have shared its device's memory
    bool inconclusive = false;  // the first attempt was
    bool cross_device = false, timed = false;
    void Add(Flag flag);
  };

  Bad Describe(const AttemptResult& result) const;
  bool IsKnown(const std::string& kind) const;
  Decision AfterShared(const AttemptResult& result, bool good, History* history);
  Decision Alone(const AttemptResult& result, bool good, History* history);
  Decision Again(const AttemptResult& result, History* history);

  const Plan& plan_;
  const Summary& summary_;
  const int retries_;
  const bool confirm_;
  std::map<size_t, History> histories_;
  std::map<std::string, int> confirmed_;  // by check, outcome, finding id or signal
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_CASES_H_
