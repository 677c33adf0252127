#include "exec/system/scratch_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "base/remove_tree.h"

namespace cudnn_ci {
namespace {

constexpr double kRemoveS = 2;  // other processes wait; what is left goes with the run's own folder

}  // namespace

Result<ScratchFolder> ScratchFolder::Make(const std::string& parent, int64_t id) {
  ScratchFolder folder;
  const std::string path = parent + "/worker-" + std::to_string(id);
  if (mkdir(path.c_str(), 0700) != 0) return Error{"cannot make " + path + ": " + strerror(errno)};
  folder.path_ = path;
  folder.folder_ = Fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.folder_.valid()) return Error{"cannot open " + path + ": " + strerror(errno)};
  return folder;
}

ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept {
  Remove();
  path_ = std::exchange(other.path_, {});
  folder_ = std::move(other.folder_);
  return *this;
}

bool ScratchFolder::AsNew() const {
  struct stat held {
  }, there{};
  if (fstat(folder_.get(), &held) != 0 || lstat(path_.c_str(), &there) != 0) return false;
  if (held.st_dev != there.st_dev || held.st_ino != there.st_ino) return false;
  if (held.st_uid != geteuid() || held.st_mode != (S_IFDIR | 0700)) return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(path_.c_str()), closedir);
  if (!entries) return false;
  while (const dirent* entry = readdir(entries.get())) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) return false;
  }
  return true;
}

void ScratchFolder::Remove() {
  folder_.Close();
  if (path_.empty()) return;
  if (rmdir(path_.c_str()) != 0) RemoveTree(path_, kRemoveS);
  path_.clear();
}

Result<std::string> ScratchFolder::Take(const std::string& name, int64_t max_bytes) {
  if (name.empty() || name.find('/') != std::string::npos) return Error{"'" + name + "' is not a file name"};
  const Fd file(openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return Error{name + ": " + strerror(errno)};
  struct stat st {};
  if (fstat(file.get(), &st) != 0 || !S_ISREG(st.st_mode)) return Error{name + " is not a regular file"};
  if (st.st_size > max_bytes) return Error{name + " is larger than " + std::to_string(max_bytes) + " bytes"};
  std::string content(static_cast<size_t>(st.st_size), '\0');
  size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = read(file.get(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{name + ": " + strerror(errno)};
    if (got == 0) break;  // it was cut meanwhile
    size += static_cast<size_t>(got);
  }
  content.resize(size);
  unlinkat(folder_.get(), name.c_str(), 0);
  return content;
}

}  // namespace cudnn_ci
