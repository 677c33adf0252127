// Whether a command line is the launcher's: `cudnn-ci run` is given an image, or an option that only the
// launcher has.
#ifndef CUDNN_CI_CLI_LAUNCHER_LINE_H_
#define CUDNN_CI_CLI_LAUNCHER_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/installation.h"
#include "launch/launch.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cudnn_ci {

// `words`: the whole command line, the program's name first; `run`: the command of `app` with the gate's
// options, by which their values are told from an image. None: the line is no launcher's.
std::optional<launch::LauncherLine> LauncherLineOf(const CLI::App& app, const CLI::App& run,
                                                   const Installation& installation,
                                                   const std::vector<std::string>& words);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_LAUNCHER_LINE_H_
