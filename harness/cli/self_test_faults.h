// The faults that `self-test` injects, as data: what, into which case, and what the gate must say of it. The
// one place that knows; starts nothing.
#ifndef CUDNN_CI_CLI_SELF_TEST_FAULTS_H_
#define CUDNN_CI_CLI_SELF_TEST_FAULTS_H_

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace cudnn_ci {

// How a fault comes into the processes of a run.
enum class InjectedBy {
  kPreload,      // harness/plant, in LD_PRELOAD
  kLibraryPath,  // a damaged library in a folder before LD_LIBRARY_PATH
  kVisibility,   // CUDA_VISIBLE_DEVICES set empty
};

// A fault and one case that it can be injected into. Faults of one name are the same for other cases: the
// first whose case is green on this machine is injected.
struct Fault {
  const char* name;   // what the command line and the output call it
  const char* what;   // in words
  const char* check;  // the matrix has one case of it
  InjectedBy by;
  const char* order;  // of kPreload: "crash FUNCTION", see harness/plant; else empty
  // What the gate has to say: exit status, the case's outcome as report.json names it, the finding.
  int exit_code;
  const char* outcome;
  const char* blame;
  const char* slug;
};

const std::vector<Fault>& Faults();
// Each name once, in order.
std::vector<std::string> FaultNames();

// The matrix of all runs: one small case of each check that a fault is injected into, and what they rest on.
// Says nothing of an image without toolkit or cuDNN: what looks at them is skipped there. `timeout_s` is the
// deadline of `check`'s case; 0: the checks' own deadlines.
std::string SelfTestMatrix(const std::string& check, double timeout_s);

// What a spoiled run gets, and by which it can be told afterwards that the fault was really there.
struct Injection {
  std::map<std::string, std::string> environment;  // set instead of, or before, what is inherited
  std::string mark;      // a file that is not empty once the fault struck; empty: there is none
  std::string evidence;  // words that the finding's detail then holds; empty: there are none
};

// Prepares a fault below `folder`, which exists and is the run's own. `preload` is the library of
// harness/plant, `cudnn` the main library of the image's cuDNN. Errors say why it cannot be injected here.
Result<Injection> Inject(const Fault& fault, const std::string& folder, const std::string& preload,
                         const std::string& cudnn);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_SELF_TEST_FAULTS_H_
