#include "cli/process_setup.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>

#include "base/embedded.h"
#include "base/null_device.h"
#include "base/proc_self.h"

namespace cudnn_ci {
namespace {

constexpr rlim_t kFiles = 65536;       // three a worker; more would slow down programs that walk over all
constexpr rlim_t kStack = 8ul << 20;   // the usual one: workers and their threads inherit it
constexpr rlim_t kFewestFiles = 64;    // for eight processes at once, their sockets, pipes and folders
constexpr rlim_t kEmbeddedFiles = 16;  // more, for worker and plugins that the executable carries
constexpr rlim_t kFewestFilesForReports = 16;  // locks, journal, a report and its folder
constexpr rlim_t kSmallestStack = 1ul << 20;   // below it libraries crash that are right
// The driver reserves addresses for all memory of host and GPUs; cuDNN's libraries alone take more than one
// GiB.
constexpr rlim_t kFewestAddresses = 16ul << 30;

bool g_stdout_was_closed = false;

// A descriptor 0 to 2 that is closed would be given to the next file opened, and printed into.
void OpenStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    if (fd == STDOUT_FILENO) g_stdout_was_closed = true;
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
  for (const int s : kHandledSignals) sigaddset(&set, s);
  sigprocmask(SIG_SETMASK, &set, nullptr);
  // Timers survive an exec. Those of processor time are not meant for us; SIGALRM ends the run, as whoever
  // said `alarm` before the exec wants it.
  const itimerval off{};
  setitimer(ITIMER_VIRTUAL, &off, nullptr);
  setitimer(ITIMER_PROF, &off, nullptr);
}

// The soft limit, up to `wanted` and the hard one. Never lowers it. The resources are an enum of glibc's,
// numbers of musl's.
template <class Resource>
void Raise(Resource resource, rlim_t wanted) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(resource, &limit);
}

template <class Resource>
rlim_t SoftLimit(Resource resource) {
  rlimit limit{};
  const bool known = getrlimit(resource, &limit) == 0;
  return known ? limit.rlim_cur : RLIM_INFINITY;
}

std::string TooFewFiles(rlim_t least) {
  const rlim_t files = SoftLimit(RLIMIT_NOFILE);
  if (files >= least) return {};
  return "the runner's limit of open files is " + std::to_string(files) + "; at least " +
         std::to_string(least) + " are needed: raise it (ulimit -Hn, docker run --ulimit nofile)";
}

// With one of these the loader prints something and ends, and the program does not run.
bool KeepsFromRunning(const std::string& name, const std::string& value) {
  return name.compare(0, 9, "LD_TRACE_") == 0 || name == "LD_VERIFY" ||
         (name == "LD_DEBUG" && value.find("help") != std::string::npos);
}

std::vector<std::string>& Removed() {
  static std::vector<std::string> names;
  return names;
}

void RemoveVariables() {
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string variable = *e;
    const size_t equals = std::min(variable.find('='), variable.size() - 1);
    if (KeepsFromRunning(variable.substr(0, equals), variable.substr(equals + 1)))
      Removed().push_back(variable.substr(0, equals));
  }
  for (const std::string& name : Removed()) unsetenv(name.c_str());
}

}  // namespace

bool StandardOutputWasClosed() { return g_stdout_was_closed; }

const std::vector<std::string>& RemovedVariables() { return Removed(); }

std::string LowLimit() {
  const rlim_t files = kFewestFiles + (Embedded() != nullptr ? kEmbeddedFiles : 0);
  if (std::string few = TooFewFiles(files); !few.empty()) return few;
  if (const rlim_t addresses = SoftLimit(RLIMIT_AS); addresses < kFewestAddresses) {
    return "the runner's limit of address space is " + std::to_string(addresses >> 20) + " MiB; at least " +
           std::to_string(kFewestAddresses >> 20) +
           " MiB are needed: raise it (ulimit -Hv), and limit the container's memory instead";
  }
  const rlim_t stack = SoftLimit(RLIMIT_STACK);
  if (stack >= kSmallestStack) return {};
  return "the runner's limit of the stack is " + std::to_string(stack >> 10) + " KiB; at least " +
         std::to_string(kSmallestStack >> 10) +
         " KiB are needed: raise it (ulimit -Hs, docker run --ulimit stack)";
}

std::string NoFilesForReports() { return TooFewFiles(kFewestFilesForReports); }

void PrepareProcess() {
  HideFromOthers();
  OpenStandardDescriptors();
  ResetSignals();
  const mode_t inherited = umask(S_IWGRP | S_IWOTH);
  umask((inherited & (S_IRWXG | S_IRWXO)) | S_IWGRP | S_IWOTH);
  Raise(RLIMIT_NOFILE, kFiles);
  Raise(RLIMIT_STACK, kStack);
  Raise(RLIMIT_AS, RLIM_INFINITY);
  RemoveVariables();
}

std::string MissingMount() {
  if (ProcIsOurs()) return {};
  return std::string(access("/proc/self/stat", R_OK) == 0 ? "/proc is of another PID namespace"
                                                          : "/proc is not mounted") +
         ": cudnn-ci needs it to find and end the processes that checks leave behind; mount it (mount -t proc "
         "proc /proc)";
}

}  // namespace cudnn_ci
