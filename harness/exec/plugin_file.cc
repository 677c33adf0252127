#include "exec/plugin_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <set>

#include "base/file.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr char kSuffix[] = ".cci.so";
constexpr size_t kMostBytes = 1u << 30;  // of one plugin file

FileIdentity IdentityOf(const struct stat& st) {
  FileIdentity id;
  id.device = st.st_dev;
  id.inode = st.st_ino;
  id.size = st.st_size;
  id.changed_ns = int64_t{st.st_ctim.tv_sec} * 1'000'000'000 + st.st_ctim.tv_nsec;
  return id;
}

// A file others can write runs whatever they put into it.
void Look(PluginFile* file) {
  struct stat st {};
  if (stat(file->path.c_str(), &st) != 0) {
    file->refused = strerror(errno);
    return;
  }
  if (!S_ISREG(st.st_mode)) {
    file->refused = "not a regular file";
    return;
  }
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    if (st.st_uid != geteuid()) {
      file->refused = "refused: writable by others and owned by user " + std::to_string(st.st_uid) +
                      ", not by user " + std::to_string(geteuid()) + "; chmod go-w it";
      return;
    }
    file->warning = file->path + " is writable by others: chmod go-w it";
  }
  file->identity = IdentityOf(st);
  const Result<std::string> content = ReadFile(file->path, kMostBytes);
  if (content.ok())
    file->identity.sha256 = Sha256Hex(*content);
  else
    file->refused = content.error();
}

}  // namespace

std::vector<PluginFile> FindPluginFiles(const std::vector<std::string>& folders) {
  std::vector<PluginFile> files;
  std::set<std::string> seen;
  for (const std::string& folder : folders) {
    DIR* d = opendir(folder.c_str());
    if (!d) continue;
    std::vector<std::string> names;
    while (const dirent* e = readdir(d)) names.emplace_back(e->d_name);
    closedir(d);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const size_t suffix = sizeof kSuffix - 1;
      if (name[0] == '.' || name.size() <= suffix || name.compare(name.size() - suffix, suffix, kSuffix) != 0)
        continue;
      PluginFile file{folder + "/" + name, name.substr(0, name.size() - suffix), "", "", {}};
      char real[PATH_MAX];
      if (!seen.insert(realpath(file.path.c_str(), real) ? real : file.path).second) continue;
      Look(&file);
      files.push_back(std::move(file));
    }
  }
  return files;
}

std::string ChangeOf(const FileIdentity& identity, const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return path + ": " + strerror(errno);
  FileIdentity now = IdentityOf(st);
  now.sha256 = identity.sha256;
  if (now == identity) return {};
  return path + " is not the file that was described: it was replaced or written to";
}

}  // namespace cudnn_ci
