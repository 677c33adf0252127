#include "exec/system/attachments.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/secrets.h"

namespace cudnn_ci {
namespace {

// A new file `name` in FOLDER/attachments, which is made when it is not there.
Status WriteNewFile(const std::string& folder, const std::string& name, const std::string& content) {
  const auto failed = [&](const std::string& what) { return Error{what + ": " + strerror(errno)}; };
  const Fd report(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!report.valid()) return failed(folder);
  if (mkdirat(report.get(), "attachments", 0777) != 0 && errno != EEXIST) return failed("attachments");
  const Fd attachments(openat(report.get(), "attachments", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!attachments.valid()) return failed("attachments");
  const Fd file(
      openat(attachments.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.valid()) return failed("attachments/" + name);
  Status written = WriteAll(file.get(), content, "attachments/" + name);
  if (!written.ok()) unlinkat(attachments.get(), name.c_str(), 0);
  return written;
}

}  // namespace

Status Attachments::Take(ScratchFolder* scratch, Attached* attached) {
  const Result<std::string> content =
      scratch->Take(attached->path, std::min(kMostBytes, kMostBytesOfRun - bytes_));
  if (!content.ok()) return Error{content.error()};
  if (attached->mime == kTableType) {
    Result<AttachedTable> table = ParseTable(*content);
    if (!table.ok()) return Error{"it is not a table: " + table.error()};
    attached->table = std::move(*table);
  }
  std::string name = std::to_string(++count_) + "-";
  // Neither the name of the file nor what is in it may hold a secret; places in the file stay.
  const Secrets& secrets = Secrets::OfThisProcess();
  for (const char c : secrets.Mask(attached->name).substr(0, 80))
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_' ? c : '_';
  if (Status written = WriteNewFile(folder_, name, secrets.MaskKeepingLength(*content)); !written.ok())
    return written;
  bytes_ += static_cast<int64_t>(content->size());
  attached->path = "attachments/" + name;
  return {};
}

}  // namespace cudnn_ci
