#include "conv/second_opinion.h"

#include <cstdint>
#include <cstring>
#include <exception>

#include "common/numeric/repeat.h"
#include "conv/findings.h"

namespace cudnn_ci {
namespace {

constexpr int kRepeats = 2;
constexpr std::size_t kOthers = 4;  // that ran; the next ones would hardly tell more

// An engine by whichever list it came is one algorithm: "heuristics A 0, engine 17" is "engine 17".
std::string AlgorithmOf(const std::string& name) {
  const std::size_t engine = name.rfind("engine ");
  return engine == std::string::npos ? name : name.substr(engine);
}

void RunOthers(const Candidate& suspect, const Rerunner& run, const Candidates& others,
               SecondOpinion* opinion) {
  for (const std::unique_ptr<Candidate>& other : others.list) {
    if (opinion->wrong.size() == kOthers) return;
    if (AlgorithmOf(other->Name()) == AlgorithmOf(suspect.Name())) continue;
    const std::optional<Rerun> rerun = run(*other);
    if (!rerun) continue;
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

const char* SlugOf(const SecondOpinion& r) {
  if (r.different > 0 && r.deterministic) return kGpuComputesWrong;
  return r.right.empty() ? kWrongValueUnexplained : kWrongValue;
}

std::string TextOf(const SecondOpinion& r) {
  std::string text = std::to_string(r.same) + " of " + std::to_string(r.same + r.different) +
                     " repetitions gave the same bits";
  if (!r.deterministic) text += ", which this algorithm does not promise";
  if (!r.right.empty()) text += "; " + r.right + " is right";
  std::string wrong;
  for (const std::string& name : r.wrong) wrong += (wrong.empty() ? "" : ", ") + name;
  if (!wrong.empty()) text += "; wrong as well: " + wrong;
  if (r.right.empty() && wrong.empty()) text += "; no other algorithm could be judged";
  if (!r.failure.empty()) text += "; then " + r.failure;
  return text;
}

std::string BitsOf(DataType type, double value) {
  std::uint64_t bits = 0;
  unsigned char element[sizeof bits] = {};
  Store(type, value, element);
  std::memcpy(&bits, element, sizeof bits);  // the processors that there are GPUs for are little-endian
  return BitsText(type, bits);
}

}  // namespace cudnn_ci
