// A call in a child process. See bounded_call.h.
#include "exec/workers/bounded_call.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/time.h"
#include "exec/workers/pool.h"

namespace cudnn_ci {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMostWords = 500;
constexpr size_t kMostBytes = size_t{64} << 20;
constexpr int64_t kKillNs = 200'000'000;    // for a killed child to end
constexpr int64_t kMomentNs = 500'000'000;  // for the value of a call that ended in time
constexpr int64_t kPollMs = 50;             // a signal may come between two polls

}  // namespace

// A page that child and parent share. The child may be in the middle of a word when it is given up, so the
// page always ends with a zero byte.
class SharedWords {
 public:
  SharedWords() : page_(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~SharedWords() {
    if (valid()) munmap(page_, kPage);
  }
  SharedWords(const SharedWords&) = delete;
  SharedWords& operator=(const SharedWords&) = delete;
  bool valid() const { return page_ != MAP_FAILED; }
  void Set(const std::string& words) {
    char* const text = static_cast<char*>(page_);
    const size_t size = std::min(words.size(), kMostWords);
    std::memcpy(text, words.data(), size);
    text[size] = '\0';
  }
  std::string Get() const { return static_cast<const char*>(page_); }

 private:
  void* page_;
};

namespace {

[[noreturn]] void RunChild(const std::function<std::string(const LookingAt&)>& call, SharedWords* words,
                           int out, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int status = 1;
  if (getppid() == parent) {
    try {
      const std::string value = call([words](const std::string& what) { words->Set(what); });
      status = WriteAll(out, value, "pipe").ok() ? 0 : 1;
    } catch (const std::exception&) {
      status = 1;
    }
  }
  _exit(status);
}

// Reads until the end of the pipe, the deadline or a signal.
BoundedCall::End Listen(int in, int64_t deadline_ns, int signal_fd, int* interrupted, std::string* value) {
  std::string buffer(size_t{64} << 10, '\0');  // a stack may be as small
  for (;;) {
    const int64_t left_ms = (deadline_ns - MonotonicNs()) / 1'000'000;
    if (left_ms <= 0) return BoundedCall::End::kNoAnswer;
    pollfd fds[] = {{in, POLLIN, 0}, {signal_fd, POLLIN, 0}};
    poll(fds, 2, static_cast<int>(std::min(left_ms, kPollMs)));
    if (const int signal = TakeSignal(signal_fd); signal != 0) {
      *interrupted = signal;
      return BoundedCall::End::kInterrupted;
    }
    if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t got = read(in, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? BoundedCall::End::kReturned : BoundedCall::End::kFailed;
    value->append(buffer.data(), static_cast<size_t>(got));
    if (value->size() > kMostBytes) return BoundedCall::End::kFailed;
  }
}

}  // namespace

StartedCall::StartedCall(const std::function<std::string(const LookingAt&)>& call, ProcessControl* control)
    : control_(control), words_(std::make_unique<SharedWords>()), start_ns_(MonotonicNs()) {
  int ends[2];
  if (!words_->valid() || pipe2(ends, O_CLOEXEC) != 0) return;
  in_ = Fd(ends[0]);
  const Fd out(ends[1]);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) RunChild(call, words_.get(), out.get(), parent);
  if (pid < 0) {
    value_ = call([this](const std::string& what) { words_->Set(what); });
    return;
  }
  pid_ = pid;
  control_->Spare(pid_);
}

StartedCall::~StartedCall() { End(true); }

BoundedCall StartedCall::Finish(double limit_s, int signal_fd, int* interrupted) {
  BoundedCall result;
  if (value_) {
    result.value = std::move(*value_);
    result.end = BoundedCall::End::kReturned;
    return result;
  }
  if (pid_ < 0) return result;
  // A limit may be infinite; a week is more than any run has.
  const auto limit_ns = static_cast<int64_t>(std::min(limit_s, 604'800.0) * 1e9);
  const int64_t deadline_ns = std::max(start_ns_ + limit_ns, MonotonicNs() + std::min(limit_ns, kMomentNs));
  result.end = Listen(in_.get(), deadline_ns, signal_fd, interrupted, &result.value);
  const bool well = End(result.end != BoundedCall::End::kReturned);
  if (result.end == BoundedCall::End::kReturned && !well) result.end = BoundedCall::End::kFailed;
  result.looking_at = words_->Get();
  return result;
}

bool StartedCall::End(bool kill_it) {
  if (pid_ < 0) return false;
  const pid_t pid = std::exchange(pid_, -1);
  if (kill_it) kill(pid, SIGKILL);
  const int64_t deadline = MonotonicNs() + kKillNs;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) return false;
    if (ended == pid) {
      control_->Unspare(pid);  // another process may get its id
      return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    if (MonotonicNs() > deadline) return false;  // it waits in the kernel, and dies when that wait ends
    usleep(500);
  }
}

BoundedCall CallWithin(double limit_s, const std::function<std::string(const LookingAt&)>& call,
                       ProcessControl* control, int signal_fd, int* interrupted) {
  return StartedCall(call, control).Finish(limit_s, signal_fd, interrupted);
}

}  // namespace cudnn_ci
