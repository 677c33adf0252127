// Whether a command line is the launcher's: its first word is `run`, whatever follows. A pipeline that lost
// the image's name must not make it test the runner instead.
#ifndef CUDNN_CI_CLI_LAUNCHER_LINE_H_
#define CUDNN_CI_CLI_LAUNCHER_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/installation.h"
#include "launch/launch.h"

namespace cudnn_ci {

// `words`: the whole command line, the program's name first. None: the line is no launcher's.
std::optional<launch::LauncherLine> LauncherLineOf(const Installation& installation,
                                                   const std::vector<std::string>& words);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_LAUNCHER_LINE_H_
