#include "cli/output_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/secrets.h"
#include "base/text.h"
#include "cli/diagnostics.h"
#include "report/formats/attestation.h"
#include "report/record/own_reports.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void RemoveIfOurs(const std::string& path) {
  if (IsOwnReport(path)) unlink(path.c_str());
}

// What the launcher left of an earlier run, which would be taken for its word on this one.
void RemoveOfLauncher(const std::string& folder) {
  for (const char* name :
       {"junit-unconfirmed.xml", "report-unconfirmed.json", "summary.md", "attestation.json"})
    RemoveIfOurs(folder + "/" + name);
  const std::string record = folder + "/launcher.json";
  struct stat st {};
  if (lstat(record.c_str(), &st) == 0 && S_ISREG(st.st_mode) &&
      ReadSmallFile(record, 200).find("\"schema\": \"cudnn-ci/launcher/") != std::string::npos)
    unlink(record.c_str());
}

bool IsOfAnother(const std::string& path) {
  struct stat st {};
  return lstat(path.c_str(), &st) == 0 && !IsOwnReport(path);
}

// The path of a format's report; empty: it is not written.
std::string PathOf(const OutputPaths& paths, const ReportFormat& format) {
  const auto path = paths.reports.find(format.name);
  return path == paths.reports.end() ? std::string() : path->second;
}

// Whether `name` is that of a further part of the report `first`: junit-2.xml, junit-17.xml.
bool IsPartOf(const std::string& first, const std::string& name) {
  const fs::path p(first);
  const std::string prefix = p.stem().string() + "-", suffix = p.extension().string();
  if (name.size() <= prefix.size() + suffix.size() || name.compare(0, prefix.size(), prefix) != 0)
    return false;
  if (name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) return false;
  const std::string number = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  return std::all_of(number.begin(), number.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

// The further parts that a large run leaves.
void RemoveParts(const std::string& path) {
  std::vector<std::string> parts;
  std::error_code ignored;
  for (fs::directory_iterator it(FolderOf(path), ignored), end; !ignored && it != end; it.increment(ignored))
    if (IsPartOf(path, it->path().filename().string())) parts.push_back(it->path().string());
  for (const std::string& part : parts) RemoveIfOurs(part);
}

// What the journal names, beside it, and their folder once it is empty. Not through a link to somewhere else.
void RemoveAttachments(const std::string& journal) {
  struct stat st {};
  const std::string folder = FolderOf(journal), attachments = folder + "/attachments";
  if (lstat(attachments.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) return;
  for (const std::string& file : AttachmentsNamedBy(journal)) unlink((folder + "/" + file).c_str());
  rmdir(attachments.c_str());
}

Status Probe(const std::string& folder) {
  const std::string probe = folder + "/.cudnn-ci-probe-" + std::to_string(getpid());
  const Fd fd(open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid()) return CannotWriteReports(folder, errno);
  const ssize_t n = write(fd.get(), "probe\n", 6);
  const int error = n < 0 ? errno : ENOSPC;
  unlink(probe.c_str());
  if (n != 6) return CannotWriteReports(folder, error);
  return {};
}

Status MayBeReplaced(const std::string& path, const std::vector<std::string>& inputs) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) return {};
  if (!S_ISREG(st.st_mode))
    return Error{"cannot replace " + path + ": it is " +
                 (S_ISDIR(st.st_mode) ? "a directory" : "not a regular file") + "; name another file"};
  for (const std::string& input : inputs) {
    struct stat other {};
    if (stat(input.c_str(), &other) == 0 && other.st_dev == st.st_dev && other.st_ino == st.st_ino)
      return Error{"the report " + path + " would replace the input " + input +
                   "; name another file or folder"};
  }
  if (!IsOwnReport(path))
    return Error{"cannot replace " + path +
                 ": it is not a report of cudnn-ci; remove it, or name another file or folder"};
  return {};
}

// The path with links in its folder resolved: one file has one such path. Its folder exists.
std::string Resolved(const std::string& path) {
  char folder[PATH_MAX];
  return (realpath(FolderOf(path).c_str(), folder) ? std::string(folder) : FolderOf(path)) + "/" +
         NameOf(path);
}

Status AreDifferentFiles(const OutputPaths& paths) {
  std::set<std::string> seen;
  for (const std::string& path : paths.All())
    if (!seen.insert(Resolved(path)).second)
      return Error{"two reports would go to " + path + "; name two files"};
  for (const ReportFormat& format : ReportFormats()) {
    const std::string first = PathOf(paths, format);
    if (first.empty() || !format.in_parts) continue;
    for (const std::string& path : paths.All())
      if (FolderOf(Resolved(path)) == FolderOf(Resolved(first)) && IsPartOf(first, NameOf(path)))
        return Error{"two reports would go to " + path + ": it takes the further cases of " + first +
                     "; name another file"};
  }
  return {};
}

Status Prepare(const OutputPaths& paths, const std::vector<std::string>& inputs, ReportLocks* locks) {
  for (const std::string& path : paths.All())
    if (IsNameOfLock(path))
      return Error{"cannot write a report to " + path + ": names that end in " + kLockSuffix +
                   " are reserved for locks; name another file"};
  std::set<std::string> folders;
  if (!paths.folder.empty()) folders.insert(paths.folder);
  for (const std::string& path : paths.All()) folders.insert(FolderOf(path));
  for (const std::string& folder : folders)
    if (Status s = locks->MakeFolder(folder); !s.ok())
      return Error{s.error() + "; name a folder that can be created with --output-dir"};
  if (Status s = AreDifferentFiles(paths); !s.ok()) return s;
  for (const std::string& path : paths.All())
    if (Status s = locks->Take(path); !s.ok()) return s;
  for (const std::string& path : paths.All())
    if (Status s = MayBeReplaced(path, inputs); !s.ok()) return s;
  RemoveReports(paths);
  for (const std::string& folder : folders)
    if (Status s = Probe(folder); !s.ok()) return s;
  for (const std::string& path : paths.All())
    if (struct stat st{}; lstat(path.c_str(), &st) == 0)
      return Error{"cannot replace " + path + ": it cannot be removed; remove it or name another file"};
  return {};
}

}  // namespace

