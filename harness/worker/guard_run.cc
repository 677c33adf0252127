#include "worker/guard_run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "base/file.h"
#include "base/proc_self.h"
#include "base/remove_tree.h"

namespace cudnn_ci::worker {
namespace {

constexpr size_t kEnvironmentBytes = 4 << 20;  // more than the kernel's limit for arguments and environment

// Variables and arguments stand one after the other, each ended by a NUL.
bool Holds(pid_t pid, const char* file, const std::string& text) {
  const std::string all = '\0' + ReadSmallFile("/proc/" + std::to_string(pid) + file, kEnvironmentBytes);
  return all.find('\0' + text + '\0') != std::string::npos;
}

// Of a process that hides, as workers and what they fork do, the environment is root's to read; the arguments
// are everybody's.
bool Carries(pid_t pid, const std::string& mark) {
  return Holds(pid, "/environ", "CUDNN_CI_RUN=" + mark) || Holds(pid, "/cmdline", mark);
}

bool KillMarked(const std::string& mark) {
  bool found = false;
  DIR* proc = ProcIsOurs() ? opendir("/proc") : nullptr;
  if (!proc) return false;
  while (const dirent* entry = readdir(proc)) {
    const auto pid = static_cast<pid_t>(strtol(entry->d_name, nullptr, 10));
    if (pid <= 0 || pid == getpid() || !Carries(pid, mark)) continue;
    found = true;
    kill(pid, SIGKILL);
  }
  closedir(proc);
  return found;
}

// The kernel's word of the death is SIGCONT, which also wakes a stopped process. Where the
// system refuses such a word, a look each second finds it.
void WaitForDeathOf(pid_t parent) {
  sigset_t death;
  sigemptyset(&death);
  sigaddset(&death, SIGCONT);
  sigprocmask(SIG_BLOCK, &death, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGCONT);
  const timespec second{1, 0};
  while (getppid() == parent)
    if (sigtimedwait(&death, nullptr, &second) < 0 && errno != EAGAIN) nanosleep(&second, nullptr);
}

}  // namespace

void GuardRun(int argc, char** argv) {
  if (argc < 4) _exit(64);
  HideFromOthers();
  WaitForDeathOf(static_cast<pid_t>(strtol(argv[2], nullptr, 10)));
  const std::string mark = argv[3];
  // What is being born while we look is found the next time; a few clean looks, and no process is left to
  // give birth.
  for (int clean = 0, looks = 0; clean < 5 && looks < 2000; ++looks) {
    clean = KillMarked(mark) ? 0 : clean + 1;
    usleep(5'000);
  }
  for (int i = 4; i < argc; ++i) {
    const std::string scratch = argv[i];
    // Only what has the shape of the folder the harness makes.
    if (scratch.find("/cudnn-ci-") != std::string::npos) RemoveTree(scratch, 600);
  }
  _exit(0);
}

}  // namespace cudnn_ci::worker
