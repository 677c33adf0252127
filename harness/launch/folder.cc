#include "launch/folder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "base/remove_tree.h"
#include "base/text.h"
#include "launch/options.h"
#include "launch/speech.h"
#include "report/record/own_reports.h"

namespace cudnn_ci::launch {
namespace {

constexpr double kSecondsToRemove = 60;
constexpr std::string_view kWorkName = ".cudnn-ci-run.";
constexpr char kNote[] = "container-asked-for";
constexpr time_t kSecondsToCome = 3600;  // of an image of many GiB, on a disk that copies it
constexpr mode_t kForAnyUser = 0777;

std::string HostName() {
  utsname name{};
  return uname(&name) == 0 ? name.nodename : "";
}

// "junit-2.xml": a further part of a large run's.
bool IsFurtherJunit(const std::string& name) { return name.starts_with("junit-") && name.ends_with(".xml"); }

// A file of another's under one of our names.
Status CheckNames(const std::string& folder, bool attestation, bool summary) {
  std::vector<std::string> names = {"junit.xml",     "junit-unconfirmed.xml",
                                    "report.json",   "report-unconfirmed.json",
                                    "journal.jsonl", "launcher.json"};
  if (attestation) names.emplace_back("attestation.json");
  if (summary) names.emplace_back("summary.md");
  for (const std::string& name : names)
    if (const std::string file = folder + "/" + name; Exists(file) && !IsOurs(file))
      return Error{file +
                   " is not a report of cudnn-ci and is not replaced; name another folder with --output-dir"};
  return {};
}

// What the earlier journal names, and their folder once it is empty. Not through a link to somewhere else.
void RemoveAttachments(const std::string& folder) {
  struct stat st {};
  const std::string attachments = folder + "/attachments";
  if (lstat(attachments.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) return;
  for (const std::string& file : AttachmentsNamedBy(folder + "/journal.jsonl"))
    unlink((folder + "/" + file).c_str());
  rmdir(attachments.c_str());
}

Status RemoveEarlierReports(const std::string& folder, bool attestation, bool summary) {
  if (Status s = CheckNames(folder, attestation, summary); !s.ok()) return s;
  RemoveAttachments(folder);
  // A foreign report.html or summary.md that we were not asked to write stays.
  std::vector<std::string> names = {"junit.xml",     "report.json",  "report-unconfirmed.json",
                                    "report.html",   "summary.md",   "attestation.json",
                                    "journal.jsonl", "launcher.json"};
  for (const std::string& name : NamesIn(folder))
    if (IsFurtherJunit(name)) names.push_back(name);
  for (const std::string& name : names) {
    const std::string file = folder + "/" + name;
    if (IsOurs(file) && unlink(file.c_str()) != 0)
      return Error{file + ": this earlier report cannot be removed"};
  }
  return {};
}

std::string UserName() {
  for (const char* variable : {"USER", "LOGNAME"})
    if (const char* name = getenv(variable); name != nullptr && name[0] != '\0') return name;
  return "user " + std::to_string(geteuid());
}

// The owner of a run's folder: "HOST PID TOKEN". False: it is none.
bool ReadOwner(const std::string& file, std::string* host, pid_t* pid, std::string* token) {
  struct stat st {};
  if (lstat(file.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  const std::vector<std::string> parts = Split(Trim(ReadSmallFile(file, 1000)), ' ');
  if (parts.size() != 3) return false;
  const bool fits = !parts[1].empty() && parts[1].size() < 10 &&
                    parts[1].find_first_not_of("0123456789") == std::string::npos && !parts[2].empty() &&
                    parts[2].find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!fits) return false;
  *host = parts[0];
  *pid = atoi(parts[1].c_str());
  *token = parts[2];
  return *pid > 0;
}

// Whether the container of a run's folder may be under way: its engine was asked for it a short while ago.
bool MayStillCome(const std::string& folder) {
  struct stat st {};
  return stat((folder + "/" + kNote).c_str(), &st) == 0 && time(nullptr) - st.st_mtime < kSecondsToCome;
}

}  // namespace

bool IsOurs(const std::string& path) {
  constexpr size_t kHead = 8192;
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  const std::string head = ReadSmallFile(path, kHead);
  return !FormatOfHead(head).empty() || head.find("\"schema\": \"cudnn-ci/launcher/") != std::string::npos;
}

OutputFolder::~OutputFolder() {
  if (!work_.empty() && !keep_ && !RemoveTree(work_, kSecondsToRemove))
    Say(work_ + " could not be removed: the container left files there that belong to another user");
}

Status OutputFolder::PrepareWithoutReports() {
  const char* const scratch = getenv("TMPDIR");
  work_ = std::string(scratch == nullptr || scratch[0] == '\0' ? "/tmp" : scratch) + "/cudnn-ci-run.XXXXXX";
  if (mkdtemp(work_.data()) == nullptr) {
    work_.clear();
    return Error{"no temporary folder; set TMPDIR"};
  }
  return mkdir(reports().c_str(), 0755) == 0 ? Status() : Status(Error{work_ + " cannot be written"});
}

Status OutputFolder::Prepare(const std::string& folder, bool attestation, bool summary, const RunWords& run) {
  Status prepared = Make(folder, attestation, summary, run);
  if (!prepared.ok()) locks_ = ReportLocks();  // for whoever takes away what is there
  return prepared;
}

Status OutputFolder::Make(const std::string& folder, bool attestation, bool summary, const RunWords& run) {
  if (!MakeDirectories(folder).ok() || access(folder.c_str(), W_OK) != 0)
    return Error{folder + " cannot be written by " + UserName() + "; name another folder with --output-dir"};
  const Result<std::string> absolute = FolderToMount(folder);
  if (!absolute.ok()) return Error{absolute.error()};
  path_ = *absolute;
  for (const char* name : {"junit.xml", "report.json", "report.html", "journal.jsonl"})
    if (Status s = locks_.Take(path_ + "/" + name); !s.ok()) return s;
  if (Status s = RemoveEarlierReports(path_, attestation, summary); !s.ok()) return s;
  work_ = path_ + "/" + std::string(kWorkName) + "XXXXXX";
  if (mkdtemp(work_.data()) == nullptr) {
    work_.clear();
    return Error{path_ + " cannot be written; name another folder with --output-dir"};
  }
  const std::string attachments = reports() + "/attachments", word = reports() + "/run-token";
  // Open to every user, because the container's may be any; the folder around it is the caller's alone.
  const bool made = mkdir(reports().c_str(), 0755) == 0 && mkdir(attachments.c_str(), 0755) == 0 &&
                    chmod(reports().c_str(), kForAnyUser) == 0 &&
                    chmod(attachments.c_str(), kForAnyUser) == 0;
  // No variable, argument or mount, which all processes of the container can read. cudnn-ci takes the file
  // away before it starts anything of the image, and says the word when nothing of that is left.
  const bool written = made && WriteFileAtomically(word, run.secret + "\n").ok() &&
                       chmod(word.c_str(), 0644) == 0 &&
                       WriteFileAtomically(work_ + "/owner", HostName() + " " + std::to_string(getpid()) +
                                                                 " " + run.token + "\n")
                           .ok();
  return written ? Status() : Status(Error{work_ + " cannot be written"});
}

void OutputFolder::NoteContainer() const {
  (void)WriteFileAtomically(work_ + "/" + kNote, "the engine was asked to create the container\n");
}

void OutputFolder::RemoveAbandoned(
    const std::function<bool(const std::string& token)>& remove_container) const {
  for (const std::string& name : NamesIn(path_)) {
    std::string host, token;
    pid_t pid = 0;
    const std::string folder = path_ + "/" + name;
    if (!name.starts_with(kWorkName) || folder == work_ || !ReadOwner(folder + "/owner", &host, &pid, &token))
      continue;
    if (host != HostName() || kill(pid, 0) == 0 || errno == EPERM || Exists("/proc/" + std::to_string(pid)))
      continue;
    if (!remove_container(token) && MayStillCome(folder)) continue;
    (void)RemoveTree(folder, kSecondsToRemove);
  }
}

}  // namespace cudnn_ci::launch
