// Which file a plugin is: what was described is what runs.
#ifndef CUDNN_CI_EXEC_SYSTEM_PLUGIN_FILE_H_
#define CUDNN_CI_EXEC_SYSTEM_PLUGIN_FILE_H_

#include <functional>
#include <string>
#include <vector>

#include "model/plan/check_info.h"

namespace cudnn_ci {

// A file called STEM.cci.so.
struct PluginFile {
  std::string path, stem;
  std::string refused;               // why it must not be loaded; empty: it may
  std::string slug = "plugin-load";  // of the finding a refusal stands for
  Notices warnings;
  FileIdentity identity;
};

// The plugin files of these folders, not below them, by name in each; the same file by two ways is one. A
// folder that is not there is skipped; one that cannot be read is refused like a file of its name. Each file
// is hashed: `stop` is asked every few milliseconds, and once it is true nothing more is looked at.
std::vector<PluginFile> FindPluginFiles(
    const std::vector<std::string>& folders, const std::function<bool()>& stop = [] { return false; });

// Why the file is not the one of that identity any more, in words; empty: by device, inode, size and change
// time it is, or, where the change time alone differs, by its hash. Costs one stat, then one reading.
std::string ChangeOf(const FileIdentity& identity, const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SYSTEM_PLUGIN_FILE_H_
