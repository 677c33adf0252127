// Settings that change how NCCL works, and are easily left behind in an image.
#ifndef CUDNN_CI_PLUGINS_NCCL_VARIABLES_H_
#define CUDNN_CI_PLUGINS_NCCL_VARIABLES_H_

#include <functional>
#include <string>

namespace cudnn_ci {

// A setting's value; empty: it is not set.
using Setting = std::function<std::string(const std::string& name)>;

// "NCCL_P2P_DISABLE=1 (GPUs do not read each other's memory), ...": those that have an effect which a job
// that is run elsewhere would not want. Empty: there are none.
std::string SettingsThatRemain(const Setting& setting);

// The value of a name in the text of a file such as /etc/nccl.conf: lines of NAME=VALUE, of which those that
// begin with # say nothing. Empty: there is none.
std::string ValueIn(const std::string& text, const std::string& name);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_VARIABLES_H_
