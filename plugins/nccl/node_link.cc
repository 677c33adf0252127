#include "nccl/node_link.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <stdexcept>

namespace cudnn_ci {
namespace {

using Clock = std::chrono::steady_clock;

constexpr timeval kSendsWithin = {5, 0};
// A host that lost its power says nothing: it is gone after so many seconds.
constexpr int kAsksAfterS = 5, kAsksEveryS = 3, kAsks = 3;

void Set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

// Waits for an event of a socket; false: it did not come.
bool WaitFor(int fd, short events, double seconds) {
  pollfd polled = {fd, events, 0};
  return poll(&polled, 1, static_cast<int>(seconds * 1000)) > 0;
}

// A connection to a port of the kernel's own choice on this host, where nobody listens, may meet itself.
bool MeetsItself(int fd) {
  sockaddr_storage own = {}, other = {};
  socklen_t own_size = sizeof own, other_size = sizeof other;
  getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size);
  getpeername(fd, reinterpret_cast<sockaddr*>(&other), &other_size);
  return own_size == other_size && memcmp(&own, &other, own_size) == 0;
}

// Empty: connected.
std::string Connect(int fd, const addrinfo& address, double seconds) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  if (connect(fd, address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return strerror(errno);
    if (!WaitFor(fd, POLLOUT, seconds)) return "no answer";
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return strerror(error);
  }
  if (MeetsItself(fd)) return "no process listens";
  fcntl(fd, F_SETFL, 0);
  return "";
}

}  // namespace

NodeLink::NodeLink(int fd) : fd_(fd) {
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kSendsWithin, sizeof kSendsWithin);
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(fd, IPPROTO_TCP, TCP_KEEPIDLE, kAsksAfterS);
  Set(fd, IPPROTO_TCP, TCP_KEEPINTVL, kAsksEveryS);
  Set(fd, IPPROTO_TCP, TCP_KEEPCNT, kAsks);
}

NodeLink::~NodeLink() { close(fd_); }

bool NodeLink::Say(const std::string& line) const {
  const std::string text = line + '\n';
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = send(fd_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

bool NodeLink::NextLine(std::string* line) {
  const std::size_t end = unread_.find('\n');
  if (end == std::string::npos) return false;
  *line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return true;
}

// False: the other side is gone.
bool NodeLink::Read() {
  char buffer[16384];
  for (;;) {
    const ssize_t n = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (n == 0) return false;
    unread_.append(buffer, static_cast<std::size_t>(n));
    if (unread_.size() > most_ + sizeof buffer) return true;
  }
}

bool NodeLink::Hear(const std::function<void(const std::string&)>& take) {
  const bool there = Read();
  for (std::string line; NextLine(&line);) take(line);
  return there && unread_.size() <= most_;
}

bool NodeLink::Await(double seconds, std::string* line) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (!NextLine(line)) {
    const std::chrono::duration<double> left = end - Clock::now();
    if (left.count() <= 0 || !WaitFor(fd_, POLLIN, left.count())) return false;
    if (!Read()) return NextLine(line);
    if (unread_.size() > most_ && unread_.find('\n') == std::string::npos) return false;
  }
  return true;
}

int ListenOn(int port) {
  int error = 0;
  // Of both families where the kernel has the newer one.
  for (const int family : {AF_INET6, AF_INET}) {
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    error = errno;
    if (fd < 0) continue;
    Set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    sockaddr_in6 six = {};
    six.sin6_family = AF_INET6, six.sin6_port = htons(static_cast<std::uint16_t>(port));
    sockaddr_in four = {};
    four.sin_family = AF_INET, four.sin_port = six.sin6_port;
    const bool is_six = family == AF_INET6;
    if (is_six) Set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    const auto* const address =
        is_six ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
    if (bind(fd, address, is_six ? sizeof six : sizeof four) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
    error = errno;
    close(fd);
    if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT) break;
  }
  throw std::runtime_error("port " + std::to_string(port) + ": " + strerror(error));
}

std::unique_ptr<NodeLink> Accept(int listener) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  return fd < 0 ? nullptr : std::make_unique<NodeLink>(fd);
}

std::unique_ptr<NodeLink> ConnectTo(const std::string& host, int port, double seconds, std::string* error) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int result = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (result != 0) {
    *error = gai_strerror(result);
    return nullptr;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, freeaddrinfo);
  for (const addrinfo* address = found; address; address = address->ai_next) {
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      *error = strerror(errno);
      continue;
    }
    *error = Connect(fd, *address, seconds);
    if (error->empty()) return std::make_unique<NodeLink>(fd);
    close(fd);
  }
  return nullptr;
}

}  // namespace cudnn_ci
