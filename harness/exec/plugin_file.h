// Which file a plugin is: what was described is what runs.
#ifndef CUDNN_CI_EXEC_PLUGIN_FILE_H_
#define CUDNN_CI_EXEC_PLUGIN_FILE_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "model/check_info.h"

namespace cudnn_ci {

// A file called STEM.cci.so.
struct PluginFile {
  std::string path, stem;
  std::string refused;  // why it must not be loaded; empty: it may
  std::string warning;
  FileIdentity identity;
};

// The plugin files of these folders, not below them, by name in each; the same file by two ways is one. A
// folder that is not there is skipped. Each is hashed.
std::vector<PluginFile> FindPluginFiles(const std::vector<std::string>& folders);

// Why the file is not the one of that identity any more, in words; empty: by device, inode, size and change
// time it is. Costs one stat.
std::string ChangeOf(const FileIdentity& identity, const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_PLUGIN_FILE_H_
