#include "image/contents/unreadable_folders.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/path.h"
#include "base/text.h"
#include "image/contents/folder_list.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostNamed = 20;

bool IsRefused(const std::string& path, int wanted) {
  return faccessat(AT_FDCWD, path.c_str(), wanted, AT_EACCESS) != 0 && errno == EACCES;
}

// The folder at or above the path that is in the way; empty: none is.
std::string RefusedFolder(const std::string& path) {
  if (!IsRefused(path, R_OK | X_OK)) return {};
  std::string folder = path;
  while (folder.size() > 1 && IsRefused(DirectoryOf(folder), X_OK)) folder = DirectoryOf(folder);
  return IsFolder(folder) ? folder : std::string();
}

}  // namespace

std::vector<std::string> UnreadableFolders(const Variables& environment, bool usual_places,
                                           const std::string& root) {
  std::set<std::string> refused;
  const auto look_at = [&](const std::string& path) {
    if (path.empty() || path[0] != '/') return;
    if (std::string folder = RefusedFolder(Normal(path)); !folder.empty()) refused.insert(std::move(folder));
  };
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) look_at(ValueOf(environment, variable));
  for (const char* variable : {"PATH", "LD_LIBRARY_PATH"})
    for (const std::string& folder : Split(ValueOf(environment, variable), ':')) look_at(folder);
  if (usual_places) {
    FolderReader reader;
    std::vector<std::string> places = {ValueOf(environment, "HOME")};
    for (const char* place : {"/", "/usr/local", "/opt", "/srv", "/app", "/workspace", "/home"})
      places.push_back(root + place);
    for (const std::string& place : places) {
      look_at(place);
      for (const std::string& name : reader.Names(place)) look_at(Normal(place + "/" + name));
    }
  }
  std::vector<std::string> named(refused.begin(), refused.end());
  if (named.size() > kMostNamed) named.resize(kMostNamed);
  return named;
}

}  // namespace cudnn_ci
