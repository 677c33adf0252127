// Files: read with a bound, written by rename so that no reader ever sees half a file.
#ifndef CUDNN_CI_BASE_FILE_H_
#define CUDNN_CI_BASE_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cudnn_ci {

// The whole file, which must be a regular file of at most max_bytes. Errors name the file.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes);

// What can be read of a (proc) file, up to max_bytes; empty if it cannot be opened.
std::string ReadSmallFile(const std::string& path, size_t max_bytes = 64 * 1024);

// Writes a temporary file beside `path`, flushes it to the disk if `durable`, renames it. On failure
// nothing is left behind and `path` is as it was.
Status WriteFileAtomically(const std::string& path, std::string_view content, bool durable = false);

// Creates the directory and its parents (mode 0777 less umask).
Status MakeDirectories(const std::string& path);

// The directory of this executable, symbolic links resolved.
std::string ExecutableDirectory();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_FILE_H_
