#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/embedded.h"
#include "base/regular_file.h"
#include "base/system_calls.h"

namespace cudnn_ci {

namespace {

Error SystemError(const std::string& what, int error_number) {
  return Error{what + ": " + std::strerror(error_number)};
}

Error TooLarge(const std::string& path, size_t max_bytes) {
  return Error{path + ": is larger than the limit of " + std::to_string(max_bytes) + " bytes"};
}

// Up to max_bytes of fd; false with errno set when a read fails.
bool ReadUpTo(int fd, size_t max_bytes, std::string* out) {
  char buffer[16 * 1024];  // the stack may be no larger than 64 KiB
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

// The directory entry must reach the disk too, or the rename may be lost.
void SyncDirectoryOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  Fd directory(open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some network file systems refuse to sync a directory; the file itself is synced by then.
  if (directory.valid()) (void)fsync(directory.get());
}

}  // namespace

Result<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  if (IsEmbedded(path)) {
    Result<std::string> embedded = Embedded()->Read(path);
    if (embedded.ok() && embedded->size() > max_bytes) return TooLarge(path, max_bytes);
    return embedded;
  }
  std::string kind;
  const Fd fd = OpenRegularFile(path, &kind);
  if (!kind.empty()) return Error{path + ": is " + kind + ", not a file"};
  if (!fd.valid()) return SystemError(path, errno);
  std::string content;
  if (!ReadUpTo(fd.get(), max_bytes + 1, &content)) return SystemError(path, errno);
  if (content.size() > max_bytes) return TooLarge(path, max_bytes);
  return content;
}

std::string ReadSmallFile(const std::string& path, size_t max_bytes) {
  if (IsEmbedded(path)) {
    const Result<std::string> embedded = Embedded()->Read(path);
    return embedded.ok() ? embedded->substr(0, max_bytes) : std::string();
  }
  const Fd fd = OpenRegularFile(path);
  std::string content;
  // A proc file may vanish while it is read: what came before is still worth having.
  if (fd.valid()) (void)ReadUpTo(fd.get(), max_bytes, &content);
  return content;
}

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
    return SystemError("cannot write " + what, errno);
  }
  return {};
}

AtomicFile::AtomicFile(std::string path, Replaceable replaceable)
    : path_(std::move(path)), replaceable_(replaceable) {
  // Of one process several may be under way; what a killed one left behind is not taken for ours.
  static std::atomic<unsigned> counter{0};
  temporary_ = path_ + ".tmp." + std::to_string(getpid()) + "." + std::to_string(counter++);
  fd_ = Fd(open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd_.valid()) status_ = SystemError("cannot write " + path_, errno);
}

AtomicFile::~AtomicFile() {
  if (fd_.valid()) unlink(temporary_.c_str());
}

Status AtomicFile::Append(std::string_view bytes) {
  if (status_.ok()) status_ = WriteAll(fd_.get(), bytes, path_);
  return status_;
}

// Never looks first and renames then, where it can be helped: a file may appear in between.
Status AtomicFile::Rename() {
  const Error foreign{"cannot replace " + path_ + ": it is not a report of cudnn-ci"};
  const char *from = temporary_.c_str(), *to = path_.c_str();
  if (replaceable_ != nullptr) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return {};
    if (errno == EEXIST && renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) {
      // What was there now bears the temporary name.
      if (replaceable_(temporary_)) {
        unlink(from);
        return {};
      }
      if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) return foreign;
      Status lost = SystemError("the file at " + path_ + " was moved to " + temporary_, errno);
      temporary_.clear();  // it is not ours to remove
      return lost;
    }
    // Not every file system, and no kernel before 3.15, can do these.
    if (link(from, to) == 0) {
      unlink(from);
      return {};
    }
    struct stat there {};
    if (lstat(to, &there) == 0 && !replaceable_(path_)) return foreign;
  }
  return rename(from, to) == 0 ? Status() : SystemError("cannot write " + path_, errno);
}

Status AtomicFile::Commit(bool durable) {
  if (!status_.ok()) return status_;
  int error_number = durable && fsync(fd_.get()) != 0 ? errno : 0;
  // Network file systems report a full disk only here.
  if (close(fd_.Release()) != 0 && error_number == 0) error_number = errno;
  status_ = error_number == 0 ? Rename() : SystemError("cannot write " + path_, error_number);
  if (!status_.ok()) {
    unlink(temporary_.c_str());
    return status_;
  }
  if (durable) SyncDirectoryOf(path_);
  return {};
}

Status WriteFileAtomically(const std::string& path, std::string_view content, bool durable,
                           AtomicFile::Replaceable replaceable) {
  AtomicFile file(path, replaceable);
  const Status written = file.Append(content);
  return written.ok() ? file.Commit(durable) : written;
}

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Error{path + ": cannot be created: " + error.message()};
  if (!std::filesystem::is_directory(path, error)) return Error{path + ": is not a directory"};
  return {};
}

std::string ExecutablePath() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  // Without /proc: what the kernel was told to execute.
  if (const char* executed = reinterpret_cast<const char*>(getauxval(AT_EXECFN)); error && executed)
    self = std::filesystem::canonical(executed, error);
  return error ? std::string("./cudnn-ci") : self.string();
}

}  // namespace cudnn_ci
