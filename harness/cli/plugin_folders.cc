#include "cli/plugin_folders.h"

#include <cstdlib>

#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr const char* kVariable = "CUDNN_CI_PLUGIN_PATH";

std::vector<std::string> FoldersOfEnvironment() {
  std::vector<std::string> folders;
  if (const char* path = getenv(kVariable))
    for (const std::string& folder : Split(path, ':'))
      if (!folder.empty()) folders.push_back(folder);
  return folders;
}

}  // namespace

std::vector<std::string> AllPluginDirs(const Installation& installation, const DiscoveryOptions& options) {
  std::vector<std::string> dirs = {installation.TreeRoot() + "/plugins"};
  for (const std::string& folder : FoldersOfEnvironment()) dirs.push_back(folder);
  dirs.insert(dirs.end(), options.plugin_dirs.begin(), options.plugin_dirs.end());
  return dirs;
}

std::string PluginOrigin(const Installation& installation, const std::string& path) {
  // Of a folder that several name the first counts, as in the search.
  const std::string folder = path.substr(0, path.rfind('/'));
  if (folder == installation.TreeRoot() + "/plugins") return {};
  for (const std::string& named : FoldersOfEnvironment())
    if (named == folder) return kVariable;
  return "--plugin-dir";
}

}  // namespace cudnn_ci
