// A plugin file, loaded. The only code that includes Boost.DLL.
#ifndef CUDNN_CI_WORKER_PLUGIN_LIBRARY_H_
#define CUDNN_CI_WORKER_PLUGIN_LIBRARY_H_

#include <cudnn_ci/plugin.h>

#include <string>

#include "base/result.h"

namespace cudnn_ci::worker {

// Loads the file (RTLD_NOW | RTLD_LOCAL), finds the entry point and checks the ABI and the name. The library
// is never unloaded. Errors carry the loader's own words.
Result<const cci_plugin*> LoadPlugin(const std::string& path);

// "conv" of ".../conv.cci.so"; empty for another file name.
std::string PluginStem(const std::string& path);

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_PLUGIN_LIBRARY_H_
