#include "image/jit_tools_scan.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/regular_file.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 20, kMostNumbers = 32;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

bool IsNumbers(char c) { return (c >= '0' && c <= '9') || c == '.'; }

// In what is read so far; `end`: there is no more. Empty where the marker is followed by no number, or by one
// whose end is not read yet, in which case *from is where to look again.
std::string FindIn(const std::string& text, std::string_view marker, bool end, std::size_t* from) {
  for (std::size_t at = text.find(marker, *from); at != std::string::npos; at = text.find(marker, at + 1)) {
    const std::size_t begin = at + marker.size();
    std::size_t stop = begin;
    while (stop < text.size() && stop - begin < kMostNumbers && IsNumbers(text[stop])) ++stop;
    if (stop == text.size() && !end) {
      *from = at;
      return "";
    }
    while (stop > begin && text[stop - 1] == '.') --stop;
    if (stop > begin && text[begin] != '.') return text.substr(begin, stop - begin);
  }
  *from = text.size() < marker.size() ? 0 : text.size() - marker.size() + 1;
  return "";
}

}  // namespace

std::string NumbersBehind(const std::string& path, std::string_view marker) {
  const Fd fd = OpenRegularFile(path);
  if (!fd.valid() || marker.empty()) return "";
  std::string text;
  for (std::uint64_t read_bytes = 0; read_bytes < kMostBytes;) {
    const std::size_t kept = text.size();
    text.resize(kept + kPart);
    ssize_t count = 0;
    do {
      count = read(fd.get(), text.data() + kept, kPart);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return "";
    text.resize(kept + static_cast<std::size_t>(count));
    std::size_t from = 0;
    std::string numbers = FindIn(text, marker, count == 0, &from);
    if (!numbers.empty() || count == 0) return numbers;
    text.erase(0, from);
    read_bytes += static_cast<std::uint64_t>(count);
  }
  return "";
}

std::string ToolRelease(const std::string& program) {
  return NumbersBehind(program, "Cuda compilation tools, release ");
}

}  // namespace cudnn_ci
