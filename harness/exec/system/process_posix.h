// Processes as Linux has them.
#ifndef CUDNN_CI_EXEC_SYSTEM_PROCESS_POSIX_H_
#define CUDNN_CI_EXEC_SYSTEM_PROCESS_POSIX_H_

#include <map>
#include <string>
#include <vector>

#include "exec/system/process.h"

namespace cudnn_ci {

class PosixProcessControl : public ProcessControl {
 public:
  // Makes this process a child subreaper, so that daemons of dead workers come to us.
  PosixProcessControl();
  Result<pid_t> Spawn(const SpawnRequest& request) override;
  bool HasExited(pid_t pid) override;
  void Signal(pid_t pid, int signal) override;
  ExitStatus Reap(pid_t pid) override;
  bool SweepStrays(const std::set<pid_t>& keep) override;
  std::vector<std::string> EndStrays(double limit_s) override;

 private:
  std::map<pid_t, std::string> refused_;  // whom we may not kill, and why
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SYSTEM_PROCESS_POSIX_H_
