// What an attempt counts for: the rules by which a verdict is believed, confirmed, retried or continued.
// Pure. Two principles: only passes and allowed skips may come from a shared process, and no second look
// ever turns red into green.
#ifndef CUDNN_CI_EXEC_ATTEMPTS_H_
#define CUDNN_CI_EXEC_ATTEMPTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exec/worker.h"
#include "model/plan.h"

namespace cudnn_ci {

// What is known of a case that did not simply pass.
struct CaseHistory {
  int attempts = 0;  // finished ones
  int retries = 0;
  double seconds = 0;
  std::vector<std::string> skip_steps;     // that ended earlier attempts
  std::optional<AttemptResult> suspicion;  // what the shared worker said, being confirmed
  std::optional<AttemptResult> decisive;   // the first bad result that counts
  std::vector<Flag> flags;
};

enum class Next {
  kFinal,     // *outcome and findings are the case's
  kConfirm,   // run again alone, in a fresh process
  kContinue,  // run again without the steps that ended it
  kRetry      // run again because --retries allows it
};

struct Decision {
  Next next = Next::kFinal;
  Outcome outcome;                // of kFinal
  std::vector<Finding> findings;  // to add to those the check reported
};

class AttemptRules {
 public:
  static constexpr int kConfirmations = 3;  // of one kind, then later ones are taken as they are
  static constexpr int kStepReruns = 8;

  // `confirm`: what a shared process says against a case is looked at again, alone.
  AttemptRules(int retries, bool confirm) : retries_(retries), confirm_(confirm) {}

  // `history` is the case's; updated.
  Decision Judge(const Case& c, const AttemptResult& result, CaseHistory* history);

  // Whether a case that waits for its confirmation still needs it: others of its kind may have been confirmed
  // meanwhile. If not, it is final as it stands, and marked so.
  bool StillToConfirm(const Case& c, CaseHistory* history) const;

 private:
  bool IsKnown(const Case& c, const AttemptResult& result) const;
  Decision AfterShared(const Case& c, const AttemptResult& result, CaseHistory* history);
  Decision Alone(const Case& c, const AttemptResult& result, CaseHistory* history);

  const int retries_;
  const bool confirm_;
  std::map<std::string, int> confirmed_;  // by check, outcome, slug or signal
};

// A pass, or a skip the matrix allows for this case.
bool IsGood(const Case& c, const Outcome& outcome);

// The findings the harness owes a case: every case that did not pass carries at least one.
// `first_expectation` is the text of the first that did not hold.
std::vector<Finding> OwedFindings(const Case& c, const Outcome& outcome, const std::vector<Finding>& said,
                                  const std::string& first_expectation);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_ATTEMPTS_H_
