// The commands beside `run`.
#ifndef CUDNN_CI_CLI_COMMANDS_H_
#define CUDNN_CI_CLI_COMMANDS_H_

#include "cli/options.h"

namespace cudnn_ci {

// Runs list, plugins, facts, explain, report or copy-to. Returns the exit code.
int RunCommand(const Options& options);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_COMMANDS_H_
