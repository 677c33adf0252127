#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/fd.h"

namespace cudnn_ci {

namespace {

Error SystemError(const std::string& what, int error_number) {
  return Error{what + ": " + std::strerror(error_number)};
}

// Up to max_bytes of fd; false with errno set when a read fails.
bool ReadUpTo(int fd, size_t max_bytes, std::string* out) {
  char buffer[64 * 1024];
  while (out->size() < max_bytes) {
    const size_t wanted = std::min(sizeof buffer, max_bytes - out->size());
    const ssize_t got = read(fd, buffer, wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    out->append(buffer, static_cast<size_t>(got));
  }
  return true;
}

// 0, or the errno of the call that failed.
int WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    content.remove_prefix(static_cast<size_t>(put));
  }
  return 0;
}

// The directory entry must reach the disk too, or the rename may be lost.
void SyncDirectoryOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  Fd directory(open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some network file systems refuse to sync a directory; the file itself is synced by then.
  if (directory.valid()) (void)fsync(directory.get());
}

}  // namespace

Result<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  // O_NONBLOCK: a FIFO in place of the file must not hang us; regular files ignore it.
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return SystemError(path, errno);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return SystemError(path, errno);
  if (S_ISDIR(info.st_mode)) return Error{path + ": is a directory, not a file"};
  if (!S_ISREG(info.st_mode)) return Error{path + ": is not a regular file"};
  std::string content;
  if (!ReadUpTo(fd.get(), max_bytes + 1, &content)) return SystemError(path, errno);
  if (content.size() > max_bytes) {
    return Error{path + ": is larger than the limit of " + std::to_string(max_bytes) + " bytes"};
  }
  return content;
}

std::string ReadSmallFile(const std::string& path, size_t max_bytes) {
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string content;
  // A proc file may vanish while it is read: what came before is still worth having.
  if (fd.valid()) (void)ReadUpTo(fd.get(), max_bytes, &content);
  return content;
}

Status WriteFileAtomically(const std::string& path, std::string_view content, bool durable) {
  static std::atomic<unsigned> counter{0};
  const std::string temporary = path + ".tmp." + std::to_string(getpid()) + "." + std::to_string(counter++);
  Fd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid()) return SystemError(path + ": cannot be written", errno);
  int error_number = WriteAll(fd.get(), content);
  if (error_number == 0 && durable && fsync(fd.get()) != 0) error_number = errno;
  // Network file systems report a full disk only here.
  if (close(fd.Release()) != 0 && error_number == 0) error_number = errno;
  if (error_number == 0 && rename(temporary.c_str(), path.c_str()) != 0) error_number = errno;
  if (error_number != 0) {
    unlink(temporary.c_str());
    return SystemError(path + ": cannot be written", error_number);
  }
  if (durable) SyncDirectoryOf(path);
  return {};
}

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Error{path + ": cannot be created: " + error.message()};
  if (!std::filesystem::is_directory(path, error)) return Error{path + ": is not a directory"};
  return {};
}

std::string ExecutableDirectory() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string(".") : self.parent_path().string();
}

}  // namespace cudnn_ci
