// The seam to the operating system: starting, watching and ending processes. Implemented once
// (process_posix.cc, the only file that spawns) and wrapped in tests.
#ifndef CUDNN_CI_EXEC_SYSTEM_PROCESS_H_
#define CUDNN_CI_EXEC_SYSTEM_PROCESS_H_

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "base/embedded.h"
#include "base/fd.h"
#include "base/result.h"

namespace cudnn_ci {

struct SpawnRequest {
  std::vector<std::string> argv;  // argv[0] is the executable's path; it may be that of an embedded file
  std::vector<std::string> env;   // the whole environment, NAME=VALUE
  int control_fd = -1;            // becomes descriptor 3
  // Of embedded files (base/embedded.h): become descriptors 4, 5, ..., at most kMostHandedOver.
  std::vector<int> handed_over = {};
  int output_fd = -1;  // becomes 1 and 2; -1: the harness's own (for a debugger)

  static constexpr int kFirstHandedOver = 4;
  static constexpr size_t kMostHandedOver = EmbeddedFiles::kFirstDescriptor - kFirstHandedOver;
};

struct ExitStatus {
  bool signaled = false;
  int code = 0;  // exit status, or the signal
  bool core_dumped = false;
};
// "exit status 3", "SIGSEGV (Segmentation fault)".
std::string ToString(const ExitStatus& status);

class ProcessControl {
 public:
  virtual ~ProcessControl() = default;
  // Starts a process as leader of a new session, with an empty signal mask, default signals and stdin from
  // /dev/null.
  virtual Result<pid_t> Spawn(const SpawnRequest& request) = 0;
  // Whether the process has ended; leaves it a zombie, whose id cannot be taken by another.
  virtual bool HasExited(pid_t pid) = 0;
  // Signals the process's group (and the process, should it have left its group).
  virtual void Signal(pid_t pid, int signal) = 0;
  // Collects an ended process. Only after HasExited. An exit status of -1: the system does not tell how it
  // ended.
  virtual ExitStatus Reap(pid_t pid) = 0;
  // Processes that are ours and no worker: never swept.
  void Spare(pid_t pid) { spared_.insert(pid); }
  void Unspare(pid_t pid) { spared_.erase(pid); }
  // Kills and collects what reparented to us and is none of `keep` nor spared; true if any was found. Call
  // again until false: children of the killed come to us in turn. One that may not be killed is found once.
  virtual bool SweepStrays(const std::set<pid_t>& keep) = 0;
  // Ends what is left, for at most `limit_s`, and tells what still runs: "process 17 (su, of user 0):
  // Operation not permitted".
  virtual std::vector<std::string> EndStrays(double limit_s) = 0;

 protected:
  std::set<pid_t> spared_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SYSTEM_PROCESS_H_
