#include "base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/embedded.h"

namespace cudnn_ci {
namespace {

constexpr int kToRead = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

const char* KindOf(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  return "of an unknown kind";
}

// `file` if it is regular; *kind and errno otherwise.
Fd IfRegular(Fd file, std::string* kind) {
  struct stat st {};
  if (!file.valid() || fstat(file.get(), &st) != 0) return Fd();
  if (S_ISREG(st.st_mode)) return file;
  if (kind != nullptr) *kind = KindOf(st.st_mode);
  file.Close();
  errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
  return Fd();
}

}  // namespace

Fd OpenRegularFile(const std::string& path, std::string* kind) {
  if (kind != nullptr) kind->clear();
  if (IsEmbedded(path)) return Fd(open(OpenablePath(path).c_str(), kToRead));
  // With O_PATH nothing is opened but the name: no driver and no waiting reader or writer hears of it.
  const Fd found = IfRegular(Fd(open(path.c_str(), O_PATH | O_CLOEXEC)), kind);
  if (!found.valid()) return Fd();
  Fd same(open(("/proc/self/fd/" + std::to_string(found.get())).c_str(), kToRead));
  if (!same.valid() && errno != ENOENT) return Fd();
  // Without /proc something else may stand there by now, or be the /proc.
  if (!same.valid()) same = Fd(open(path.c_str(), kToRead));
  return IfRegular(std::move(same), kind);
}

}  // namespace cudnn_ci
