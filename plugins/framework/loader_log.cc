#include "framework/loader_log.h"

#include <filesystem>
#include <fstream>

namespace cudnn_ci {
namespace {

constexpr char kStem[] = "libcudnn";
// A framework's import writes some hundred kilobytes.
constexpr size_t kMostLines = 2000000, kMostFiles = 10000;

// The path behind these words of a line; empty: the line does not have them, or the file is another's.
std::string PathBehind(const std::string& line, const std::string& words) {
  const size_t at = line.find(words);
  if (at == std::string::npos) return "";
  const std::string path = line.substr(at + words.size());
  const size_t name = path.rfind('/') + 1;
  return path.compare(name, sizeof kStem - 1, kStem) == 0 ? path : "";
}

void Add(const std::string& path, std::set<std::string>* files) {
  if (!path.empty() && files->size() < kMostFiles) files->insert(path);
}

}  // namespace

LoaderLog ReadLoaderLogs(const std::string& folder, const std::string& prefix) {
  LoaderLog log;
  size_t lines = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().compare(0, prefix.size() + 1, prefix + ".") != 0) continue;
    std::ifstream file(it->path());
    for (std::string line; lines < kMostLines && std::getline(file, line); ++lines) {
      Add(PathBehind(line, "trying file="), &log.tried);
      Add(PathBehind(line, "calling init: "), &log.loaded);
    }
  }
  return log;
}

}  // namespace cudnn_ci
