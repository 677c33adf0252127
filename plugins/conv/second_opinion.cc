#include "conv/second_opinion.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>

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

void RunOthers(const Candidate& suspect, const RunAgain& run, const Candidates& others,
               Repetition* repetition) {
  for (const std::unique_ptr<Candidate>& other : others.list) {
    if (repetition->wrong.size() == kOthers) return;
    if (AlgorithmOf(other->Name()) == AlgorithmOf(suspect.Name())) continue;
    const std::optional<Rerun> rerun = run(*other);
    if (!rerun) continue;
    if (rerun->right) {
      repetition->right = other->Name();
      return;
    }
    repetition->wrong.push_back(other->Name());
  }
}

}  // namespace

Repetition Repeat(Candidate& suspect, const std::vector<unsigned char>& first, const RunAgain& run,
                  const std::function<Candidates()>& others) {
  Repetition repetition;
  repetition.deterministic = suspect.Deterministic();
  try {
    for (int i = 0; i < kRepeats; ++i)
      if (const std::optional<Rerun> rerun = run(suspect))
        ++(rerun->output == first ? repetition.same : repetition.different);
    RunOthers(suspect, run, others(), &repetition);
  } catch (const std::exception& e) {
    repetition.failure = e.what();
  }
  return repetition;
}

const char* SlugOf(const Repetition& r) {
  if (r.different > 0 && r.deterministic) return kGpuComputesWrong;
  return r.right.empty() ? kWrongValueUnexplained : kWrongValue;
}

std::string TextOf(const Repetition& r) {
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
  char text[24];
  snprintf(text, sizeof text, "0x%0*llx", static_cast<int>(2 * SizeOf(type)),
           static_cast<unsigned long long>(bits));
  return text;
}

}  // namespace cudnn_ci
