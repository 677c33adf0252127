// Whose fault a failure is that may be the GPU's: what a GPU computes wrong and another one of its model
// right is no fault of the image. Which cases wait to be asked on another GPU, and what the answers mean.
// Pure bookkeeping; an answer never makes a failure a pass.
#ifndef CUDNN_CI_EXEC_SCHEDULE_SECOND_OPINIONS_H_
#define CUDNN_CI_EXEC_SCHEDULE_SECOND_OPINIONS_H_

#include <map>
#include <string>
#include <vector>

#include "exec/workers/effects.h"
#include "model/plan/plan.h"
#include "model/verdict/summary.h"

namespace cudnn_ci {

class SecondOpinions {
 public:
  // `devices`: those of the run and others of the machine that may be asked. `summary`: the record of the
  // run, up to date whenever a function is called. Both it and the plan must outlive this object.
  SecondOpinions(const Plan& plan, const Summary& summary, std::vector<DeviceInfo> devices)
      : plan_(plan), summary_(summary), devices_(std::move(devices)) {}

  // What becomes of a case that is about to end so.
  enum class Course {
    kEnd,   // it ends, with the findings given
    kWait,  // another GPU is to be asked first
  };
  // Call with the attempts recorded. Only failures of checks that ask for it are worth a question, and only
  // where the image would be at fault, the blame undetermined, or the GPU blamed by the check alone.
  Course Consider(size_t case_index, const Outcome& outcome, std::vector<Finding>* findings);

  // Cases that wait, asked or not, in plan order.
  std::vector<size_t> Waiting() const;
  bool IsWaiting(size_t case_index) const { return questions_.count(case_index) > 0; }
  // A process asks: no other needs to.
  void SetAsked(size_t case_index) { questions_.at(case_index).asked = true; }
  bool WasAsked(size_t case_index) const { return questions_.at(case_index).asked; }
  // GPUs of the same model as the case's own that answer, those of the run first.
  std::vector<std::string> DevicesFor(size_t case_index) const;

  // The answer of a GPU, and the findings that it adds to those that were reported; or it is to be asked
  // again. Call with its attempt recorded. An attempt that neither passed nor failed alike is no answer.
  Course Answer(const AttemptResult& there, const std::string& device, std::vector<Finding>* findings);
  // Whether enough of its kind were answered meanwhile; then with the findings of that.
  bool IsKnown(size_t case_index, std::vector<Finding>* findings) const;
  // The case is not to wait any more. Returns the outcome that it has had all along.
  Outcome Take(size_t case_index);

 private:
  struct Question {
    std::string kind, slug, brief;  // "wrong-value: 3 of 8 elements ..."
    Outcome outcome;
    Blame blame = Blame::kImage;
    int attempts = 0;  // on its own GPU
    int passes = 0;    // on others
    bool asked = false;
  };
  struct Answers {
    int passed = 0, failed = 0;
    std::string device;  // that gave the last one
  };
  const DeviceInfo* Find(const std::string& device) const;
  std::string Describe(const std::string& device) const;
  Question Ask(size_t case_index, const Outcome& outcome) const;
  Finding Conclude(const Question& question, bool passed, const std::string& words) const;
  bool FailedAlike(const Question& question, size_t case_index) const;
  bool FromAnswers(const Question& question, const std::string& own, std::vector<Finding>* findings) const;

  const Plan& plan_;
  const Summary& summary_;
  const std::vector<DeviceInfo> devices_;
  std::map<size_t, Question> questions_;    // by case
  std::map<std::string, Answers> answers_;  // by kind
  std::map<std::string, int> silences_;     // by device
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_SECOND_OPINIONS_H_
