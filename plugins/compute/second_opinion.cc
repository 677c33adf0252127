#include "compute/second_opinion.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "common/joined.h"
#include "model/record/finding_ids.h"

namespace cudnn_ci {
namespace {

constexpr int kRepeats = 2;
constexpr std::size_t kOthers = 4;  // that ran; the next ones would hardly tell more
constexpr int kAskedOfCase = 3;     // likewise

// An engine by whichever list and in whichever configuration it came is one algorithm: "engine 17" is
// "heuristics A 0, engine 17", and "eng17" is "fallback 1, eng17_k24=26", as cudnn-frontend names it.
std::string AlgorithmOf(const std::string& name) {
  constexpr char kDigits[] = "0123456789";
  for (const char* const word : {"engine ", "eng"}) {
    const std::size_t at = name.rfind(word);
    if (at == std::string::npos) continue;
    const std::size_t number = at + std::string(word).size();
    const std::size_t end = std::min(name.find_first_not_of(kDigits, number), name.size());
    if (end > number) return "engine " + name.substr(number, end - number);
  }
  return name;
}

// What fails is told with who it was.
std::optional<Rerun> RunNamed(Candidate& other, const Rerunner& run) try {
  return run(other);
} catch (const std::exception& e) {
  throw std::runtime_error(other.Name() + ": " + e.what());
}

void RunOthers(const Candidate& suspect, const Rerunner& run, Candidates others, SecondOpinion* opinion) {
  // Configurations of one engine are one witness.
  std::set<std::string> heard = {AlgorithmOf(suspect.Name())};
  for (std::size_t i = 0; Candidate* const other = others.At(i); ++i) {
    if (opinion->wrong.size() == kOthers) return;
    const std::string algorithm = AlgorithmOf(other->Name());
    if (heard.count(algorithm) > 0) continue;
    const std::optional<Rerun> rerun = RunNamed(*other, run);
    if (!rerun) continue;
    heard.insert(algorithm);
    if (rerun->right) {
      opinion->right = other->Name();
      return;
    }
    opinion->wrong.push_back(other->Name());
  }
}

}  // namespace

SecondOpinion AskAgain(Candidate& suspect, const std::vector<unsigned char>& first, const Rerunner& run,
                       const std::function<Candidates()>& others) {
  SecondOpinion opinion;
  opinion.deterministic = suspect.deterministic();
  try {
    for (int i = 0; i < kRepeats; ++i)
      if (const std::optional<Rerun> rerun = run(suspect))
        ++(rerun->output == first ? opinion.same : opinion.different);
    RunOthers(suspect, run, others(), &opinion);
  } catch (const std::exception& e) {
    opinion.failure = e.what();
  }
  return opinion;
}

const char* FindingOf(const SecondOpinion& r, const ComputeFindings& findings) {
  if (r.different > 0 && r.deterministic) return kGpuComputesWrong;
  return r.right.empty() ? findings.unexplained : findings.wrong;
}

std::string TextOf(const SecondOpinion& r) {
  std::string text = std::to_string(r.same) + " of " + std::to_string(r.same + r.different) +
                     " repetitions gave the same bits";
  if (!r.deterministic) text += ", which this algorithm does not promise";
  if (!r.right.empty()) text += "; " + r.right + " is right";
  const std::string wrong = Joined(r.wrong);
  if (!wrong.empty()) text += "; also wrong: " + wrong;
  if (r.right.empty() && wrong.empty()) text += "; no other algorithm could be tested";
  if (!r.failure.empty()) text += "; then " + r.failure;
  return text;
}

CaseOpinions::Said CaseOpinions::On(Candidate& suspect, const std::vector<unsigned char>& first,
                                    const Rerunner& run, const std::function<Candidates()>& others) {
  if (asked_++ < kAskedOfCase) {
    last_ = AskAgain(suspect, first, run, others);
    return {FindingOf(last_, findings_), TextOf(last_), last_.failure};
  }
  // That another one gave other bits says nothing of this one, and none is its own witness.
  const bool right = FindingOf(last_, findings_) == std::string(findings_.wrong) &&
                     AlgorithmOf(last_.right) != AlgorithmOf(suspect.Name());
  return {right ? findings_.wrong : findings_.unexplained,
          "not repeated; the last one that was repeated: " + TextOf(last_), ""};
}

}  // namespace cudnn_ci
