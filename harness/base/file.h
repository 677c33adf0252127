// Files: read with a bound, written by rename so that no reader ever sees half a file.
#ifndef CUDNN_CI_BASE_FILE_H_
#define CUDNN_CI_BASE_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace cudnn_ci {

// The whole file, which must be a regular file of at most max_bytes; anything else is not opened. Errors name
// the file.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes);

// What can be read of a (proc) file, up to max_bytes; empty if it cannot be opened or is
// no regular file.
std::string ReadSmallFile(const std::string& path, size_t max_bytes = 64 * 1024);

// One write(2) when the system takes it whole; goes on after short writes and signals and waits for a
// non-blocking descriptor, at most 10 s at a time. Errors name `what` and the reason.
Status WriteAll(int fd, std::string_view bytes, const std::string& what);

// A file that appears at its path only when it is complete: what was there before stays as it is until
// Commit, and for good when that fails or never comes. Written to a temporary file beside it, which the
// destructor removes.
class AtomicFile {
 public:
  // Whether the file at a path is a report that may be replaced. Asked of the very file that Commit
  // displaces, perhaps under another name.
  using Replaceable = bool (*)(const std::string& path);

  // `replaceable`: null for any file.
  explicit AtomicFile(std::string path, Replaceable replaceable = nullptr);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // After an error nothing more is written, and Commit gives the same error.
  Status Append(std::string_view bytes);

  // Renames the file into its place; `durable`: file and directory reach the disk before. Once. What is there
  // and must not be replaced stays, however late it came, and is an error. (On a file system without
  // renameat2 and link there is a moment between look and rename.)
  Status Commit(bool durable = false);

 private:
  Status Rename();

  std::string path_, temporary_;
  const Replaceable replaceable_;
  Fd fd_;
  Status status_;
};

// An AtomicFile of one text.
Status WriteFileAtomically(const std::string& path, std::string_view content, bool durable = false,
                           AtomicFile::Replaceable replaceable = nullptr);

// Creates the directory and its parents (mode 0777 less umask).
Status MakeDirectories(const std::string& path);

// The path of this executable, symbolic links resolved.
std::string ExecutablePath();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_FILE_H_
