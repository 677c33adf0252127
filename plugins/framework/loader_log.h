// What the loader of a process took, by its own log: ld.so(8) writes one where LD_DEBUG has "libs".
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_LOADER_LOG_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_LOADER_LOG_H_

#include <set>
#include <string>

namespace cudnn_ci {

// Files whose name begins with "libcudnn", by the paths under which the loader came upon them.
struct LoaderLog {
  std::set<std::string> tried;   // asked for by name and looked for there; taken where such a library stood
  std::set<std::string> loaded;  // in memory, with all that they need, by whatever name they were asked for
};

// Of all processes that wrote into files PREFIX.PID of a folder (LD_DEBUG_OUTPUT).
LoaderLog ReadLoaderLogs(const std::string& folder, const std::string& prefix);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_LOADER_LOG_H_
