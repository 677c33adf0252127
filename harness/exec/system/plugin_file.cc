#include "exec/system/plugin_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/embedded.h"
#include "base/fd.h"
#include "base/regular_file.h"
#include "base/sha256.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

constexpr std::string_view kSuffix = ".cci.so";
constexpr size_t kMostBytes = 256u << 20;    // of one plugin file
constexpr size_t kHashedAtOnce = 256 << 10;  // a few milliseconds, between two looks at what interrupts

FileIdentity IdentityOf(const struct stat& st) {
  FileIdentity id;
  id.device = st.st_dev;
  id.inode = st.st_ino;
  id.size = st.st_size;
  id.changed_ns = int64_t{st.st_ctim.tv_sec} * 1'000'000'000 + st.st_ctim.tv_nsec;
  return id;
}

// Of what failed for want of something the runner should have, not the file.
const char* SlugOfError(int error) {
  const bool runner = error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
  return runner ? "worker-not-started" : "plugin-load";
}

void Refuse(PluginFile* file, int error) {
  file->refused = strerror(error);
  file->slug = SlugOfError(error);
}

// A file that others can write runs whatever they put into it; a folder that they can write, what they put
// there. None: no one else can.
std::optional<Notice> WhoElse(const std::string& path, const struct stat& st) {
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) return Notice{NoticeCode::kPluginWritable, {{"path", path}}};
  if (st.st_uid == 0 || st.st_uid == geteuid()) return {};
  return Notice{NoticeCode::kPluginOwner,
                {{"path", path}, {"owner", int64_t{st.st_uid}}, {"user", int64_t{geteuid()}}}};
}

void Hash(int fd, PluginFile* file, const std::function<bool()>& stop) {
  Sha256 hash;
  std::string buffer(kHashedAtOnce, '\0');
  for (size_t bytes = 0; !stop();) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Refuse(file, errno);
    if (got == 0) {
      file->identity.sha256 = hash.Hex();
      return;
    }
    bytes += static_cast<size_t>(got);
    if (bytes > kMostBytes) break;
    hash.Update({buffer.data(), static_cast<size_t>(got)});
  }
  file->refused = stop() ? "interrupted before it was hashed" : "it grows while it is read";
}

void Look(PluginFile* file, const std::function<bool()>& stop) {
  std::string kind;
  const Fd fd = OpenRegularFile(file->path, &kind);
  if (!kind.empty()) {
    file->refused = "not a regular file: it is " + kind;
    return;
  }
  struct stat st {};
  if (!fd.valid() || fstat(fd.get(), &st) != 0) return Refuse(file, errno);
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 && st.st_uid != geteuid()) {
    file->refused = "refused: writable by others and owned by user " + std::to_string(st.st_uid) +
                    ", not by user " + std::to_string(geteuid()) + "; chmod go-w it";
    return;
  }
  if (std::optional<Notice> warning = WhoElse(file->path, st)) file->warnings.push_back(std::move(*warning));
  if (st.st_size > static_cast<off_t>(kMostBytes)) {
    file->refused = "larger than " + std::to_string(kMostBytes >> 20) +
                    " MiB, the limit for a plugin: it should load large libraries, not contain them";
    return;
  }
  file->identity = IdentityOf(st);
  Hash(fd.get(), file, stop);
}

// The names of plugin files in a folder, sorted; an error number when it cannot be read.
int NamesIn(const std::string& folder, std::vector<std::string>* names) {
  const auto is_plugin = [](const std::string& name) {
    return name[0] != '.' && name.size() > kSuffix.size() && name.ends_with(kSuffix);
  };
  for (std::string& name : EmbeddedNamesIn(folder))
    if (is_plugin(name)) names->push_back(std::move(name));
  if (!names->empty()) return 0;
  DIR* d = opendir(folder.c_str());
  if (d == nullptr) return errno;
  errno = 0;
  while (const dirent* e = readdir(d)) {
    if (const std::string name = e->d_name; is_plugin(name)) names->push_back(name);
    errno = 0;
  }
  const int error = errno;
  closedir(d);
  std::sort(names->begin(), names->end());
  return error;
}

}  // namespace

std::vector<PluginFile> FindPluginFiles(const std::vector<std::string>& folders,
                                        const std::function<bool()>& stop) {
  std::vector<PluginFile> files;
  std::set<std::string> seen;
  for (const std::string& folder : folders) {
    std::vector<std::string> names;
    const int error = NamesIn(folder, &names);
    if (error != 0 && error != ENOENT && error != ENOTDIR) {
      std::string name = folder.substr(0, folder.find_last_not_of('/') + 1);
      name.erase(0, name.rfind('/') + 1);
      files.push_back({folder, name, "", "", {}, {}});
      Refuse(&files.back(), error);
      files.back().refused = "the folder cannot be read: " + files.back().refused;
    }
    struct stat st {};
    std::optional<Notice> warning;
    if (stat(folder.c_str(), &st) == 0) warning = WhoElse(folder, st);
    for (const std::string& name : names) {
      if (stop()) return files;
      PluginFile file{
          folder + "/" + name, name.substr(0, name.size() - kSuffix.size()), "", "plugin-load", {}, {}};
      char real[PATH_MAX];
      if (!seen.insert(realpath(file.path.c_str(), real) ? real : file.path).second) continue;
      if (warning) file.warnings.push_back(*std::exchange(warning, std::nullopt));
      Look(&file, stop);
      files.push_back(std::move(file));
    }
  }
  return files;
}

std::string ChangeOf(const FileIdentity& identity, const std::string& path) {
  struct stat st {};
  if (stat(OpenablePath(path).c_str(), &st) != 0) return path + ": " + strerror(errno);
  FileIdentity now = IdentityOf(st);
  now.sha256 = identity.sha256;
  if (now == identity) return {};
  // A backup, a hard link or chmod changes the time alone.
  now.changed_ns = identity.changed_ns;
  if (PluginFile again{path, "", "", "", {}, {}}; now == identity) {
    Look(&again, [] { return false; });
    if (again.identity.sha256 == identity.sha256) return {};
  }
  return path + " is not the file that was described: it was replaced or written to";
}

}  // namespace cudnn_ci
