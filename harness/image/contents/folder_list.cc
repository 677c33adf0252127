#include "image/contents/folder_list.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/path.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::vector<std::string> FolderReader::Names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && left_ > 0; it.increment(error)) {
    --left_;
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool FolderReader::HoldsLibrary(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && left_ > 0; it.increment(error)) {
    --left_;
    if (it->path().filename().string().find(".so") != std::string::npos) return true;
  }
  return false;
}

void FolderList::Add(const std::string& folder, FolderReader* reader) {
  const std::string real = RealPath(folder);
  if (fs::path(real).filename() == "stubs") return;
  if (known_.count(real) > 0 || !reader->HoldsLibrary(folder)) return;
  known_.insert(real);
  // The shorter name, where ".." does not lead elsewhere through a link.
  const std::string normal = Normal(folder);
  folders_.push_back(RealPath(normal) == real ? normal : folder);
}

void FolderList::Add(const std::vector<std::string>& folders, FolderReader* reader) {
  for (const std::string& folder : folders) Add(folder, reader);
}

}  // namespace cudnn_ci
