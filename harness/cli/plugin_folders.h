// The folders that plugins are taken from, and who named each.
#ifndef CUDNN_CI_CLI_PLUGIN_FOLDERS_H_
#define CUDNN_CI_CLI_PLUGIN_FOLDERS_H_

#include <string>
#include <vector>

#include "cli/installation.h"
#include "cli/shared_options.h"

namespace cudnn_ci {

// Beside the executable, from CUDNN_CI_PLUGIN_PATH, from --plugin-dir; the installation's own is the first.
std::vector<std::string> AllPluginDirs(const Installation& installation, const DiscoveryOptions& options);

// Which of the three a plugin's file was found by: "" (beside the executable) or the name of the other.
std::string PluginOrigin(const Installation& installation, const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_PLUGIN_FOLDERS_H_
