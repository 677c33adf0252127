#include "base/random.h"

#include <errno.h>
#include <string.h>

#include <string>

#include "base/system_calls.h"

namespace cudnn_ci {

Result<uint64_t> RandomBits() {
  uint64_t bits = 0;
  for (;;) {
    const ssize_t got = getrandom(&bits, sizeof bits, 0);
    if (got == static_cast<ssize_t>(sizeof bits)) return bits;
    if (got < 0 && errno == EINTR) continue;
    return Error{std::string("the kernel gives no random numbers: getrandom: ") +
                 (got < 0 ? strerror(errno) : "too few")};
  }
}

}  // namespace cudnn_ci
