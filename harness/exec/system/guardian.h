// The process that cleans up after a harness that was killed. Workers die with it (PDEATHSIG), but that is
// not inherited by what they forked: a check's child would live on, with the GPU in its hands. The guardian
// is one small process a run. It waits for the harness's death, also if it was stopped, then kills everything
// that carries the run's mark.
#ifndef CUDNN_CI_EXEC_SYSTEM_GUARDIAN_H_
#define CUDNN_CI_EXEC_SYSTEM_GUARDIAN_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "exec/system/process.h"

namespace cudnn_ci {

// What tells processes of this run from others': in the environment of all, and in the arguments of workers,
// whose environment is root's to read. Begins with the pid of this process.
std::string RunMark();

class Guardian {
 public:
  // Marks the environment of this process, and so of all it starts from now on, and starts the guardian
  // (cudnn-ci-worker --guard). Without one (no process to be had) the run goes on; a worker's start will say
  // why.
  // It removes `scratch_dirs`, too, those that are there then, which a killed harness cannot: it is started
  // before any of them is made.
  Guardian(ProcessControl* control, const std::string& worker_path,
           const std::vector<std::string>& scratch_dirs);
  ~Guardian();  // ends the guardian: the harness has swept for itself
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  pid_t pid() const { return pid_; }  // -1: there is none

 private:
  ProcessControl* const control_;
  pid_t pid_ = -1;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SYSTEM_GUARDIAN_H_