std::vector<std::string> OutputPaths::All() const {
  std::vector<std::string> out;
  for (const ReportFormat& format : ReportFormats())
    if (std::string path = PathOf(*this, format); !path.empty()) out.push_back(std::move(path));
  if (!journal.empty()) out.push_back(journal);
  return out;
}

OutputPaths ChoosePaths(const ReportOptions& o) {
  OutputPaths p;
  p.reports = o.paths;
  for (auto& [name, path] : p.reports) {
    if (path != kStandardOutput) continue;
    p.to_stdout = name;
    path.clear();
  }
  const bool any_file = !p.All().empty() || !p.to_stdout.empty();
  if (!o.output_dir.empty() || !any_file) p.folder = o.output_dir.empty() ? kReportFolder : o.output_dir;
  while (p.folder.size() > 1 && p.folder.back() == '/') p.folder.pop_back();
  if (p.folder.empty()) return p;
  p.journal = p.folder + "/journal.jsonl";
  for (const ReportFormat& format : ReportFormats()) {
    std::string& path = p.reports[format.name];
    if (!path.empty() || !format.file_name || p.to_stdout == format.name) continue;
    path = p.folder + "/" + format.file_name;
    if (!format.may_yield || !IsOfAnother(path)) continue;
    p.left_out.push_back(path);
    path.clear();
  }
  return p;
}

RunSummaryOptions ScreenOf(const OutputPaths& paths, const std::string& reports_at) {
  const Secrets& secrets = Secrets::OfThisProcess();
  const auto shown = [&](const std::string& path) {
    return secrets.Mask(
        CleanText(reports_at.empty() || path.empty() ? path : reports_at + "/" + NameOf(path)));
  };
  RunSummaryOptions screen;
  for (const std::string& path : paths.All()) screen.reports.push_back(shown(path));
  if (const auto statement = paths.reports.find(kAttestationFormat); statement != paths.reports.end())
    screen.attestation = shown(statement->second);
  return screen;
}

void PrintLeftOutReports(const OutputPaths& paths) {
  for (const std::string& path : paths.left_out)
    PrintDiagnostic(path + " is not written: a file that is not a report of cudnn-ci has its name");
}

namespace {

bool IsSameFile(const std::string& a, const std::string& b) {
  struct stat x {
  }, y{};
  return stat(a.c_str(), &x) == 0 && stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

}  // namespace

OutputPaths WithoutInputs(OutputPaths paths, const std::vector<std::string>& inputs) {
  const auto is_input = [&](const std::string& path) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const std::string& input) { return IsSameFile(path, input); });
  };
  if (is_input(paths.journal)) paths.journal.clear();
  std::erase_if(paths.reports, [&](const auto& report) { return is_input(report.second); });
  return paths;
}

Result<ReportLocks> PrepareReports(const OutputPaths& paths, const std::vector<std::string>& inputs) {
  Result<ReportLocks> locks{ReportLocks()};
  const Status status = Prepare(paths, inputs, &*locks);
  if (status.ok()) return locks;
  locks = ReportLocks();  // let go, to take one by one what can be had
  WithdrawReports(WithoutInputs(paths, inputs));
  return Error{status.error()};
}

void RemoveReports(const OutputPaths& paths) {
  // While the journal that names them is there.
  if (!paths.journal.empty()) RemoveAttachments(paths.journal);
  for (const ReportFormat& format : ReportFormats()) {
    const std::string path = PathOf(paths, format);
    if (path.empty()) continue;
    RemoveIfOurs(path);
    if (format.in_parts) RemoveParts(path);
  }
  if (!paths.journal.empty()) RemoveIfOurs(paths.journal);
  if (!paths.folder.empty()) RemoveOfLauncher(paths.folder);
}

void WithdrawReports(const OutputPaths& paths) {
  // One by one: there may be few descriptors.
  const auto remove = [](const std::string& path, const OutputPaths& what) {
    ReportLocks lock;
    if (!path.empty() && !IsNameOfLock(path) && access(FolderOf(path).c_str(), F_OK) == 0 &&
        lock.Take(path).ok())
      RemoveReports(what);
  };
  // The journal stands for its folder's attachments.
  remove(paths.journal, {paths.folder, paths.journal});
  for (const auto& [name, path] : paths.reports) remove(path, {"", "", {{name, path}}});
}

}  // namespace cudnn_ci
