#include "nccl/forked.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/path.h"

namespace cudnn_ci {

pid_t ForkWith(int own) {
  const pid_t parent = getpid(), forked = fork();
  if (forked != 0) return forked;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  for (const std::string& name : NamesIn("/proc/self/fd"))
    if (const int fd = std::atoi(name.c_str()); fd > STDERR_FILENO && fd != own) close(fd);
  return 0;
}

}  // namespace cudnn_ci
