#include "cli/run_token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr size_t kShortest = 16, kLongest = 128;

bool IsLetterOrDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

Result<std::string> TakeRunToken(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return Error{path + " cannot be read: " + strerror(errno)};
  struct stat st {};
  if (fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return Error{path + " is not a regular file"};
  char buffer[kLongest + 2];
  const ssize_t size = read(fd.get(), buffer, sizeof buffer);
  if (size < 0) return Error{path + " cannot be read: " + strerror(errno)};
  const std::string token(Trim({buffer, static_cast<size_t>(size)}));
  if (token.size() < kShortest || token.size() > kLongest ||
      !std::all_of(token.begin(), token.end(), IsLetterOrDigit))
    return Error{path + " does not hold one word of " + std::to_string(kShortest) + " to " +
                 std::to_string(kLongest) + " letters and digits"};
  // Where it stays, every program of the image may read it.
  if (unlink(path.c_str()) != 0) return Error{path + " cannot be removed: " + strerror(errno)};
  return token;
}

}  // namespace cudnn_ci
