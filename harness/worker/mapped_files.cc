#include "worker/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "base/fd.h"
#include "base/file.h"
#include "base/proc_self.h"
#include "worker/child.h"
#include "worker/guard.h"

namespace cudnn_ci::worker {
namespace {

constexpr size_t kMapsBytes = 16 << 20;
// Every thread's end is a chance to look, and one process may have thousands.
constexpr int kMostLooks = 64;

// ptrace takes numbers where it declares pointers.
void* Number(unsigned long number) { return reinterpret_cast<void*>(number); }

class Tracer {
 public:
  // Until `command` has ended; its status as of waitpid.
  int Follow(pid_t command) {
    int status = 0;
    for (;;) {
      const pid_t pid = waitpid(-1, &status, __WALL);
      if (pid < 0 && errno == EINTR) continue;
      if (pid < 0) return -1;
      if (WIFSTOPPED(status)) {
        OnStop(pid, status);
      } else {
        looks_.erase(pid);
        if (pid != command) continue;
        for (const auto& [other, looks] : looks_) Look(other);
        return status;
      }
    }
  }
  const std::set<std::string>& files() const { return files_; }

 private:
  void OnStop(pid_t pid, int status) {
    const int event = status >> 16, stop = WSTOPSIG(status);
    int& looks = looks_[pid];
    if (event == PTRACE_EVENT_EXIT && looks++ < kMostLooks) Look(pid);
    const bool group_stop = event == PTRACE_EVENT_STOP &&
                            (stop == SIGSTOP || stop == SIGTSTP || stop == SIGTTIN || stop == SIGTTOU);
    if (group_stop)
      ptrace(PTRACE_LISTEN, pid, nullptr, nullptr);
    else
      ptrace(PTRACE_CONT, pid, nullptr, Number(event == 0 ? static_cast<unsigned long>(stop) : 0));
  }

  // A line is "start-end rights offset device inode path".
  void Look(pid_t pid) {
    const std::string maps = ReadSmallFile("/proc/" + std::to_string(pid) + "/maps", kMapsBytes);
    for (size_t at = 0; at < maps.size();) {
      const size_t end = std::min(maps.find('\n', at), maps.size());
      const size_t slash = maps.find('/', at);
      if (slash < end) files_.insert(maps.substr(slash, end - slash));
      at = end + 1;
    }
  }

  std::map<pid_t, int> looks_;  // of the threads that are traced
  std::set<std::string> files_;
};

// The command's own process: waits until it is traced.
[[noreturn]] void Become(int go, char** command, pid_t parent) {
  DieWithParent(parent);
  char byte = 0;
  while (read(go, &byte, 1) < 0 && errno == EINTR) {
  }
  ExecCommand(command);
}

void EndAs(int status) {
  if (WIFSIGNALED(status)) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

void Write(const char* file, const std::string& first, const std::set<std::string>& files) {
  std::ofstream out(file);
  out << first << '\n';
  for (const std::string& path : files) out << path << '\n';
}

}  // namespace

void ExecMapped(int argc, char** argv) {
  if (argc < 4) _exit(127);
  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0) _exit(127);
  const pid_t self = getpid(), command = fork();
  if (command < 0) _exit(127);
  if (command == 0) {
    close(go[1]);
    Become(go[0], argv + 3, self);
  }
  close(go[0]);
  HideFromOthers();  // it would be made to say what the command asks for
  const unsigned long options =
      PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
  const int error = ptrace(PTRACE_SEIZE, command, nullptr, Number(options)) == 0 ? 0 : errno;
  close(go[1]);
  Tracer tracer;
  const int status = tracer.Follow(command);
  Write(argv[2], error == 0 ? "ok" : std::string("ptrace: ") + strerror(error), tracer.files());
  EndAs(status);
  _exit(127);
}

}  // namespace cudnn_ci::worker
