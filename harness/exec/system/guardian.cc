#include "exec/system/guardian.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/null_device.h"
#include "base/time.h"

extern char** environ;

namespace cudnn_ci {
namespace {

std::string& Mark() {
  static std::string mark;
  return mark;
}

}  // namespace

std::string RunMark() { return Mark().empty() ? std::to_string(getpid()) : Mark(); }

Guardian::Guardian(ProcessControl* control, const std::string& worker_path,
                   const std::vector<std::string>& scratch_dirs)
    : control_(control) {
  const std::string mark = Mark() = std::to_string(getpid()) + "-" + std::to_string(MonotonicNs());
  setenv("CUDNN_CI_RUN", mark.c_str(), 1);
  // It must hold none of our outputs: a pipeline waits for their end.
  const Fd null = OpenNullDevice();
  SpawnRequest request;
  request.argv = {worker_path, "--guard", std::to_string(getpid()), mark};
  request.argv.insert(request.argv.end(), scratch_dirs.begin(), scratch_dirs.end());
  for (char** e = environ; *e; ++e) request.env.emplace_back(*e);
  request.control_fd = null.get();
  request.output_fd = null.get();
  if (const Result<pid_t> pid = control_->Spawn(request); pid.ok()) {
    pid_ = *pid;
    control_->Spare(pid_);
  }
}

Guardian::~Guardian() {
  if (pid_ < 0) return;
  control_->Signal(pid_, SIGKILL);
  // Where the system refuses the signal, it ends with this process, as if that had been killed.
  constexpr int kLooks = 2000, kPauseUs = 1000;
  for (int i = 0; i < kLooks && !control_->HasExited(pid_); ++i) usleep(kPauseUs);
  if (control_->HasExited(pid_)) control_->Reap(pid_);
}

}  // namespace cudnn_ci
