// Cases that passed and were slower than in the baseline: which of them are repeated, alone on an idle
// machine, and what the repetitions mean. What a case measured on a shared device decides nothing. Pure
// bookkeeping.
#ifndef CUDNN_CI_EXEC_SCHEDULE_SLOWNESS_H_
#define CUDNN_CI_EXEC_SCHEDULE_SLOWNESS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/plan/plan.h"
#include "model/plan/speed.h"
#include "model/record/facts.h"
#include "model/verdict/summary.h"

namespace cudnn_ci {

class Slowness {
 public:
  // `summary`: the record of the run, up to date whenever a function is called. All must outlive this object.
  Slowness(const Plan& plan, const Summary& summary, const SpeedBaseline& baseline, const Facts& facts)
      : plan_(plan), summary_(summary), baseline_(baseline), facts_(facts) {}

  // Whether a case that is about to end so waits to be repeated: it passed and was slower than its entry
  // allows. Call with its attempts recorded. No case waits twice.
  bool Consider(size_t case_index, const Outcome& outcome);
  bool IsWaiting(size_t case_index) const { return waiting_.count(case_index) > 0; }
  std::vector<size_t> Waiting() const;

  // The one to be repeated next, the slowest first; none: only those that are being repeated wait.
  std::optional<size_t> Next() const;
  // A process repeats it.
  void SetAsked(size_t case_index) { waiting_.at(case_index).asked = true; }

  enum class Course {
    kRepeat,  // it is to be repeated once more
    kPass,    // it is not slower: alone it was fast enough, or the repetition tells nothing
    kFail     // it is
  };
  // What a repetition says, and the findings that the case ends with. Call with its attempt recorded; it must
  // not have failed in another way.
  Course Answer(size_t case_index, const Outcome& outcome, std::vector<Finding>* findings);

  // Those that need not be repeated any more because enough of their kind were, with what is to be said of
  // them. They pass.
  std::vector<std::pair<size_t, Finding>> TakeKnown();
  // It does not wait any more, nor ever again.
  void Forget(size_t case_index) { waiting_.erase(case_index); }
  // It is run again for another reason, and may then wait as if for the first time.
  void Reconsider(size_t case_index) {
    waiting_.erase(case_index);
    considered_.erase(case_index);
  }
  // Of one that waits: `why` its slowness is not held against it.
  Finding NotRepeated(size_t case_index, const std::string& why) const;

 private:
  struct Range {
    double least = 0, most = 0;  // how many times slower
    Speed fastest, slowest;
  };
  struct Question {
    std::string name;  // of the measurement that was slowest in the run
    Speed first;
    double slowdown = 0;
    bool asked = false;
    int repetitions = 0;
    std::map<std::string, Range> alone;  // by measurement, of all repetitions
  };
  struct Kind {
    int confirmed = 0, unconfirmed = 0;
  };
  const Speeds* BaselineOf(size_t case_index) const;
  Speeds SpeedsNow(size_t case_index) const;
  std::string KindOf(size_t case_index) const;
  std::string KnownReason(size_t case_index) const;
  bool ClosesTheGate(size_t case_index, const Finding& finding) const;
  void AddRepetition(size_t case_index, Question* question) const;
  Finding Conclude(size_t case_index, const std::string& name, const Question& question) const;

  const Plan& plan_;
  const Summary& summary_;
  const SpeedBaseline& baseline_;
  const Facts& facts_;
  std::map<size_t, Question> waiting_;  // by case
  std::set<size_t> considered_;         // cases that wait or have waited
  std::map<std::string, Kind> kinds_;   // by check and GPU
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_SLOWNESS_H_
