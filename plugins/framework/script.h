// The script that an interpreter of the image runs: probe.py, made part of the plugin when it is built.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_SCRIPT_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_SCRIPT_H_

namespace cudnn_ci {

extern const char kScript[];

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_SCRIPT_H_
