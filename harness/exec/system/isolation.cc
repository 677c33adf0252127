#include "exec/system/isolation.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <string>

#include "base/fd.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

// errno of the question; 0 where the answer is that it has no effect.
std::string Refused(const char* call) {
  return std::string(call) + ": " + (errno != 0 ? strerror(errno) : "without effect") + "; ";
}

bool MayHearSignals() {
  sigset_t none;
  sigemptyset(&none);
  return Fd(signalfd(-1, &none, SFD_CLOEXEC)).valid();
}

// The signal stays as it is.
bool MaySetDeathSignal() {
  int signal = 0;
  return prctl(PR_GET_PDEATHSIG, &signal) == 0 && prctl(PR_SET_PDEATHSIG, signal) == 0;
}

bool IsSubreaper() {
  int is = 0;
  return prctl(PR_GET_CHILD_SUBREAPER, &is) == 0 && is != 0;
}

}  // namespace

std::vector<Finding> RefusedIsolation() {
  std::vector<Finding> findings;
  errno = 0;
  if (prctl(PR_GET_DUMPABLE) != 0)
    findings.push_back(
        HarnessFinding("isolation-lost",
                       Refused("prctl(PR_SET_DUMPABLE)") +
                           "programs of the image can read and change the memory of cudnn-ci's processes"));
  std::vector<std::string> gaps;
  errno = 0;
  if (!IsSubreaper())
    gaps.push_back(Refused("prctl(PR_SET_CHILD_SUBREAPER)") +
                   "what a check leaves behind is neither noticed nor ended");
  errno = 0;
  if (!MaySetDeathSignal())
    gaps.push_back(Refused("prctl(PR_SET_PDEATHSIG)") +
                   "if the gate is killed, workers and commands end later or not at all");
  errno = 0;
  if (kill(getpid(), 0) != 0)
    gaps.push_back(Refused("kill") + "processes cannot be ended: time limits apply to verdicts only");
  errno = 0;
  if (!MayHearSignals()) gaps.push_back(Refused("signalfd") + "SIGINT and SIGTERM do not end the run");
  if (!gaps.empty()) findings.push_back(HarnessFinding("isolation-incomplete", Join(gaps, ". ")));
  return findings;
}

}  // namespace cudnn_ci
