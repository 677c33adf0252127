// What a container has left: taken over with bounds, and put into its place.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "launch/evidence.h"
#include "launch/folder.h"
#include "launch/speech.h"
#include "report/record/own_reports.h"

namespace cudnn_ci::launch {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostAttachment = uint64_t{16} << 20, kMostOfAttachments = uint64_t{256} << 20;
constexpr size_t kMostAttachments = 1000;

enum class Taken { kNothing, kWhole, kTooLarge, kFailed };

// Copies at most the first `most` bytes of a file; *size is how many.
Taken CopyAll(int from, const std::string& to, uint64_t most, uint64_t* size) {
  const Fd out(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  std::string buffer(size_t{256} << 10, '\0');
  for (*size = 0; out.valid();) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) return Taken::kWhole;
    if (got < 0 || !WriteAll(out.get(), {buffer.data(), static_cast<size_t>(got)}, to).ok()) break;
    *size += static_cast<uint64_t>(got);
    if (*size > most) return unlink(to.c_str()), Taken::kTooLarge;
  }
  unlink(to.c_str());
  return Taken::kFailed;
}

// A file of the container's, if it is a plain one: a link would show what the caller can read. `folder` is
// the descriptor of where it lies, `title` what messages call it.
Taken Take(int folder, const std::string& name, const std::string& title, uint64_t most,
           const std::string& to, uint64_t* size) {
  const Fd fd(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat st {};
  if (!fd.valid() || fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return Taken::kNothing;
  const Taken taken =
      static_cast<uint64_t>(st.st_size) > most ? Taken::kTooLarge : CopyAll(fd.get(), to, most, size);
  if (taken == Taken::kTooLarge)
    Say(title + " is left out: it is larger than " + std::to_string(most >> 20) + " MiB");
  return taken;
}

Fd OpenFolder(int parent, const std::string& name) {
  return Fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// What the journal names, as far as it is there.
bool TakeAttachments(int reports, const std::string& made) {
  constexpr std::string_view kFolder = "attachments/";
  const Fd folder = OpenFolder(reports, "attachments");
  if (!folder.valid()) return true;
  uint64_t total = 0;
  std::vector<std::string> named = AttachmentsNamedBy(made + "/journal.jsonl");
  if (named.size() > kMostAttachments) named.resize(kMostAttachments);
  for (const std::string& path : named) {
    uint64_t size = 0;
    const uint64_t room = std::min(kMostAttachment, kMostOfAttachments - total);
    const Taken taken = Take(folder.get(), path.substr(kFolder.size()), path, room, made + "/" + path, &size);
    if (taken == Taken::kFailed) return false;
    if (taken == Taken::kWhole) total += size;
  }
  return true;
}

// The name in the output folder; empty: it is not published.
std::string PlaceOf(const std::string& name, bool confirmed) {
  if (confirmed || name == "journal.jsonl") return name;
  return name == "junit.xml"     ? "junit-unconfirmed.xml"
         : name == "report.json" ? "report-unconfirmed.json"
                                 : "";
}

// False: it is not there now.
bool Move(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) == 0) return true;
  Say(to + " cannot be written");
  return false;
}

bool PublishAttachments(const std::string& made, const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> names;
  for (fs::directory_iterator it(made + "/attachments", failed), end; !failed && it != end;
       it.increment(failed))
    names.push_back(it->path().filename().string());
  if (names.empty()) return true;
  const std::string attachments = folder + "/attachments";
  struct stat st {};
  if (!MakeDirectories(attachments).ok() || lstat(attachments.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) {
    Say(attachments + " is not a folder, so the attachments cannot be written");
    return false;
  }
  for (const std::string& name : names) {
    const std::string to = attachments + "/" + name;
    if (Exists(to)) {
      Say(to + " already exists and is not replaced by an attachment");
      return false;
    }
    if (!Move(made + "/attachments/" + name, to)) return false;
  }
  return true;
}

// In the order in which they appear: junit.xml, by which the run is known, is the last.
std::vector<std::string> ToPublish(const std::string& made) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator it(made, failed), end; !failed && it != end; it.increment(failed))
    if (it->is_regular_file(failed)) names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a == "junit.xml", a) < std::pair(b == "junit.xml", b);
  });
  return names;
}

}  // namespace

bool OutputFolder::Collect(bool confirmed) const {
  std::error_code failed;
  fs::remove_all(made(), failed);
  fs::create_directories(made() + "/attachments", failed);
  const Fd reports_folder(open(reports().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (failed || !reports_folder.valid()) return false;
  uint64_t size = 0;
  const auto take = [&](const std::string& name) {
    const uint64_t most = confirmed ? MostBytes(name) : std::min(MostBytes(name), kMostEarlierBytes);
    const std::string to = made() + "/" + name;
    const Taken taken = Take(reports_folder.get(), name, name, most, to, &size);
    // What the next run could not know as ours would be in its way.
    if (taken == Taken::kWhole && !confirmed && !IsOurs(to)) unlink(to.c_str());
    return taken != Taken::kFailed;
  };
  bool whole = take("journal.jsonl") && TakeAttachments(reports_folder.get(), made());
  if (!confirmed)
    for (const char* name : {"report.json", "junit.xml"}) whole = take(name) && whole;
  return whole;
}

bool OutputFolder::Publish(bool confirmed, bool summary, const std::string& token) const {
  constexpr size_t kMostOwnJunit = 64 << 10;
  if (ReadSmallFile(path_ + "/junit.xml", kMostOwnJunit).find(token) == std::string::npos) {
    Say("another run has written to " + path_);
    return false;
  }
  if (!PublishAttachments(made(), path_)) return false;
  for (const std::string& name : ToPublish(made())) {
    const std::string place = PlaceOf(name, confirmed);
    if (place.empty()) continue;
    const std::string to = path_ + "/" + place;
    if (Exists(to) && !IsOurs(to)) {
      Say(to + " is not a report of cudnn-ci and is not replaced");
      if (name == "report.html" || (name == "summary.md" && !summary)) continue;
      return false;
    }
    if (!Move(made() + "/" + name, to)) return false;
  }
  return true;
}

}  // namespace cudnn_ci::launch
