#include "worker/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "base/fd.h"
#include "base/null_device.h"
#include "base/running_clock.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/time.h"
#include "worker/guard.h"

extern char** environ;

namespace cudnn_ci::worker {
namespace {

constexpr size_t kHead = 64 * 1024, kTail = 192 * 1024;
constexpr int64_t kEndingNs = 2'000'000'000;  // for a child that was killed; longer: it cannot be
constexpr int64_t kLookNs = 20'000'000;       // the exit is not pollable: the price of knowing it

std::vector<std::string> MergedEnvironment(const std::vector<std::string>& over) {
  std::vector<std::string> merged;
  for (char** e = environ; *e; ++e) {
    const std::string entry = *e;
    const std::string name = entry.substr(0, entry.find('=') + 1);
    bool replaced = false;
    for (const std::string& o : over) replaced |= o.compare(0, name.size(), name) == 0;
    if (!replaced) merged.push_back(entry);
  }
  merged.insert(merged.end(), over.begin(), over.end());
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>* strings) {
  std::vector<char*> out;
  for (std::string& s : *strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

pid_t Spawn(const ChildRequest& request, int output_fd) {
  std::vector<std::string> argv = {"cudnn-ci-worker", "--exec", std::to_string(getpid())};
  argv.insert(argv.end(), request.argv.begin(), request.argv.end());
  std::vector<std::string> env = MergedEnvironment(request.env);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  const Fd null = OpenNullDevice();
  posix_spawn_file_actions_adddup2(&actions, null.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, output_fd, 1);
  posix_spawn_file_actions_adddup2(&actions, output_fd, 2);
  // Its own process group, so that a timeout reaches what it started; the same session, so that the harness
  // does.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, Pointers(&argv).data(),
                                Pointers(&env).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    errno = error;
    return -1;
  }
  return pid;
}

// The first kHead and the last kTail bytes. Of what does not fit secrets are masked before it is cut: a check
// may take the last line alone, without the mark that says where.
void Cut(std::string* kept) {
  if (kept->size() > kHead + kTail) *kept = HeadAndTail(Secrets::OfThisProcess().Mask(*kept), kHead, kTail);
}

// In bounded memory.
void Append(std::string* kept, const char* data, size_t size) {
  kept->append(data, size);
  if (kept->size() > 2 * (kHead + kTail)) Cut(kept);
}

// What is there to read now, but not for ever: a child that writes as fast as it is read would keep us from
// its deadline.
void Drain(int fd, std::string* kept) {
  constexpr int kMostReads = 64;  // 1 MiB
  char buffer[16384];
  for (int i = 0; i < kMostReads; ++i) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n <= 0) return;
    Append(kept, buffer, static_cast<size_t>(n));
  }
}

// While SIGCHLD is ignored, children leave no exit status behind. What the check had set stands again at the
// end.
class ChildrenAreWaitedFor {
 public:
  ChildrenAreWaitedFor() {
    struct sigaction normal {};
    normal.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, nullptr, &before_);
    if (before_.sa_handler == SIG_IGN || (before_.sa_flags & SA_NOCLDWAIT) != 0)
      changed_ = sigaction(SIGCHLD, &normal, nullptr) == 0;
  }
  ~ChildrenAreWaitedFor() {
    if (changed_) sigaction(SIGCHLD, &before_, nullptr);
  }
  ChildrenAreWaitedFor(const ChildrenAreWaitedFor&) = delete;
  ChildrenAreWaitedFor& operator=(const ChildrenAreWaitedFor&) = delete;

 private:
  struct sigaction before_ {};
  bool changed_ = false;
};

// Of a group whose leader is gone: waits until those that were killed with it are gone too. They are children
// of this process, which adopts orphans; one that uses a GPU takes its time.
void AwaitGroup(pid_t group) {
  const int64_t deadline = MonotonicNs() + kEndingNs;
  for (pid_t pid = 0; MonotonicNs() < deadline;) {
    pid = waitpid(-group, nullptr, WNOHANG | __WALL);
    if (pid < 0 && errno != EINTR) return;
    if (pid == 0) poll(nullptr, 0, kLookNs / 1'000'000 / 4);
  }
}

enum class Waited { kRuns, kEnded, kTaken };

// Whether the child has ended; its zombie stays, and keeps its id. kTaken: another thread of the check has
// waited for it, and its status is lost.
Waited Look(pid_t pid) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return errno == EINTR ? Waited::kRuns : Waited::kTaken;
  return info.si_pid == pid ? Waited::kEnded : Waited::kRuns;
}

}  // namespace

bool RunChild(const ChildRequest& request, ChildOutcome* outcome) {
  if (request.argv.empty()) {
    errno = EINVAL;
    return false;
  }
  const ChildrenAreWaitedFor waited_for;
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return false;
  Fd read_end(fds[0]), write_end(fds[1]);
  fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  const pid_t pid = Spawn(request, write_end.get());
  if (pid < 0) return false;
  write_end.Close();

  RunningClock clock;  // while this process is stopped, the child most likely is, too
  const int64_t deadline =
      request.timeout_s > 0 ? clock.NowNs() + static_cast<int64_t>(request.timeout_s * 1e9) : INT64_MAX;
  Waited state = Waited::kRuns;
  int refused = 0;
  while (state == Waited::kRuns) {
    pollfd p{read_end.get(), POLLIN, 0};
    clock.Waiting(kLookNs);
    poll(&p, 1, kLookNs / 1'000'000);
    Drain(read_end.get(), &outcome->output);
    state = Look(pid);
    if (state != Waited::kRuns || clock.NowNs() <= deadline) continue;
    if (!std::exchange(outcome->timed_out, true)) {
      kill(-pid, SIGKILL);
      if (kill(pid, SIGKILL) != 0) refused = errno;
    }
    if (refused == 0 && clock.NowNs() <= deadline + kEndingNs) continue;
    Cut(&outcome->output);
    outcome->output += "\nprocess " + std::to_string(pid) + " cannot be ended" +
                       (refused != 0 ? std::string(": ") + strerror(refused) : "") + ", and still runs\n";
    return true;
  }
  if (state == Waited::kTaken) {
    errno = ECHILD;
    return false;
  }
  kill(-pid, SIGKILL);  // the zombie pins the id, so that this cannot hit a stranger
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  if (outcome->timed_out) AwaitGroup(pid);
  Drain(read_end.get(), &outcome->output);
  Cut(&outcome->output);
  if (WIFEXITED(status)) outcome->exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome->signal = WTERMSIG(status);
  return true;
}

void ExecChild(int argc, char** argv) {
  if (argc < 4) _exit(127);
  DieWithParent(static_cast<pid_t>(strtol(argv[2], nullptr, 10)));
  // The worker's socket to the harness is none of the command's business.
  CloseFrom(STDERR_FILENO + 1);
  ExecCommand(argv + 3);
}

void ExecCommand(char** argv) {
  execvp(argv[0], argv);
  fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
  _exit(127);
}

}  // namespace cudnn_ci::worker
