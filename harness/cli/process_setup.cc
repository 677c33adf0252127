#include "cli/process_setup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/null_device.h"

namespace cudnn_ci {
namespace {

constexpr rlim_t kFiles = 65536;      // three a worker; more would slow down programs that walk over all
constexpr rlim_t kStack = 8ul << 20;  // the usual one: workers and their threads inherit it

// A descriptor 0 to 2 that is closed would be given to the next file opened, and printed into.
void OpenStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest that is free: this very one.
    const int opened = OpenNullDevice().Release();
    if (opened >= 0) fcntl(opened, F_SETFD, 0);
  }
}

// A shell may have ignored or blocked any of them for its children. An ignored SIGCHLD would take the exit
// status of every worker with it. Those of job control and SIGHUP (nohup) are the caller's to choose.
void ResetSignals() {
  for (int s = 1; s < NSIG; ++s) {
    const bool callers = s == SIGHUP || s == SIGTSTP || s == SIGTTIN || s == SIGTTOU;
    if (!callers && s != SIGKILL && s != SIGSTOP) signal(s, SIG_DFL);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file limit then is an error of write(2), told like a full disk
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&set, s);
  sigprocmask(SIG_SETMASK, &set, nullptr);
}

// The soft limit, up to `wanted` and the hard one. Never lowers it.
void Raise(int resource, rlim_t wanted) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

}  // namespace

void PrepareProcess() {
  OpenStandardDescriptors();
  ResetSignals();
  const mode_t inherited = umask(S_IWGRP | S_IWOTH);
  umask((inherited & (S_IRWXG | S_IRWXO)) | S_IWGRP | S_IWOTH);
  Raise(RLIMIT_NOFILE, kFiles);
  Raise(RLIMIT_STACK, kStack);
}

std::string MissingMount() {
  if (access("/proc/self/stat", R_OK) == 0) return {};
  return "/proc is not mounted: without it what checks leave behind can be neither found nor ended; mount it "
         "(mount "
         "-t proc proc /proc)";
}

}  // namespace cudnn_ci
