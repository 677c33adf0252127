// Whose fault a wrong result is, as far as one GPU can tell: the same run again, bit for bit the same
// or not, and other algorithms on the same problem. Another GPU is the harness's to ask.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_SECOND_OPINION_H_
#define CUDNN_CI_PLUGINS_COMPUTE_SECOND_OPINION_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compute/candidate.h"
#include "compute/compute_findings.h"

namespace cudnn_ci {

// What repeating a wrong result showed.
struct SecondOpinion {
  int same = 0, different = 0;     // further runs whose result was the first one's to the bit, or was not
  bool deterministic = true;       // the algorithm promises the same bits
  std::string right;               // another algorithm whose result was right; empty: none was
  std::vector<std::string> wrong;  // others that were wrong as well
  std::string failure;             // why there was no more to be learned; empty: all was done
};

// One run on fresh memory: its outputs, and whether all of them are right. Throws what Candidate::Run throws.
struct Rerun {
  std::vector<unsigned char> output;
  bool right = false;
};
// Empty for a candidate that cannot be judged here (unsupported, too large, inexact).
using Rerunner = std::function<std::optional<Rerun>(Candidate&)>;

// Runs `suspect`, whose wrong result was `first`, twice more, and then others in their order, until one is
// right. `others` is asked for only then. Never throws: what fails is told.
SecondOpinion AskAgain(Candidate& suspect, const std::vector<unsigned char>& first, const Rerunner& run,
                       const std::function<Candidates()>& others);

// The finding that follows: `wrong` where another algorithm is right, kGpuComputesWrong where what promises
// the same bits gave others, else `unexplained`.
const char* FindingOf(const SecondOpinion& opinion, const ComputeFindings& findings);
// "2 of 2 repetitions gave the same bits; gemm is right".
std::string TextOf(const SecondOpinion& opinion);

// Of the wrong results of one case. The first few are asked about: hundreds that are wrong in a sweep would
// not tell more.
class CaseOpinions {
 public:
  explicit CaseOpinions(const ComputeFindings& findings) : findings_(findings) {}
  struct Said {
    const char* finding;
    std::string text;     // what follows in it
    std::string failure;  // empty, or what broke while it was asked
  };
  // As AskAgain; of a later one, what the last of those before it showed of the other algorithms.
  Said On(Candidate& suspect, const std::vector<unsigned char>& first, const Rerunner& run,
          const std::function<Candidates()>& others);

 private:
  const ComputeFindings findings_;
  int asked_ = 0;
  SecondOpinion last_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_SECOND_OPINION_H_
