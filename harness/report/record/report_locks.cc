#include "report/record/report_locks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

namespace cudnn_ci {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool IsNameOfLock(const std::string& path) { return path.ends_with(kLockSuffix); }

Error CannotWriteReports(const std::string& folder, int error) {
  struct stat st {};
  char mode[8] = "?";
  if (stat(folder.c_str(), &st) == 0) snprintf(mode, sizeof mode, "%04o", st.st_mode & 07777);
  return Error{"cannot write reports to " + folder + ": " + strerror(error) + " (this is user " +
               std::to_string(geteuid()) + ", the folder's owner is " + std::to_string(st.st_uid) +
               ", its mode " + mode + "); mount a folder this user can write, or name one with --output-dir"};
}

Status ReportLocks::Take(const std::string& report_path) {
  const std::string folder = FolderOf(report_path);
  const std::string path = folder + "/." + NameOf(report_path) + kLockSuffix;
  // The holder removes the file when it is done: a lock on a file that has no name any more locks nothing.
  for (int attempt = 0; attempt < 100; ++attempt) {
    Fd fd(open(path.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    if (!fd.valid()) return CannotWriteReports(folder, errno);
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      return Error{"another run of cudnn-ci is writing " + report_path + "; name another file or folder"};
    struct stat held {
    }, named{};
    if (fstat(fd.get(), &held) == 0 && lstat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
        held.st_dev == named.st_dev) {
      locks_.emplace_back(path, std::move(fd));
      return {};
    }
  }
  return Error{"cannot lock " + report_path + ": " + path + " keeps changing; name another file"};
}

Status ReportLocks::MakeFolder(const std::string& folder) {
  const bool there = access(folder.c_str(), F_OK) == 0;
  Status made = MakeDirectories(folder);
  if (!there && made.ok()) made_.push_back(folder);
  return made;
}

void ReportLocks::Undo() {
  const std::vector<std::string> made = std::move(made_);
  *this = ReportLocks();
  for (const std::string& folder : made) rmdir(folder.c_str());  // not where something is in it
}

ReportLocks::~ReportLocks() {
  for (const auto& [path, fd] : locks_) {
    struct stat held {
    }, named{};
    // Never more than the empty file that was made for it.
    if (fstat(fd.get(), &held) == 0 && held.st_size == 0 && S_ISREG(held.st_mode) &&
        lstat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev)
      unlink(path.c_str());
  }
}

}  // namespace cudnn_ci
