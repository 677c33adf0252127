#include "cli/output_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <set>

#include "base/fd.h"
#include "base/file.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// junit.xml and the further parts of a large run: junit-2.xml, junit-3.xml, ...
void RemoveJunit(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
  const fs::path p(path);
  const std::string prefix = p.stem().string() + "-";
  const std::string suffix = p.extension().string();
  std::vector<fs::path> parts;
  for (fs::directory_iterator it(FolderOf(path), ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    if (name.size() <= prefix.size() + suffix.size() || name.compare(0, prefix.size(), prefix) != 0) continue;
    if (name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) continue;
    const std::string number = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    bool digits = true;
    for (const char c : number) digits = digits && std::isdigit(static_cast<unsigned char>(c));
    if (digits) parts.push_back(it->path());
  }
  for (const fs::path& part : parts) fs::remove(part, ignored);
}

// Our attachments are "N-NAME"; what else lies there is not ours.
void RemoveAttachments(const std::string& folder) {
  std::error_code ignored;
  std::vector<fs::path> ours;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    const size_t dash = name.find_first_not_of("0123456789");
    if (dash != std::string::npos && dash > 0 && name[dash] == '-') ours.push_back(it->path());
  }
  for (const fs::path& file : ours) fs::remove(file, ignored);
  fs::remove(folder, ignored);  // only if it is empty now
}

Error CannotWrite(const std::string& folder, int error) {
  struct stat st {};
  char mode[8] = "?";
  if (stat(folder.c_str(), &st) == 0) snprintf(mode, sizeof mode, "%04o", st.st_mode & 07777);
  return Error{"cannot write reports to " + folder + ": " + strerror(error) + " (we are user " +
               std::to_string(geteuid()) + ", the folder's owner is " + std::to_string(st.st_uid) +
               ", its mode " + mode + "); mount a folder this user can write, or name one with --output-dir"};
}

Status Probe(const std::string& folder) {
  const std::string probe = folder + "/.cudnn-ci-probe-" + std::to_string(getpid());
  const Fd fd(open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid()) return CannotWrite(folder, errno);
  const ssize_t n = write(fd.get(), "probe\n", 6);
  const int error = n < 0 ? errno : ENOSPC;
  unlink(probe.c_str());
  if (n != 6) return CannotWrite(folder, error);
  return {};
}

Status MayBeReplaced(const std::string& path, const std::vector<std::string>& inputs) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) return {};
  if (!S_ISREG(st.st_mode))
    return Error{"cannot replace " + path + ": it is " +
                 (S_ISDIR(st.st_mode) ? "a directory" : "no regular file, which a report must not destroy") +
                 "; name another file"};
  for (const std::string& input : inputs) {
    struct stat other {};
    if (stat(input.c_str(), &other) == 0 && other.st_dev == st.st_dev && other.st_ino == st.st_ino)
      return Error{"the report " + path + " would replace the input " + input +
                   "; name another file or folder"};
  }
  return {};
}

}  // namespace

std::vector<std::string> OutputPaths::All() const {
  std::vector<std::string> out;
  for (const std::string& p : {junit, json, journal})
    if (!p.empty()) out.push_back(p);
  return out;
}

OutputPaths ChoosePaths(const Options& o) {
  OutputPaths p;
  p.junit = o.junit_path;
  p.json = o.json_path;
  const bool any_file = !p.junit.empty() || !p.json.empty();
  if (!o.output_dir.empty() || !any_file) p.folder = o.output_dir.empty() ? "cudnn-ci-report" : o.output_dir;
  while (p.folder.size() > 1 && p.folder.back() == '/') p.folder.pop_back();
  if (p.folder.empty()) return p;
  p.journal = p.folder + "/journal.jsonl";
  if (p.junit.empty()) p.junit = p.folder + "/junit.xml";
  if (p.json.empty()) p.json = p.folder + "/report.json";
  return p;
}

Status PrepareOutputFolder(const OutputPaths& paths, const std::vector<std::string>& inputs) {
  std::set<std::string> folders, seen;
  if (!paths.folder.empty()) folders.insert(paths.folder);
  for (const std::string& path : paths.All()) {
    folders.insert(FolderOf(path));
    if (!seen.insert(path).second) return Error{"two reports are to go to " + path + "; name two files"};
    if (Status s = MayBeReplaced(path, inputs); !s.ok()) return s;
  }
  for (const std::string& folder : folders)
    if (Status s = MakeDirectories(folder); !s.ok())
      return Error{s.error() + "; name a folder that can be created with --output-dir"};
  RemoveReports(paths);
  for (const std::string& folder : folders)
    if (Status s = Probe(folder); !s.ok()) return s;
  for (const std::string& path : paths.All())
    if (struct stat st{}; lstat(path.c_str(), &st) == 0)
      return Error{"cannot replace " + path + ": it cannot be removed; remove it or name another file"};
  return {};
}

Result<Fd> LockFolder(const std::string& folder) {
  Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A file system without locks is no reason not to run.
  if (fd.valid() && flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{"another run of cudnn-ci is writing to " + folder +
                 "; name another folder with --output-dir"};
  return fd;
}

void RemoveReports(const OutputPaths& paths) {
  std::error_code ignored;
  if (!paths.junit.empty()) RemoveJunit(paths.junit);
  for (const std::string& p : {paths.json, paths.journal})
    if (!p.empty()) {
      struct stat st {};
      if (lstat(p.c_str(), &st) == 0 && !S_ISDIR(st.st_mode)) fs::remove(p, ignored);
    }
  if (!paths.folder.empty()) RemoveAttachments(paths.folder + "/attachments");
}

}  // namespace cudnn_ci
