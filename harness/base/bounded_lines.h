// Lines of an untrusted file, bounded in length.
#ifndef CUDNN_CI_BASE_BOUNDED_LINES_H_
#define CUDNN_CI_BASE_BOUNDED_LINES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace cudnn_ci {

// Calls `take` with each line, without its line feed, until it says false. Reads at most `most_bytes` of the
// file and holds at most `longest` bytes of it; a longer line is passed over. The work is linear in the bytes
// that are read. Nothing of a file that cannot be opened, or is no regular one. Returns how many bytes were
// read.
uint64_t ReadBoundedLines(const std::string& path, uint64_t most_bytes, size_t longest,
                          const std::function<bool(std::string_view line)>& take);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_BOUNDED_LINES_H_
