#include "base/path.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/embedded.h"

namespace cudnn_ci {

namespace fs = std::filesystem;

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string Normal(const std::string& path) {
  std::string normal = fs::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

std::string RealPath(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (!resolved) return path;
  std::string result = resolved;
  free(resolved);
  return result;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names = EmbeddedNamesIn(folder);
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool Exists(const std::string& path) {
  if (IsEmbedded(path)) return true;
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

bool LiesIn(const std::string& path, const std::string& folder) {
  const std::string real = RealPath(folder);
  const auto below = [&real](const std::string& p) { return p.compare(0, real.size() + 1, real + "/") == 0; };
  // The file itself may be a link to where a package manager keeps it.
  return below(RealPath(path)) || below(RealPath(DirectoryOf(path)) + "/");
}

bool LiesInAny(const std::string& path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const std::string& folder) { return LiesIn(path, folder); });
}

}  // namespace cudnn_ci
