// The counts, and their sentences.
#include "compute/refusal_summary.h"

#include <chrono>
#include <memory>

#include "common/host_memory.h"

namespace cudnn_ci {
namespace {

// Of one answer: the library's last error alone can be 2 KiB, and what counts stands in front.
constexpr std::size_t kMostWords = 240;
// An engine whose kernels are compiled first takes up to two of them.
constexpr std::chrono::seconds kLongestAsking{5};

std::string Bounded(const std::string& text) {
  return text.size() <= kMostWords ? text : text.substr(0, kMostWords) + "...";
}

// INCOMPATIBLE_CUDA_DRIVER, INCOMPATIBLE_CUDART, SUBLIBRARY_UNAVAILABLE.
bool IsOfOneEngine(int status) { return status == 3005 || status == 3006 || status == 3009; }

void Append(const std::string& what, std::string* list) { *list += (list->empty() ? "" : ", ") + what; }

}  // namespace

void RefusalSummary::Count(const std::string& name, const std::string& words, Group* group) {
  if (group->count++ == 0) group->first = name + ": " + Bounded(words);
}

void RefusalSummary::Add(const std::string& name, const CudnnFailure& answer) {
  if (answer.cause() == RefusalCause::kInstallation && !broken_) broken_ = answer;
  Add(name, answer.cause(), answer.what());
}

void RefusalSummary::Add(const std::string& name, RefusalCause cause, const std::string& words) {
  Count(name, words, &causes_[cause]);
}

void RefusalSummary::AskEach(Candidates* candidates, std::size_t free_bytes,
                             const std::function<bool()>& go_on) {
  there_were_ = candidates->list.size();
  for (std::unique_ptr<Candidate>& candidate : candidates->list) {
    if (!go_on()) return;
    ++asked_;
    const std::string name = candidate->Name();
    try {
      const std::size_t bytes = candidate->Prepare();
      const std::string words = "workspace " + std::to_string(bytes) + " B, " +
                                MebiBytes(static_cast<double>(free_bytes)) + " free";
      if (bytes > free_bytes)
        Add(name, RefusalCause::kMemory, words);
      else
        Count(name, words, &offered_);
    } catch (const CudnnFailure& e) {
      // Nobody proposed it: that one engine of many wants a newer driver or a part that this package goes
      // without is no fault of the installation.
      if (IsOfOneEngine(e.status()))
        Add(name, e.cause(), e.what());
      else
        Add(name, e);
    }
    candidate.reset();  // plans of a hundred engines need not live side by side
  }
}

void RefusalSummary::Ask(const std::function<Candidates()>& open, std::size_t free_bytes) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + kLongestAsking;
  std::optional<Candidates> candidates;
  try {
    candidates = open();
  } catch (const CudnnFailure&) {
    return;
  }
  AskEach(&*candidates, free_bytes, [until] { return Clock::now() < until; });
}

std::string RefusalSummary::Head() const {
  std::string list;
  if (offered()) Append("offered when asked " + std::to_string(offered_.count), &list);
  for (const auto& [cause, group] : causes_)
    Append(TextOf(cause) + (" " + std::to_string(group.count)), &list);
  if (list.empty() && said_) list = TextOf(*said_);
  return list.empty() ? "" : "cause " + list + "; ";
}

std::string RefusalSummary::Tail() const {
  if (there_were_ == 0) return "";
  std::string list;
  const auto tell = [&list](const std::string& what, const Group& group) {
    Append(what + " " + std::to_string(group.count) + " (" + group.first + ")", &list);
  };
  if (offered()) tell("offered when asked", offered_);
  for (const auto& [cause, group] : causes_) tell(TextOf(cause), group);
  const bool all = asked_ == there_were_;
  return "; " + std::to_string(asked_) + (all ? "" : " of " + std::to_string(there_were_)) +
         " asked one by one" + (all ? "" : ", then time ran out") + (list.empty() ? "" : ": " + list);
}

}  // namespace cudnn_ci
