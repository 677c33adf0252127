#include "launch/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/argv.h"
#include "base/null_device.h"
#include "base/signal_text.h"
#include "base/text.h"
#include "base/time.h"
#include "launch/speech.h"

namespace cudnn_ci::launch {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr size_t kKeptOfStderr = size_t{1} << 20;
constexpr size_t kPiece = 4096;  // what a pipe that can be written takes at once
constexpr size_t kPendingAfterEnd = size_t{1} << 20;
constexpr double kOpenAfterEnd = 5, kShownAfterEnd = 60, kStopMargin = 30, kAfterStop = 10;
constexpr double kPauseAfterFailure = 0.25, kPauseAfterStop = 1, kGraceOfCreation = 1;

int64_t In(double seconds) { return MonotonicNs() + static_cast<int64_t>(seconds * 1e9); }

struct Pipe {
  Fd read, write;
  Pipe() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return;
    read = Fd(fds[0]);
    write = Fd(fds[1]);
  }
};

// -1 and errno: it cannot be started. `output` and `error`: its standard output and stderr; -1: ours.
pid_t Start(const std::string& path, const std::vector<std::string>& words, int output, int error) {
  const Fd null = OpenNullDevice();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, null.get(), STDIN_FILENO);
  if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (error >= 0) posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int s : {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGPIPE, SIGXFSZ}) sigaddset(&defaults, s);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int failed =
      path.empty() ? ENOENT
                   : posix_spawn(&pid, path.c_str(), &actions, &attributes, Pointers(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  errno = failed;
  return failed == 0 ? pid : -1;
}

// Whether the child has ended; then *status is how, as a shell has it, and *killed whether by a signal.
bool HasEnded(pid_t pid, int* status, bool* killed) {
  int raw = 0;
  if (waitpid(pid, &raw, WNOHANG) != pid) return false;
  *killed = *killed || WIFSIGNALED(raw);
  *status = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
  return true;
}

// The last bytes of all that is added.
class Tail {
 public:
  void Add(std::string_view piece) {
    bytes_ += piece;
    if (bytes_.size() > 2 * kKeptOfStderr) bytes_.erase(0, bytes_.size() - kKeptOfStderr);
  }
  std::string Take() {
    if (bytes_.size() > kKeptOfStderr) bytes_.erase(0, bytes_.size() - kKeptOfStderr);
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

// What is read from a program and shown as it comes.
struct Passage {
  Fd from;
  int to = -1;               // -1: it is not shown
  std::string pending = {};  // read and not shown yet: a piece at most, as long as the program runs
  bool unprinted = false;

  pollfd ToRead(size_t most_pending) const {
    return {pending.size() <= most_pending ? from.get() : -1, POLLIN, 0};
  }
  pollfd ToWrite() const { return {pending.empty() ? -1 : to, POLLOUT, 0}; }

  std::string Take() {
    char buffer[kPiece];
    const ssize_t got = read(from.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) return "";
    if (got <= 0) return from.Close(), "";
    std::string piece(buffer, static_cast<size_t>(got));
    if (to >= 0) pending += piece;
    return piece;
  }

  void Show() {
    const ssize_t done = write(to, pending.data(), std::min(pending.size(), kPiece));
    if (done < 0 && (errno == EINTR || errno == EAGAIN)) return;
    // Without a reader there is nothing to tell.
    unprinted = unprinted || (done < 0 && errno != EPIPE);
    pending.erase(0, done < 0 ? pending.size() : static_cast<size_t>(done));
  }
};

// A program that runs, and all that is waited for meanwhile.
class Running {
 public:
  Running(const Call& call, Cancel* cancel) : call_(call), cancel_(cancel) {}

  Ended ToItsEnd() {
    if (!Begin()) return std::move(ended_);
    while (pid_ > 0 || IsOpen()) {
      Wait();
      if (cancel_->Take()) Stop("cancelled by " + SignalName(cancel_->signal()));
      Look();
    }
    EndStopper();
    ended_.unprinted = printed_.unprinted;
    ended_.said = tail_.Take();
    return std::move(ended_);
  }

 private:
  bool Begin() {
    Pipe output, error;
    const Fd null = OpenNullDevice();
    const bool is_terminals = call_.output == Output::kOurs && isatty(STDOUT_FILENO) == 1;
    const int to = is_terminals ? -1 : call_.output == Output::kDropped ? null.get() : output.write.get();
    const std::string path = call_.program.empty() ? FindProgram(call_.words[0]) : call_.program;
    pid_ = error.write.valid() && output.write.valid() ? Start(path, call_.words, to, error.write.get()) : -1;
    if (pid_ < 0) {
      ended_.said = call_.words[0] + ": " + strerror(errno) + "\n";
      if (call_.shown) Say(call_.words[0] + " cannot be started: " + strerror(errno));
      return false;
    }
    said_ = {std::move(error.read), call_.shown ? STDERR_FILENO : -1};
    if (call_.output == Output::kKept) output_ = std::move(output.read);
    if (call_.output == Output::kOurs && !is_terminals) printed_ = {std::move(output.read), STDOUT_FILENO};
    if (call_.seconds > 0) end_at_ = In(call_.seconds);
    return true;
  }

  // Something of what it has said and printed is not taken yet, or may still come.
  bool IsOpen() const {
    const int64_t now = MonotonicNs();
    const bool may_come = said_.from.valid() || printed_.from.valid() || output_.valid();
    const bool is_pending = !said_.pending.empty() || !printed_.pending.empty();
    return (may_come && now < drained_until_) || (is_pending && now < shown_until_);
  }

  // Until something can be read, has ended, or is due.
  void Wait() {
    // What it says is read when it can be shown; what is left at its end is all read.
    const size_t most = pid_ > 0 ? 0 : kPendingAfterEnd;
    pollfd fds[] = {{cancel_->fd(), POLLIN, 0},
                    {output_.get(), POLLIN, 0},
                    said_.ToRead(most),
                    printed_.ToRead(most),
                    said_.ToWrite(),
                    printed_.ToWrite()};
    const int64_t due = std::min({end_at_, kill_at_, stop_until_, again_at_, drained_until_, shown_until_});
    const int64_t left = due == kNever ? kNever : std::max<int64_t>(0, due - MonotonicNs()) / 1'000'000 + 1;
    if (poll(fds, std::size(fds), static_cast<int>(std::min<int64_t>(left, 60'000))) <= 0) return;
    if (fds[1].revents != 0) TakeOutput();
    if (fds[2].revents != 0) tail_.Add(said_.Take());
    if (fds[3].revents != 0) (void)printed_.Take();
    if (fds[4].revents != 0) said_.Show();
    if (fds[5].revents != 0) printed_.Show();
    if (pid_ <= 0 && (fds[4].revents | fds[5].revents) != 0) shown_until_ = In(kShownAfterEnd);
  }

  void TakeOutput() {
    char buffer[kPiece];
    const ssize_t got = read(output_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) return output_.Close();
    const size_t room = call_.most_output - ended_.output.size(), size = static_cast<size_t>(got);
    ended_.output.append(buffer, std::min(room, size));
    ended_.output_cut = ended_.output_cut || size > room;
  }

  void Stop(const std::string& why) {
    Say(why);
    if (pid_ <= 0) {
      shown_until_ = 0;
      return;
    }
    again_until_ = In(call_.stop_again_s);
    if (call_.stop.empty())
      Terminate(call_.grace_s);
    else
      StartStopper(call_.stop);
  }

  void StartStopper(const std::vector<std::string>& words) {
    const Fd null = OpenNullDevice();
    again_at_ = kNever;
    stopper_ = Start(FindProgram(words[0]), words, null.get(), null.get());
    stop_until_ = In(call_.grace_s + kStopMargin);
    if (stopper_ <= 0) Terminate(call_.grace_s);
  }

  void EndStopper() {
    if (stopper_ > 0) kill(stopper_, SIGKILL), waitpid(stopper_, nullptr, 0);
    stopper_ = -1;
    stop_until_ = again_at_ = kNever;
  }

  void Terminate(double grace_s) {
    again_at_ = kNever;
    kill(-pid_, SIGTERM);
    kill_at_ = In(grace_s);
  }

  // What has ended, and what is due.
  void Look() {
    if (pid_ > 0 && HasEnded(pid_, &ended_.status, &ended_.unfinished)) {
      pid_ = -1;
      end_at_ = kill_at_ = again_at_ = kNever;
      drained_until_ = In(kOpenAfterEnd);
      shown_until_ = In(kShownAfterEnd);
    }
    if (pid_ <= 0 && MonotonicNs() >= drained_until_) {
      said_.from.Close(), printed_.from.Close(), output_.Close();
      drained_until_ = kNever;
    }
    LookAtStopper();
    LookAtCreation();
    if (pid_ > 0 && MonotonicNs() >= end_at_) {
      end_at_ = kNever;
      ended_.out_of_time = true;
      Terminate(call_.grace_s);
    }
    if (pid_ > 0 && MonotonicNs() >= kill_at_) {
      kill_at_ = kNever;
      kill(-pid_, SIGKILL);
    }
  }

  void LookAtStopper() {
    int status = 0;
    bool killed = false;
    if (stopper_ <= 0) return;
    const bool late = MonotonicNs() >= stop_until_;
    if (late) kill(-stopper_, SIGKILL);
    if (!HasEnded(stopper_, &status, &killed)) {
      if (late) stop_until_ = In(1);
      return;
    }
    stopper_ = -1;
    stop_until_ = kNever;
    if (pid_ <= 0) return;
    if (late) return Terminate(call_.grace_s);
    const bool was_missing = is_missing_;
    is_missing_ = status != 0 && end_at_ == kNever;
    // A container that was stopped takes its client along; one that was not started yet may start now.
    if (status == 0 && end_at_ == kNever) end_at_ = In(kAfterStop);
    if (was_missing && !is_missing_ && !call_.remove.empty()) return StartStopper(call_.remove);
    again_at_ = In(is_missing_ ? kPauseAfterFailure : kPauseAfterStop);
  }

  // What is to be stopped is not there yet, perhaps.
  void LookAtCreation() {
    if (pid_ <= 0 || kill_at_ != kNever) return;
    if (is_missing_ && (cancel_->came_again() || MonotonicNs() >= again_until_)) {
      EndStopper();
      ended_.unfinished = true;
      Terminate(call_.stop_again_s > 0 ? kGraceOfCreation : call_.grace_s);
    } else if (MonotonicNs() >= again_at_) {
      StartStopper(call_.stop);
    }
  }

  const Call& call_;
  Cancel* const cancel_;
  Ended ended_;
  pid_t pid_ = -1, stopper_ = -1;
  Fd output_;
  Passage said_, printed_;
  Tail tail_;
  bool is_missing_ = false;  // `stop` has failed last
  int64_t end_at_ = kNever, kill_at_ = kNever, stop_until_ = kNever, drained_until_ = kNever;
  int64_t shown_until_ = kNever, again_at_ = kNever, again_until_ = 0;
};

}  // namespace

std::string FindProgram(const std::string& name) {
  const auto is_program = [](const std::string& path) {
    struct stat st {};
    return stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const char* const path = getenv("PATH");
  for (const std::string& folder : Split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    std::string found = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(found)) return found;
  }
  return "";
}

Ended Run(const Call& call, Cancel* cancel) { return Running(call, cancel).ToItsEnd(); }

}  // namespace cudnn_ci::launch
