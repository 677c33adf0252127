#include "embed/unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/random.h"

namespace cudnn_ci {
namespace {

constexpr mode_t kForAll = 0555, kForOwner = 0500;
// Kernels since 6.3 want to be told, and may be set to refuse it (vm.memfd_noexec); those before know no such
// flag.
constexpr unsigned kExecutable = 0x10;  // MFD_EXEC
constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

std::string PathOf(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// What execve and the dynamic loader would be told: rights, mount options and security modules.
bool CanBeExecuted(int fd, std::string* why) {
  void* const page = mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  const bool mapped = page != MAP_FAILED;
  if (mapped) munmap(page, 1);
  if (mapped && access(PathOf(fd).c_str(), X_OK) == 0) return true;
  *why = std::string("cannot be executed: ") + strerror(errno);
  return false;
}

// Makes a file of `size` bytes of what `write_bytes` writes, without a copy in between.
Status WriteMapped(int fd, size_t size, const std::function<Status(char* to)>& write_bytes) {
  if (ftruncate(fd, static_cast<off_t>(size)) != 0)
    return Error{std::string("ftruncate: ") + strerror(errno)};
  void* const bytes = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (bytes == MAP_FAILED) return Error{std::string("mmap: ") + strerror(errno)};
  Status written = write_bytes(static_cast<char*>(bytes));
  munmap(bytes, size);  // what is mapped for writing cannot be sealed
  return written;
}

// A file of a folder that has no name any more.
Fd CreateUnnamed(const std::string& folder) {
  Fd unnamed(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kForOwner));
  if (unnamed.valid() || errno == EACCES || errno == EROFS || errno == ENOENT || errno == ENOSPC)
    return unnamed;
  // Not every file system can make it so.
  const Result<uint64_t> bits = RandomBits();
  if (!bits.ok()) return Fd();
  const std::string path = folder + "/.cudnn-ci-" + std::to_string(*bits);
  Fd named(open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, kForOwner));
  if (named.valid()) unlink(path.c_str());
  return named;
}

}  // namespace

Fd FileInMemory(const std::string& name, size_t size, const std::function<Status(char* to)>& write_bytes,
                std::string* why) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Fd file(memfd_create(name.c_str(), kFlags | kExecutable));
  if (!file.valid() && errno == EINVAL) file = Fd(memfd_create(name.c_str(), kFlags));
  if (!file.valid()) {
    *why = std::string("memfd_create: ") + strerror(errno);
    return file;
  }
  const Status written = WriteMapped(file.get(), size, write_bytes);
  if (!written.ok() || fchmod(file.get(), kForAll) != 0 || fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) {
    *why = written.ok() ? std::string("it cannot be sealed: ") + strerror(errno) : written.error();
    return Fd();
  }
  return CanBeExecuted(file.get(), why) ? std::move(file) : Fd();
}

Fd UnnamedFileIn(const std::string& folder, std::string_view content, std::string* why) {
  Fd file = CreateUnnamed(folder);
  if (!file.valid()) {
    *why = strerror(errno);
    return Fd();
  }
  if (const Status written = WriteAll(file.get(), content, "it"); !written.ok()) {
    *why = written.error();
    return Fd();
  }
  // What is open for writing is not executed.
  Fd read_only(open(PathOf(file.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (!read_only.valid()) *why = std::string("cannot be opened again: ") + strerror(errno);
  file.Close();
  return read_only.valid() && CanBeExecuted(read_only.get(), why) ? std::move(read_only) : Fd();
}

}  // namespace cudnn_ci
