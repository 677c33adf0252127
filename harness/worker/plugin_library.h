// A plugin file, loaded. The only code that includes Boost.DLL.
#ifndef CUDNN_CI_WORKER_PLUGIN_LIBRARY_H_
#define CUDNN_CI_WORKER_PLUGIN_LIBRARY_H_

#include <cudnn_ci/plugin.h>

#include <string>

#include "base/result.h"

namespace cudnn_ci::worker {

// A plugin's file, as the harness names it.
struct PluginToLoad {
  std::string path;
  int descriptor = -1;  // open on the file, where no folder has one of that path; -1: the path leads to it
};

// Loads the file (RTLD_NOW | RTLD_LOCAL), finds the entry point and checks the ABI and the name. The library
// is never unloaded; the descriptor is closed. Errors carry the loader's own words.
Result<const cci_plugin*> LoadPlugin(const PluginToLoad& file);

// "conv" of ".../conv.cci.so"; empty for another file name.
std::string PluginStem(const std::string& path);

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_PLUGIN_LIBRARY_H_
