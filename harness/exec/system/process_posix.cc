#include "exec/system/process_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/argv.h"
#include "base/null_device.h"
#include "base/process_room.h"
#include "base/signal_text.h"
#include "base/text.h"
#include "base/time.h"
#include "exec/system/proc.h"
#include "image/elf/elf_interpreter.h"

namespace cudnn_ci {
namespace {

constexpr int kControlFd = 3;

struct SpawnAttributes {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnAttributes() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnAttributes() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
};

}  // namespace

std::string ToString(const ExitStatus& status) {
  if (!status.signaled) return "exit status " + std::to_string(status.code);
  return SignalText(status.code);
}

PosixProcessControl::PosixProcessControl() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // An entrypoint may have started services before it became us.
  for (const pid_t child : ChildrenOf(0)) Spare(child);
}

Result<pid_t> PosixProcessControl::Spawn(const SpawnRequest& request) {
  SpawnAttributes a;
  const Fd null = OpenNullDevice();
  if (!null.valid()) return Error{std::string("no descriptor for the standard input: ") + strerror(errno)};
  posix_spawn_file_actions_adddup2(&a.actions, null.get(), 0);
  if (request.output_fd >= 0) {
    posix_spawn_file_actions_adddup2(&a.actions, request.output_fd, 1);
    posix_spawn_file_actions_adddup2(&a.actions, request.output_fd, 2);
  }
  posix_spawn_file_actions_adddup2(&a.actions, request.control_fd, kControlFd);
  if (request.handed_over.size() > SpawnRequest::kMostHandedOver) return Error{"too many files to hand over"};
  for (size_t i = 0; i < request.handed_over.size(); ++i)
    posix_spawn_file_actions_adddup2(&a.actions, request.handed_over[i],
                                     SpawnRequest::kFirstHandedOver + static_cast<int>(i));
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&a.attributes, &none);
  posix_spawnattr_setsigdefault(&a.attributes, &all);
  posix_spawnattr_setflags(&a.attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, OpenablePath(request.argv[0]).c_str(), &a.actions, &a.attributes,
                                Pointers(request.argv).data(), Pointers(request.env).data());
  if (error != 0) {
    const std::string loader = error == ENOENT ? MissingInterpreter(request.argv[0]) : "";
    const std::string limits = error == EAGAIN ? " (" + ProcessRoom().Describe() + ")" : "";
    return Error{"cannot start " + request.argv[0] + ": " +
                 (loader.empty() ? strerror(error) + limits : "the image has no dynamic loader " + loader)};
  }
  return pid;
}

bool PosixProcessControl::HasExited(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

void PosixProcessControl::Signal(pid_t pid, int signal) {
  kill(-pid, signal);
  kill(pid, signal);
}

ExitStatus PosixProcessControl::Reap(pid_t pid) {
  siginfo_t info{};
  int result = 0;
  do {
    result = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
  } while (result != 0 && errno == EINTR);
  if (result != 0) return {false, -1, false};
  if (info.si_code == CLD_EXITED) return {false, info.si_status, false};
  return {true, info.si_status, info.si_code == CLD_DUMPED};
}

bool PosixProcessControl::SweepStrays(const std::set<pid_t>& keep) {
  bool found = false;
  for (const pid_t pid : ChildrenOf(0)) {
    if (keep.count(pid) || spared_.count(pid)) continue;
    const bool known = refused_.count(pid) > 0;
    if (!known && kill(pid, SIGKILL) != 0) refused_[pid] = strerror(errno);
    found |= !known;
    if (!HasExited(pid)) continue;
    Reap(pid);
    refused_.erase(pid);  // another process may get its id
  }
  return found;
}

std::vector<std::string> PosixProcessControl::EndStrays(double limit_s) {
  constexpr int64_t kPauseUs = 1000;
  const int64_t end = MonotonicNs() + static_cast<int64_t>(limit_s * 1e9);
  while (SweepStrays({}) && MonotonicNs() < end) usleep(kPauseUs);
  std::vector<std::string> left;
  for (const pid_t pid : ChildrenOf(0)) {
    if (spared_.count(pid) > 0 || HasExited(pid)) continue;
    const auto refused = refused_.find(pid);
    left.push_back("process " + std::to_string(pid) + " (" + DescribeOwner(pid) + "): " +
                   (refused != refused_.end() ? refused->second : "it was killed, and has not ended"));
  }
  return left;
}

}  // namespace cudnn_ci
