#include "base/bounded_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"

namespace cudnn_ci {
namespace {

// Puts lines together from the pieces in which a file is read.
class Lines {
 public:
  Lines(size_t longest, const std::function<bool(std::string_view)>& take) : longest_(longest), take_(take) {}

  // False: no more is wanted.
  bool Add(std::string_view piece) {
    while (!piece.empty()) {
      const size_t end = piece.find('\n');
      Hold(piece.substr(0, end));
      if (end == std::string_view::npos) return true;
      if (!End()) return false;
      piece.remove_prefix(end + 1);
    }
    return true;
  }
  // The end of a line.
  bool End() {
    const bool go_on = too_long_ || take_(line_);
    line_.clear();
    too_long_ = false;
    return go_on;
  }
  bool begun() const { return !line_.empty() || too_long_; }

 private:
  void Hold(std::string_view piece) {
    too_long_ = too_long_ || line_.size() + piece.size() > longest_;
    if (too_long_)
      line_.clear();
    else
      line_ += piece;
  }

  const size_t longest_;
  const std::function<bool(std::string_view)>& take_;
  std::string line_;
  bool too_long_ = false;
};

}  // namespace

uint64_t ReadBoundedLines(const std::string& path, uint64_t most_bytes, size_t longest,
                          const std::function<bool(std::string_view line)>& take) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat seen {};
  if (!file.valid() || fstat(file.get(), &seen) != 0 || !S_ISREG(seen.st_mode)) return 0;
  Lines lines(longest, take);
  char buffer[64 << 10];
  uint64_t done = 0;
  while (done < most_bytes) {
    const ssize_t n =
        read(file.get(), buffer, static_cast<size_t>(std::min<uint64_t>(sizeof buffer, most_bytes - done)));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<uint64_t>(n);
    if (!lines.Add({buffer, static_cast<size_t>(n)})) return done;
  }
  if (lines.begun()) lines.End();
  return done;
}

}  // namespace cudnn_ci
