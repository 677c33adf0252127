#include "worker/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc_self.h"

namespace cudnn_ci::worker {

void CloseFrom(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, 0u) == 0) return;
#endif
  // Kernels before 5.9 have no close_range.
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int end = limit.rlim_cur > 65536 ? 65536 : static_cast<int>(limit.rlim_cur);
  for (int fd = first; fd < end; ++fd) close(fd);
}

void DieWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The signal is sent at the parent's death only: one that died before the prctl never sends it.
  if (getppid() != parent) _exit(0);
}

void GuardProcess(pid_t parent, int first_closed, bool hidden) {
  // Raising one's own score needs no privilege, but the file, which is root's once we are hidden. The harness
  // must survive to report.
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (hidden) HideFromOthers();
  DieWithParent(parent);
  if (score >= 0) {
    [[maybe_unused]] const ssize_t n = write(score, "1000", 4);
    close(score);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  CloseFrom(first_closed);
  for (int fd = STDERR_FILENO + 1; fd < first_closed; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
}

bool HasLiveChildren() {
  for (;;) {
    // __WALL: also those that were started to die without a signal.
    const pid_t pid = waitpid(-1, nullptr, WNOHANG | __WALL);
    if (pid > 0 || (pid < 0 && errno == EINTR)) continue;
    return pid == 0 || errno != ECHILD;  // 0: alive ones; an error but ECHILD: it cannot be known
  }
}

}  // namespace cudnn_ci::worker
