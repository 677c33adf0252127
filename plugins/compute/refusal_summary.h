// Why a problem has no algorithm: what each that was asked answered, counted by what the answers say. Judges
// nothing; must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_REFUSAL_SUMMARY_H_
#define CUDNN_CI_PLUGINS_COMPUTE_REFUSAL_SUMMARY_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/cudnn_failure.h"
#include "compute/candidate.h"

namespace cudnn_ci {

class RefusalSummary {
 public:
  RefusalSummary() = default;
  // `answer` stands for all where no other is added.
  explicit RefusalSummary(const CudnnFailure& answer) : said_(answer.cause()) {}

  // What the choice of this name answered, or came to.
  void Add(const std::string& name, const CudnnFailure& answer);
  void Add(const std::string& name, RefusalCause cause, const std::string& words);

  // Asks these, whom nothing proposes, to prepare themselves, in their order and as long as `go_on` says so,
  // and lets go of each. Those that agree are told with their workspace; one that wants more than
  // `free_bytes` lacks memory. Throws what Candidate::Prepare does, but CudnnFailure.
  void AskEach(Candidates* candidates, std::size_t free_bytes, const std::function<bool()>& go_on);
  // The same for some seconds, but that the last one may take its time. What cannot be described, so that
  // `open` throws CudnnFailure, can be asked of none.
  void Ask(const std::function<Candidates()>& open, std::size_t free_bytes);

  // "cause type or architecture 3, not said 17; ", to begin a sentence with; empty where nothing was added.
  std::string Head() const;
  // What AskEach was told: "; 20 asked one by one: layout 3 (engine 4: cudnnBackendFinalize(engine): 3004
  // ...)", the first of each cause with its words. Empty where nobody was asked.
  std::string Tail() const;

  // Whether one that was asked agreed.
  bool offered() const { return offered_.count > 0; }
  // The first answer that speaks of an installation that is not whole: that is no lack of support.
  const std::optional<CudnnFailure>& broken() const { return broken_; }

 private:
  struct Group {
    std::size_t count = 0;
    std::string first;  // its name and its words
  };
  static void Count(const std::string& name, const std::string& words, Group* group);

  std::optional<RefusalCause> said_;
  std::map<RefusalCause, Group> causes_;
  Group offered_;
  std::optional<CudnnFailure> broken_;
  std::size_t asked_ = 0, there_were_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_REFUSAL_SUMMARY_H_
