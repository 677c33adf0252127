#include "wire/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#include <array>

#include "base/time.h"
#include "wire/message.h"

namespace cudnn_ci::wire {

Result<SocketPair> MakeSocketPair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return Error{std::string("socketpair: ") + strerror(errno)};
  SocketPair pair{Fd(fds[0]), Fd(fds[1])};
  if (fcntl(pair.ours.get(), F_SETFL, O_NONBLOCK) != 0)
    return Error{std::string("fcntl(O_NONBLOCK): ") + strerror(errno)};
  return pair;
}

Io Send(int fd, std::string_view packet) {
  for (;;) {
    const ssize_t n = send(fd, packet.data(), packet.size(), MSG_NOSIGNAL);
    if (n >= 0) return Io::kOk;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Io::kWouldBlock;
    if (errno == EPIPE || errno == ECONNRESET) return Io::kClosed;
    return Io::kError;
  }
}

void WaitAwake(int fd, int64_t ns) {
  pollfd ready{fd, POLLIN, 0};
  for (const int64_t end = MonotonicNs() + ns; poll(&ready, 1, 0) == 0 && MonotonicNs() < end;)
    sched_yield();  // to the harness, where there is one processor
}

Io Receive(int fd, std::string* packet) {
  // Not into the string: growing it would clear 64 KiB for packets of a few dozen bytes. Not on the stack: it
  // may be no larger than that.
  static thread_local std::array<char, kMaxPacket> buffer;
  bool reset = false;
  for (;;) {
    const ssize_t n = recv(fd, buffer.data(), buffer.size(), MSG_TRUNC);
    if (n > 0) {
      if (static_cast<size_t>(n) > buffer.size()) return Io::kTooLong;
      packet->assign(buffer.data(), static_cast<size_t>(n));
      return Io::kOk;
    }
    // An empty packet cannot be told from the end; this protocol has none.
    if (n == 0) return Io::kClosed;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Io::kWouldBlock;
    // The other side died with packets of ours unread. The kernel says so once and first; what it had sent
    // before is still there and follows.
    if (errno == ECONNRESET && !reset) {
      reset = true;
      continue;
    }
    if (errno == ECONNRESET) return Io::kClosed;
    return Io::kError;
  }
}

}  // namespace cudnn_ci::wire
