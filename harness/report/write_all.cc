// Writing to a descriptor. See write_all.h.
#include "report/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cudnn_ci {

Status WriteAll(int fd, std::string_view bytes, const std::string& what) {
  constexpr int kPatienceMs = 10'000;
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd wait{fd, POLLOUT, 0};
      if (poll(&wait, 1, kPatienceMs) != 0) continue;
      errno = ETIMEDOUT;
    }
    return Error{"cannot write " + what + ": " + std::strerror(errno)};
  }
  return {};
}

}  // namespace cudnn_ci
