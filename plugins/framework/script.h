// The script that an interpreter of the image runs: probe.py and its parts, made part of the plugin when it
// is built.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_SCRIPT_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_SCRIPT_H_

#include <vector>

#include "common/interpreter.h"

namespace cudnn_ci {

// What is run first, the others after it.
const std::vector<ScriptFile>& ScriptFiles();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_SCRIPT_H_
