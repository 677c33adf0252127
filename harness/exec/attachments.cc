#include "exec/attachments.h"

#include <algorithm>
#include <cctype>

#include "base/file.h"

namespace cudnn_ci {

bool Attachments::Take(ScratchFolder* scratch, Attached* attached) {
  if (folder_.empty()) return false;
  const Result<std::string> content =
      scratch->Take(attached->path, std::min(kMostBytes, kMostBytesOfRun - bytes_));
  if (!content.ok() || !MakeDirectories(folder_ + "/attachments").ok()) return false;
  std::string name;
  for (const char c : attached->name)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_' ? c : '_';
  const std::string relative = "attachments/" + std::to_string(++count_) + "-" + name.substr(0, 80);
  if (!WriteFileAtomically(folder_ + "/" + relative, *content).ok()) return false;
  bytes_ += static_cast<int64_t>(content->size());
  attached->path = relative;
  return true;
}

}  // namespace cudnn_ci
